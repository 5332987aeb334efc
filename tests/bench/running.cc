// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/bench/running.h"

#include <time.h>

#include <cstdlib>

namespace wardcase::bench {
namespace {

constexpr double kStreamMiB = 1024;
const Program kStream = {"stream", {"/usr/bin/head", "-c", "1G", "/dev/zero"}};
constexpr const char* kLastWord = "echo $EPOCHREALTIME";
constexpr const char* kLeaveOthers =
    "for ((i = 0; i < 64; ++i)); do setsid sleep 60 & done; sleep 0.5; ";

double now() {
  timespec time = {};
  (void)::clock_gettime(CLOCK_REALTIME, &time);  // cannot fail with a valid pointer
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

tl::unexpected<sys::Error> failed(const Launcher& launcher, const Program& program) {
  return tl::unexpected(sys::plain_error(launcher.name + ": '" + program.name + "' failed"));
}

// MiB a second.
sys::Result<double> time_stream(const Launcher& launcher) {
  std::size_t bytes = 0;
  const auto ended =
      run_read(launcher.command(kStream), [&](std::string_view piece) { bytes += piece.size(); });
  if (!ended) return tl::unexpected(ended.error());
  if (ended->status != 0 || bytes != static_cast<std::size_t>(kStreamMiB) << 20) {
    return failed(launcher, kStream);
  }
  return kStreamMiB / std::chrono::duration<double>(ended->wall).count();
}

sys::Result<double> time_end(const Launcher& launcher, const std::string& before) {
  const Program program = {"end", {"/bin/bash", "-c", before + kLastWord}};
  std::string said;
  const auto ended =
      run_read(launcher.command(program), [&](std::string_view piece) { said += piece; });
  const double at = now();
  if (!ended) return tl::unexpected(ended.error());
  const double last_word = std::strtod(said.c_str(), nullptr);
  if (ended->status != 0 || last_word == 0) return failed(launcher, program);
  return (at - last_word) * 1000;
}

}  // namespace

sys::Result<std::vector<Running>> measure_running(const std::vector<Launcher>& launchers,
                                                  int rounds) {
  std::vector<Running> results;
  for (const Launcher& launcher : launchers) results.push_back({launcher.name, {}, {}, {}, {}});
  for (int round = 0; round < rounds; ++round) {
    double bare = 0;
    for (std::size_t i = 0; i < launchers.size(); ++i) {
      const auto speed = time_stream(launchers[i]);
      if (!speed) return tl::unexpected(speed.error());
      if (launchers[i].prefix.empty()) bare = *speed;
      results[i].stream_mib_per_s.push_back(*speed);
      results[i].stream_ratios.push_back(*speed / bare);
      if (!launchers[i].is_wardcase) continue;
      const auto alone = time_end(launchers[i], "");
      const auto with_others = time_end(launchers[i], kLeaveOthers);
      if (!alone || !with_others) {
        return tl::unexpected(alone ? with_others.error() : alone.error());
      }
      results[i].end_alone_ms.push_back(*alone);
      results[i].end_with_others_ms.push_back(*with_others);
    }
  }
  return results;
}

}  // namespace wardcase::bench

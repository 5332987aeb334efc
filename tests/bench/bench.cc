// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// How long it takes to start a program bare, under bubblewrap and under wardcase.
//
// usage: bench --wardcase FILE [--json FILE] [--rounds N] [--user UID] [--only PROGRAM]
//
// In each round every launcher starts every program once, so that whatever else the
// machine does meets all alike; ratios are taken within a round. The first round only warms
// up and is not counted. Then a GiB is streamed, and programs that leave others running end;
// ten rounds of that at most. As root all is measured as an ordinary user, too.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/bench/launchers.h"
#include "tests/bench/report.h"
#include "tests/bench/spawn.h"

namespace {

using namespace wardcase::bench;
namespace sys = wardcase::sys;

constexpr int kFailed = 1;
constexpr int kMostLongRounds = 10;
constexpr uid_t kOrdinaryUser = 65534;  // nobody

struct Options {
  std::string wardcase;
  std::string json;
  std::string only;
  int rounds = 100;
  std::optional<uid_t> user;
};

template <typename Number>
sys::Result<Number> parse_number(const std::string& option, const std::string& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= Number{0}) {
    return tl::unexpected(sys::plain_error(option + " '" + text + "': not a number above 0"));
  }
  return number;
}

sys::Status take_option(const std::string& name, const std::string& value, Options& options) {
  if (name == "--rounds") {
    const auto rounds = parse_number<int>(name, value);
    if (!rounds) return tl::unexpected(rounds.error());
    options.rounds = *rounds;
  } else if (name == "--user") {
    const auto user = parse_number<uid_t>(name, value);
    if (!user) return tl::unexpected(user.error());
    options.user = *user;
  } else if (name == "--wardcase") {
    options.wardcase = value;
  } else if (name == "--json") {
    options.json = value;
  } else if (name == "--only") {
    options.only = value;
  } else {
    return tl::unexpected(sys::plain_error("'" + name + "': no such option"));
  }
  return {};
}

sys::Result<Options> parse_options(std::span<char*> words) {
  Options options;
  if (::geteuid() == 0) options.user = kOrdinaryUser;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) {
      return tl::unexpected(sys::plain_error("'" + std::string(words[i]) + "' needs a value"));
    }
    if (auto taken = take_option(words[i], words[i + 1], options); !taken) {
      return tl::unexpected(taken.error());
    }
  }
  if (options.wardcase.empty()) return tl::unexpected(sys::plain_error("--wardcase is missing"));
  if (options.user && ::geteuid() != 0) {
    return tl::unexpected(sys::plain_error("--user needs root"));
  }
  return options;
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options), launchers_(launchers(options.wardcase, options.user)) {
    for (Program& program : installed_programs()) {
      if (options.only.empty() || options.only == program.name) programs_.push_back(program);
    }
    for (const Program& program : programs_) {
      for (const Launcher& launcher : launchers_) {
        results_.cases.push_back({program.name, launcher.name, {}, {}, 0});
      }
    }
    timings_.resize(launchers_.size());
  }

  [[nodiscard]] sys::Status run() {
    for (int round = 0; round <= options_.rounds; ++round) {
      const bool counts = round > 0;
      if (auto done = start_each_program(counts); !done) return done;
      if (auto done = take_timings(counts); !done) return done;
    }
    auto running = measure_running(launchers_, std::min(options_.rounds, kMostLongRounds));
    if (!running) return tl::unexpected(running.error());
    results_.running = *std::move(running);
    return {};
  }

  [[nodiscard]] Results results() {
    results_.rounds = options_.rounds;
    for (std::size_t i = 0; i < launchers_.size(); ++i) {
      if (!timings_[i].empty()) {
        results_.breakdowns.push_back({launchers_[i].name, median_steps(timings_[i])});
      }
    }
    return results_;
  }

 private:
  sys::Status start_each_program(bool counts) {
    auto entry = results_.cases.begin();
    for (const Program& program : programs_) {
      double bare_ms = 0;
      for (const Launcher& launcher : launchers_) {
        const auto ended = run_timed(launcher.command(program));
        if (!ended) return tl::unexpected(ended.error());
        const double ms = std::chrono::duration<double, std::milli>(ended->wall).count();
        if (launcher.prefix.empty()) bare_ms = ms;
        Case& one = *entry++;
        if (!counts) continue;
        if (ended->status != 0) {
          ++one.failures;
          continue;
        }
        one.wall_ms.push_back(ms);
        one.ratios.push_back(ms / bare_ms);
      }
    }
    return {};
  }

  // Runs of their own: telling what took how long takes time, too.
  sys::Status take_timings(bool counts) {
    for (std::size_t i = 0; i < launchers_.size(); ++i) {
      const Launcher& launcher = launchers_[i];
      if (!launcher.is_wardcase) continue;
      Command command;
      command.argv = {options_.wardcase, "run", "--timing", "--", "/bin/true"};
      command.user = launcher.user;
      command.wants_stderr = true;
      const auto ended = run_timed(command);
      if (!ended) return tl::unexpected(ended.error());
      if (counts && ended->status == 0) {
        timings_[i].push_back(parse_timing(ended->standard_error));
      }
    }
    return {};
  }

  const Options& options_;
  std::vector<Launcher> launchers_;
  std::vector<Program> programs_;
  std::vector<std::vector<std::vector<Step>>> timings_;  // by launcher, by round
  Results results_;
};

int fail(const sys::Error& error) {
  std::cerr << "bench: " << error.message() << '\n';
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse_options(std::span(argv + 1, argv + argc));
  if (!options) return fail(options.error());
  Bench bench(*options);
  if (auto done = bench.run(); !done) return fail(done.error());
  const Results results = bench.results();
  print_table(std::cout, results);
  if (!options->json.empty()) {
    if (auto written = write_json(options->json, results); !written) return fail(written.error());
  }
  for (const Case& one : results.cases) {
    if (one.failures > 0) return kFailed;
  }
  return 0;
}

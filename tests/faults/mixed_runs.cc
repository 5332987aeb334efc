// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/faults/mixed_runs.h"

#include <algorithm>
#include <csignal>
#include <cstdint>

namespace wardcase::test {
namespace {

using policies::LimitId;
using supervisor::RunStatus;

constexpr std::size_t kWays = 10;
constexpr std::uint64_t kMemory = 24ULL << 20;

// All but those that do nothing, stop, or are told as a limit's (SIGXFSZ).
std::vector<int> ending_signals() {
  constexpr std::array kOthers = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH, SIGSTOP,
                                  SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ};
  std::vector<int> signals;
  for (int signal = 1; signal <= 64; ++signal) {
    if (std::find(kOthers.begin(), kOthers.end(), signal) == kOthers.end())
      signals.push_back(signal);
  }
  return signals;
}

std::string bytes_of(std::uint32_t state, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    bytes += static_cast<char>(state >> 24U);
  }
  return bytes;
}

MixedRun out_of_memory() {
  MixedRun run;
  run.arguments = {"fill", "64"};
  run.limits = {{LimitId::memory, kMemory}};
  run.flag = "--memory=24m";
  run.status = RunStatus::oom;
  return run;
}

MixedRun out_of_time() {
  MixedRun run;
  run.arguments = {"sleep", "60000"};
  run.limits = {{LimitId::timeout, 40}};
  run.flag = "--timeout=40ms";
  run.status = RunStatus::timeout;
  return run;
}

MixedRun exiting(std::size_t number) {
  MixedRun run;
  run.exit_code = static_cast<int>(number % 256);
  run.arguments = {"exit", std::to_string(*run.exit_code)};
  return run;
}

MixedRun signaled(std::size_t number) {
  static const std::vector<int> signals = ending_signals();
  MixedRun run;
  run.signal = signals[number % signals.size()];
  run.arguments = {"signal", std::to_string(*run.signal)};
  run.status = RunStatus::signaled;
  return run;
}

MixedRun writing(std::size_t number) {
  const std::size_t size = number * 7919 % 150'000;
  MixedRun run;
  run.arguments = {"write", std::to_string(number), std::to_string(size)};
  run.exit_code = 0;
  run.output = bytes_of(static_cast<std::uint32_t>(number), size);
  return run;
}

MixedRun refused() {
  MixedRun run;
  run.arguments = {"trace"};
  run.exit_code = 0;
  run.is_refused = true;
  return run;
}

MixedRun leaving_children() {
  MixedRun run;
  run.arguments = {"family", "5", "1"};
  run.exit_code = 3;
  run.leftover = 5;
  return run;
}

}  // namespace

MixedRun mixed_run(std::size_t number) {
  const std::size_t round = number / kWays;
  switch (number % kWays) {
    case 0:
      return out_of_memory();
    case 1:
      return out_of_time();
    case 2:
    case 3:
    case 4:
      return exiting(round * 3 + number % kWays - 2);
    case 5:
    case 6:
      return signaled(round * 2 + number % kWays - 5);
    case 7:
    case 8:
      return writing(number);
    default:
      return round % 2 == 0 ? refused() : leaving_children();
  }
}

std::string compare(const MixedRun& expected, const supervisor::RunRecord& record,
                    const std::string& output) {
  std::string wrong;
  if (record.status != expected.status) {
    wrong += "status " + std::string(supervisor::status_name(record.status)) + "; ";
  }
  if (expected.exit_code && record.exit_code != expected.exit_code) wrong += "exit code; ";
  if (expected.signal && record.signal != expected.signal) wrong += "signal; ";
  if (output != expected.output) wrong += "output of " + std::to_string(output.size()) + " bytes; ";
  if (record.out.bytes != expected.output.size()) wrong += "stdout_bytes; ";
  if (record.leftover_processes != expected.leftover) wrong += "leftover processes; ";
  const bool is_told = record.denied_syscalls && !record.denied_syscalls->empty();
  if (is_told != expected.is_refused) wrong += "denied system calls; ";
  const bool has_hit = !record.limits_hit.empty();
  if (has_hit != !expected.limits.empty()) wrong += "limits_hit; ";
  if (!wrong.empty()) wrong += "[" + record.error + "]";
  return wrong;
}

int exit_code_of(const MixedRun& run) {
  switch (run.status) {
    case RunStatus::timeout:
      return 124;
    case RunStatus::oom:
      return 137;
    case RunStatus::signaled:
      return 128 + run.signal.value_or(0);
    default:
      return run.exit_code.value_or(0);
  }
}

}  // namespace wardcase::test

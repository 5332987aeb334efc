// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_report.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "policies/limits.h"
#include "policies/units.h"
#include "supervisor/run/refused_calls.h"

namespace wardcase::supervisor {

namespace {

using policies::LimitId;

std::string seconds(std::chrono::microseconds time) {
  std::array<char, 32> text;
  (void)std::snprintf(text.data(), text.size(), "%.2f s",
                      std::chrono::duration<double>(time).count());  // fits: 64 bits of it do
  return text.data();
}

std::string limit_text(const RunRecord& record, LimitId id) {
  return policies::format_limit(policies::limit_row(id), record.limits.get(id));
}

// "(2.00 s wall, 1.99 s cpu)"
std::string times(const RunRecord& record) {
  std::string text = "(" + seconds(record.duration) + " wall";
  if (record.cpu) text += ", " + seconds(*record.cpu) + " cpu";
  return text + ")";
}

std::string explain_memory(const RunRecord& record) {
  std::string text = "out of memory: limit " + limit_text(record, LimitId::memory);
  if (record.memory_peak_bytes) {
    text += ", peak " + policies::format_size(*record.memory_peak_bytes);
  }
  return text;
}

std::string explain_output(const RunRecord& record) {
  return "output limit reached: " + limit_text(record, LimitId::output) + " a stream, " +
         policies::format_size(std::max(record.out.bytes, record.err.bytes)) + " written";
}

std::string explain_signal(const RunRecord& record) {
  return record.signal ? "ended by signal " + signal_name(*record.signal) : "ended by a signal";
}

}  // namespace

std::string explain_end(const RunRecord& record) {
  switch (record.status) {
    case RunStatus::exited:
    case RunStatus::running:
      return record.error;  // of a prelude, or none
    case RunStatus::timeout:
      return "time limit reached " + times(record);
    case RunStatus::cpu_time:
      return "cpu time limit reached " + times(record);
    case RunStatus::idle:
      return "nothing was written for " + limit_text(record, LimitId::idle_timeout);
    case RunStatus::oom:
      return explain_memory(record);
    case RunStatus::output_limit:
      return explain_output(record);
    case RunStatus::disk_limit:
      if (record.signal != SIGXFSZ) return record.error;
      return "file size limit reached (" + limit_text(record, LimitId::file_size) + ")";
    case RunStatus::signaled:
      return record.error.empty() ? explain_signal(record) : record.error;
    case RunStatus::stopped:
      if (record.stop_signal == SIGPIPE) return "";  // who read us has gone: nobody to tell
      return "stopped by " + signal_name(record.stop_signal) + " after " + seconds(record.duration);
    default:
      return record.error.empty() ? std::string(status_name(record.status)) : record.error;
  }
}

std::vector<std::string> describe_refusals(const RunRecord& record) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> lines;
  if (!record.denied_syscalls) return lines;
  for (const DeniedCall& call : *record.denied_syscalls) {
    if (lines.size() == kMost) {
      lines.push_back("refused: " + std::to_string(record.denied_syscalls->size() - kMost) +
                      " more system calls; wardcase explain --json names them");
      break;
    }
    std::string line = "refused: " + name_with_detail(call);
    if (call.count > 1) line += ", " + std::to_string(call.count) + " times";
    lines.push_back(line + ": " + call.why + "; " + call.remedy);
  }
  return lines;
}

std::vector<std::string> describe_isolation(const RunRecord& record) {
  std::string effective = "isolation:";
  for (const std::string& layer : record.isolation.effective) effective += " " + layer;
  std::vector<std::string> lines = {effective};
  std::string limits = "limits:";
  for (const policies::LimitRow& row : policies::limit_table()) {
    const auto value = record.limits.get(row.id);
    if (!value) continue;
    const auto enforcement = record.enforced_by[static_cast<std::size_t>(row.id)];
    limits += lines.size() == 1 && limits.back() == ':' ? " " : ", ";
    limits += std::string(row.key) + " " + policies::format_limit(row, value) + " (" +
              std::string(enforcement_name(enforcement)) + ")";
  }
  lines.push_back(limits);
  for (const Degraded& weaker : record.isolation.degraded) {
    lines.push_back("degraded: " + describe_degraded(weaker));
  }
  return lines;
}

std::string describe_degraded(const Degraded& weaker) {
  const std::string text =
      weaker.feature + ": " + weaker.because + "; in its place: " + weaker.instead;
  return weaker.fix.empty() ? text : text + "; fix: " + weaker.fix;
}

std::vector<std::string> describe_timing(std::span<const TimedStep> steps) {
  std::vector<TimedStep> ordered(steps.begin(), steps.end());
  std::ranges::stable_sort(ordered, {}, &TimedStep::at);
  std::vector<std::string> lines = {"      at us    took us  who         step"};
  std::chrono::nanoseconds before{0};
  for (const TimedStep& step : ordered) {
    const auto in_us = [](std::chrono::nanoseconds time) {
      return static_cast<long long>(time.count() / 1000);
    };
    std::array<char, 160> line;
    (void)std::snprintf(line.data(), line.size(), "%11lld%11lld  %-12.*s%.*s", in_us(step.at),
                        in_us(step.at - before), static_cast<int>(step.who.size()), step.who.data(),
                        static_cast<int>(step.name.size()),
                        step.name.data());  // a name that is too long may be cut
    lines.emplace_back(line.data());
    before = step.at;
  }
  return lines;
}

}  // namespace wardcase::supervisor

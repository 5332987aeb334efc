// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/cgroup_files.h"

#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <charconv>

#include "sandbox/sys/files.h"

namespace wardcase::sandbox {
namespace {

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_keyed(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) {
      return parse_number(line.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> read_number(int directory, const char* file) {
  const auto text = sys::read_file(directory, file);
  if (!text) return std::nullopt;
  return parse_number(*text);
}

std::optional<std::uint64_t> read_keyed(int directory, const char* file, std::string_view key) {
  const auto text = sys::read_file(directory, file);
  if (!text) return std::nullopt;
  return parse_keyed(*text, key);
}

sys::Status write_number(int directory, const char* file, std::uint64_t number) {
  return sys::write_file(directory, file, std::to_string(number));
}

void read_pids_usage(int directory, CgroupUsage& usage) {
  const auto peak = read_number(directory, "pids.peak");
  if (peak) usage.processes_peak = *peak - std::min<std::uint64_t>(*peak, 1);
  usage.pids_limit_hit = read_keyed(directory, "pids.events", "max").value_or(0) > 0;
}

std::optional<std::chrono::microseconds> read_cpu_time(int directory) {
  const auto spent = read_keyed(directory, "cpu.stat", "usage_usec");
  if (!spent) return std::nullopt;
  return std::chrono::microseconds(*spent);
}

int kill_inside(int directory) {
  if (sys::write_file(directory, "cgroup.kill", "1")) return 0;
  const auto procs = sys::read_file(directory, "cgroup.procs");
  int found = 0;
  for (std::string_view rest = procs ? std::string_view(*procs) : ""; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const auto pid = parse_number(line).value_or(0);
    if (pid == 0) continue;  // a process outside of our pid namespace
    ++found;
    (void)::kill(static_cast<pid_t>(pid), SIGKILL);  // it may have ended meanwhile
  }
  // A frozen process dies when it thaws; other hierarchies have no such file.
  (void)sys::write_file(directory, "freezer.state", "THAWED");
  return found;
}

}  // namespace wardcase::sandbox

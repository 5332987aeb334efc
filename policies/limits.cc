// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/limits.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "policies/units.h"

namespace wardcase::policies {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;
constexpr std::uint64_t kMillicpus = 1000;  // of one processor

constexpr std::uint64_t kCapturedOutput = 256 * kMiB;
constexpr std::uint64_t kStandardCpus = 4;

// Rows stand in the order of LimitId, which limit_row() counts on.
constexpr LimitRow kTable[kLimitCount] = {
    {.id = LimitId::timeout,
     .key = "timeout",
     .flag = "timeout",
     .short_flag = "",
     .json_key = "timeout_ms",
     .environment = "WARDCASE_TIMEOUT",
     .unit = Unit::milliseconds,
     .standard = 60'000,
     .maximum = 600'000,
     .minimum = 1,
     .none_allowed = false,
     .argument = "TIME",
     .help = "wall time of the program"},
    {.id = LimitId::cpu_time,
     .key = "cpu_time",
     .flag = "cpu-time",
     .short_flag = "",
     .json_key = "cpu_time_ms",
     .environment = "WARDCASE_CPU_TIME",
     .unit = Unit::milliseconds,
     .standard = std::nullopt,
     .maximum = std::nullopt,
     .minimum = 1,
     .none_allowed = true,
     .argument = "TIME",
     .help = "processor time of all processes together (default: timeout x cpus)"},
    {.id = LimitId::idle_timeout,
     .key = "idle_timeout",
     .flag = "idle-timeout",
     .short_flag = "",
     .json_key = "idle_timeout_ms",
     .environment = "WARDCASE_IDLE_TIMEOUT",
     .unit = Unit::milliseconds,
     .standard = std::nullopt,
     .maximum = 600'000,
     .minimum = 1,
     .none_allowed = true,
     .argument = "TIME",
     .help = "end a program that writes nothing for so long"},
    {.id = LimitId::grace,
     .key = "grace",
     .flag = "grace",
     .short_flag = "",
     .json_key = "grace_ms",
     .environment = "WARDCASE_GRACE",
     .unit = Unit::milliseconds,
     .standard = 2'000,
     .maximum = 30'000,
     .minimum = 1,
     .none_allowed = false,
     .argument = "TIME",
     .help = "time between SIGTERM and SIGKILL"},
    {.id = LimitId::memory,
     .key = "memory",
     .flag = "memory",
     .short_flag = "m",
     .json_key = "memory_bytes",
     .environment = "WARDCASE_MEMORY",
     .unit = Unit::bytes,
     .standard = kGiB,
     .maximum = std::nullopt,
     .minimum = kMiB,
     .none_allowed = false,
     .argument = "SIZE",
     .help = "memory of all processes together"},
    {.id = LimitId::pids,
     .key = "pids",
     .flag = "pids",
     .short_flag = "",
     .json_key = "pids",
     .environment = "WARDCASE_PIDS",
     .unit = Unit::count,
     .standard = 256,
     .maximum = 4'096,
     .minimum = 1,
     .none_allowed = false,
     .argument = "N",
     .help = "processes and threads at the same time"},
    {.id = LimitId::cpus,
     .key = "cpus",
     .flag = "cpus",
     .short_flag = "",
     .json_key = "cpus",
     .environment = "WARDCASE_CPUS",
     .unit = Unit::millicpus,
     .standard = std::nullopt,
     .maximum = std::nullopt,
     .minimum = 10,
     .none_allowed = false,
     .argument = "N",
     .help = "processors, fractions as in 0.5 (default: 4, or all where there are fewer)"},
    {.id = LimitId::disk,
     .key = "disk",
     .flag = "disk",
     .short_flag = "",
     .json_key = "disk_bytes",
     .environment = "WARDCASE_DISK",
     .unit = Unit::bytes,
     .standard = 256 * kMiB,
     .maximum = std::nullopt,
     .minimum = 64 * kKiB,
     .none_allowed = false,
     .argument = "SIZE",
     .help = "files in /box, /tmp, the home directory and /dev/shm together"},
    {.id = LimitId::disk_inodes,
     .key = "disk_inodes",
     .flag = "",
     .short_flag = "",
     .json_key = "disk_inodes",
     .environment = "WARDCASE_DISK_INODES",
     .unit = Unit::count,
     .standard = 65'536,
     .maximum = std::nullopt,
     .minimum = 16,
     .none_allowed = false,
     .argument = "N",
     .help = "number of those files and directories"},
    {.id = LimitId::file_size,
     .key = "file_size",
     .flag = "file-size",
     .short_flag = "",
     .json_key = "file_size_bytes",
     .environment = "WARDCASE_FILE_SIZE",
     .unit = Unit::bytes,
     .standard = std::nullopt,
     .maximum = std::nullopt,
     .minimum = 1,
     .none_allowed = false,
     .argument = "SIZE",
     .help = "size of one file (default: that of the disk)"},
    {.id = LimitId::open_files,
     .key = "open_files",
     .flag = "open-files",
     .short_flag = "",
     .json_key = "open_files",
     .environment = "WARDCASE_OPEN_FILES",
     .unit = Unit::count,
     .standard = 4'096,
     .maximum = std::nullopt,
     .minimum = 8,
     .none_allowed = false,
     .argument = "N",
     .help = "open file descriptors of one process"},
    {.id = LimitId::capture,
     .key = "capture",
     .flag = "capture-limit",
     .short_flag = "",
     .json_key = "capture_bytes",
     .environment = "WARDCASE_CAPTURE",
     .unit = Unit::bytes,
     .standard = kMiB,
     .maximum = 64 * kMiB,
     .minimum = 1,
     .none_allowed = false,
     .argument = "SIZE",
     .help = "output kept of each stream, half of it the beginning, half the end"},
    {.id = LimitId::output,
     .key = "output",
     .flag = "output-limit",
     .short_flag = "",
     .json_key = "output_bytes",
     .environment = "WARDCASE_OUTPUT",
     .unit = Unit::bytes,
     .standard = std::nullopt,
     .maximum = std::nullopt,
     .minimum = 1,
     .none_allowed = true,
     .argument = "SIZE",
     .help =
         "end a program that writes more to one stream (default: 256 MiB where output is kept)"},
};

constexpr bool rows_stand_in_order() {
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    if (static_cast<std::size_t>(kTable[i].id) != i) return false;
  }
  return true;
}
static_assert(rows_stand_in_order());

constexpr std::size_t index_of(LimitId id) { return static_cast<std::size_t>(id); }

// What to call a limit in a message: the flag, or the key where no flag sets it.
std::string name_of(const LimitRow& row) {
  return row.flag.empty() ? "limits." + std::string(row.key) : "--" + std::string(row.flag);
}

tl::unexpected<sys::Error> refused(std::string_view name, std::string_view written,
                                   const std::string& because) {
  return tl::unexpected(
      sys::plain_error(std::string(name) + " " + std::string(written) + ": " + because));
}

sys::Status check_minimum(const LimitRow& row, std::string_view name, std::uint64_t value,
                          std::string_view written) {
  if (value >= row.minimum) return {};
  return refused(name, written, "minimum is " + format_limit(row, row.minimum));
}

sys::Status check_maximum(const LimitRow& row, std::string_view name, std::uint64_t value,
                          std::string_view written, const Maximum& maximum) {
  if (!maximum.value || value <= *maximum.value) return {};
  const bool is_built_in = maximum.origin == kBuiltIn;
  return refused(name, written,
                 "maximum is " + format_limit(row, maximum.value) + " (limits.max." +
                     std::string(row.key) + ", " + maximum.origin + "); raise it " +
                     (is_built_in ? "in ~/.config/wardcase/wardcase.toml" : "there"));
}

// `none` is above any maximum that a file gave; the built-in one lets it pass.
sys::Status check_asked(const LimitRow& row, std::string_view name,
                        std::optional<std::uint64_t> value, std::string_view written,
                        const Maximum& maximum) {
  constexpr std::uint64_t kNone = ~0ULL;
  if (!value && maximum.origin == kBuiltIn) return {};
  return check_maximum(row, name, value.value_or(kNone), written, maximum);
}

sys::Result<std::uint64_t> parse_value(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::milliseconds:
      return parse_duration(text).map([](std::chrono::milliseconds duration) {
        return static_cast<std::uint64_t>(duration.count());
      });
    case Unit::bytes:
      return parse_size(text);
    case Unit::millicpus:
      return parse_millicpus(text);
    case Unit::count:
      break;
  }
  return parse_count(text);
}

}  // namespace

std::span<const LimitRow> limit_table() { return kTable; }

const LimitRow& limit_row(LimitId id) { return kTable[index_of(id)]; }

Limits::Limits() {
  for (const LimitRow& row : kTable) {
    values_[index_of(row.id)] = row.standard;
    maxima_[index_of(row.id)].value = row.maximum;
  }
}

void Limits::set_maximum(LimitId id, Maximum maximum) {
  maxima_[index_of(id)] = std::move(maximum);
}

void Limits::require(LimitId id, std::optional<std::uint64_t> value) {
  set_default(id, value);
  required_[index_of(id)] = true;
}

void Limits::set_default(LimitId id, std::optional<std::uint64_t> value) {
  WARDCASE_CHECK(value || limit_row(id).none_allowed);
  values_[index_of(id)] = value;
  required_[index_of(id)] = false;
  touched_[index_of(id)] = true;
}

sys::Status Limits::check_bounds() {
  for (const LimitRow& row : kTable) {
    std::optional<std::uint64_t>& value = values_[index_of(row.id)];
    if (!value) continue;
    const Maximum& most = maximum(row.id);
    if (!is_required(row.id) && most.value) value = std::min(*value, *most.value);
    const std::string written = format_limit(row, value);
    auto status = check_minimum(row, name_of(row), *value, written);
    if (status) status = check_maximum(row, name_of(row), *value, written, most);
    if (!status) return status;
  }
  return {};
}

sys::Status Limits::resolve(unsigned host_cpus, bool captured) {
  if (sys::Status status = check_bounds(); !status) return status;

  const auto value = [this](LimitId id) -> std::optional<std::uint64_t>& {
    return values_[index_of(id)];
  };
  const auto is_touched = [this](LimitId id) { return touched_[index_of(id)]; };

  const std::uint64_t host = std::max(1U, host_cpus) * kMillicpus;
  const std::uint64_t cpus = value(LimitId::cpus).value_or(kStandardCpus * kMillicpus);
  if (cpus > host && is_required(LimitId::cpus)) {
    return tl::unexpected(sys::plain_error("--cpus " + format_millicpus(cpus) + ": maximum is " +
                                           format_millicpus(host) +
                                           " (the processors of this host)"));
  }
  value(LimitId::cpus) = std::min({cpus, host, maximum(LimitId::cpus).value.value_or(host)});

  if (!is_touched(LimitId::cpu_time)) {
    const std::uint64_t product = *value(LimitId::timeout) * *value(LimitId::cpus);
    value(LimitId::cpu_time) = std::max<std::uint64_t>(1, product / kMillicpus);
  }
  if (!is_touched(LimitId::file_size)) value(LimitId::file_size) = value(LimitId::disk);
  if (!is_touched(LimitId::output) && captured) value(LimitId::output) = kCapturedOutput;
  lower_the_rest();
  return {};
}

// What was worked out, and `none`, where a file gave a maximum. The built-in one of
// idle_timeout leaves `none` alone.
void Limits::lower_the_rest() {
  for (const LimitRow& row : kTable) {
    const Maximum& most = maximum(row.id);
    if (!most.value || most.origin == kBuiltIn) continue;
    std::optional<std::uint64_t>& value = values_[index_of(row.id)];
    value = std::min(value.value_or(*most.value), *most.value);
  }
}

std::chrono::milliseconds Limits::timeout() const {
  return std::chrono::milliseconds(*get(LimitId::timeout));
}

std::chrono::milliseconds Limits::grace() const {
  return std::chrono::milliseconds(*get(LimitId::grace));
}

sys::Result<std::optional<std::uint64_t>> parse_default(const LimitRow& row, std::string_view name,
                                                        std::string_view text) {
  if (text == "none") {
    if (row.none_allowed) return std::nullopt;
    return refused(name, text, "this limit can't be left out");
  }
  const sys::Result<std::uint64_t> value = parse_value(row.unit, text);
  if (!value) return tl::unexpected(sys::Error(value.error()).while_doing(name));
  if (sys::Status status = check_minimum(row, name, *value, text); !status) {
    return tl::unexpected(std::move(status).error());
  }
  return *value;
}

sys::Result<std::optional<std::uint64_t>> parse_limit(const LimitRow& row, std::string_view text,
                                                      const Maximum& maximum) {
  auto value = parse_default(row, name_of(row), text);
  if (!value) return value;
  if (auto status = check_asked(row, name_of(row), *value, text, maximum); !status) {
    return tl::unexpected(std::move(status).error());
  }
  return value;
}

sys::Status check_limit(const LimitRow& row, std::string_view name,
                        std::optional<std::uint64_t> value, const Maximum& maximum) {
  const std::string written = value ? std::to_string(*value) : "null";
  if (!value && !row.none_allowed) return refused(name, written, "this limit can't be left out");
  const auto status = value ? check_minimum(row, name, *value, written) : sys::Status();
  return status ? check_asked(row, name, value, written, maximum) : status;
}

std::string format_limit(const LimitRow& row, std::optional<std::uint64_t> value) {
  if (!value) return "none";
  switch (row.unit) {
    case Unit::milliseconds:
      return format_duration(std::chrono::milliseconds(*value));
    case Unit::bytes:
      return format_size(*value);
    case Unit::millicpus:
      return format_millicpus(*value);
    case Unit::count:
      break;
  }
  return std::to_string(*value);
}

}  // namespace wardcase::policies

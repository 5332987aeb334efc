// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"

namespace wardcase::policies {

// The limits of a run. The order is that of the record and of --help.
enum class LimitId : std::uint8_t {
  timeout,
  cpu_time,
  idle_timeout,
  grace,
  memory,
  pids,
  cpus,
  disk,
  disk_inodes,
  file_size,
  open_files,
  capture,
  output,
};
inline constexpr std::size_t kLimitCount = 13;

enum class Unit : std::uint8_t { milliseconds, bytes, count, millicpus };

// One row a limit: flag, policy key, environment variable, JSON key, unit,
// default and maximum. Parsing, --help, the man page and the record's schema
// come from this table and nowhere else.
struct LimitRow {
  LimitId id;
  std::string_view key;          // policy key under limits., e.g. "idle_timeout"
  std::string_view flag;         // "idle-timeout"; "" where no flag sets it (disk_inodes)
  std::string_view short_flag;   // "m" or ""
  std::string_view json_key;     // "idle_timeout_ms"
  std::string_view environment;  // "WARDCASE_IDLE_TIMEOUT"
  Unit unit;
  std::optional<std::uint64_t>
      standard;  // the default; nullopt: none, or worked out (cpu_time, cpus, file_size, output)
  std::optional<std::uint64_t> maximum;  // shipped maximum; nullopt: none
  std::uint64_t minimum;                 // the smallest that can work
  // The word `none` is accepted. Only where a limit guards nothing but the
  // caller's patience or is backed by another one: idle_timeout, output (the
  // kept output is bounded by capture) and cpu_time (bounded by timeout x cpus).
  bool none_allowed;
  std::string_view argument;  // for --help: "TIME", "SIZE", "N"
  std::string_view help;
};
[[nodiscard]] std::span<const LimitRow> limit_table();
[[nodiscard]] const LimitRow& limit_row(LimitId id);

// What stands for the origin of a value that no file and no caller set.
inline constexpr std::string_view kBuiltIn = "built in";

// The most that a limit may be set to, and where that was said ("FILE:LINE").
struct Maximum {
  std::optional<std::uint64_t> value;  // nullopt: no bound
  std::string origin = std::string(kBuiltIn);
};

// Values by limit; nullopt is "no limit". Sizes in bytes, times in
// milliseconds, cpus in thousandths.
class Limits {
 public:
  // The defaults and maxima of the table, with what is worked out filled in by resolve().
  Limits();

  [[nodiscard]] std::optional<std::uint64_t> get(LimitId id) const {
    return values_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] bool is_required(LimitId id) const {
    return required_[static_cast<std::size_t>(id)];
  }

  // Sets a value that the caller asked for by flag or request: it becomes
  // *required* (nothing enforces it: the run is refused). Of several calls for
  // one limit the last counts. nullopt only where the table allows `none`.
  void require(LimitId id, std::optional<std::uint64_t> value);
  // Sets a default, which may be left unenforced and then is reported.
  void set_default(LimitId id, std::optional<std::uint64_t> value);

  [[nodiscard]] const Maximum& maximum(LimitId id) const {
    return maxima_[static_cast<std::size_t>(id)];
  }
  void set_maximum(LimitId id, Maximum maximum);

  // Fills in what depends on the host and on other limits: cpus =
  // min(4, host_cpus) and never above the host, cpu_time = timeout x cpus,
  // file_size = disk. Call once, after all was set. `captured`: output kept in
  // memory has a hard output limit of 256 MiB; pass-through has none.
  // A default above its maximum is lowered to it. Fails on a required value
  // outside its bounds, and when cpus was required above the host's.
  [[nodiscard]] sys::Status resolve(unsigned host_cpus, bool captured);

  [[nodiscard]] std::chrono::milliseconds timeout() const;
  [[nodiscard]] std::chrono::milliseconds grace() const;

 private:
  // Lowers defaults to their maxima; refuses what else is out of bounds.
  [[nodiscard]] sys::Status check_bounds();
  void lower_the_rest();

  std::array<std::optional<std::uint64_t>, kLimitCount> values_;
  std::array<bool, kLimitCount> required_{};
  std::array<bool, kLimitCount> touched_{};
  std::array<Maximum, kLimitCount> maxima_;
};

// Parses `text` for the limit, checks it against minimum and maximum. The error names
// the flag, the maximum, where that was set and how to raise it:
// `--timeout 601s: maximum is 600s (limits.max.timeout, built in); raise it in
// ~/.config/wardcase/wardcase.toml`. nullopt: the word none.
[[nodiscard]] sys::Result<std::optional<std::uint64_t>> parse_limit(const LimitRow& row,
                                                                    std::string_view text,
                                                                    const Maximum& maximum);

// The same for a value that came as a number, named `name` in the error; nullopt: none.
[[nodiscard]] sys::Status check_limit(const LimitRow& row, std::string_view name,
                                      std::optional<std::uint64_t> value, const Maximum& maximum);

// As parse_limit() for a value of a file, named `name` in the error: no maximum is looked
// at, since another file may raise it. nullopt: the word none, accepted where the
// table allows it.
[[nodiscard]] sys::Result<std::optional<std::uint64_t>> parse_default(const LimitRow& row,
                                                                      std::string_view name,
                                                                      std::string_view text);

// A value as people write it: "60s", "1 GiB", "1.5", "none".
[[nodiscard]] std::string format_limit(const LimitRow& row, std::optional<std::uint64_t> value);

}  // namespace wardcase::policies

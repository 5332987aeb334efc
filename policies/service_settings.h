// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/limits.h"
#include "policies/setting.h"

namespace wardcase::policies {

// What a configuration says of the service: how much it takes on, who may ask, and how much of it
// one caller gets.

// Numbers of [server], each of which an option of `wardcase serve` sets as well.
enum class ServerOption : std::uint8_t {
  max_running,
  queue_max,
  memory_total,
  max_sessions,
  keep_runs,
  keep_time,
  max_connections,
  max_body,
  max_held,
  header_timeout,
  body_timeout,
  idle_timeout,
  send_timeout,
  drain_timeout,
};
inline constexpr std::size_t kServerOptionCount = 14;

struct ServerRow {
  ServerOption id;
  std::string_view key;   // "queue_max"
  std::string_view flag;  // "max-queue"
  Unit unit;
  std::optional<std::uint64_t> standard;  // nullopt: what `help` says of it
  std::string_view argument;              // for --help: "TIME", "SIZE", "N"
  std::string_view help;
};
[[nodiscard]] std::span<const ServerRow> server_table();

// Who comes by a Unix socket, by his name or by that of one of his groups, and what he may.
enum class Role : std::uint8_t { run, admin };
[[nodiscard]] std::string_view role_name(Role role);

struct AccessRule {
  std::string user;  // one of the two is ""
  std::string group;
  Role role = Role::run;
};

// What one caller may take at the same time, and of processors in an hour.
enum class QuotaKey : std::uint8_t {
  running,
  queued,
  memory,
  disk,
  sessions,
  cpu_seconds_per_hour,
};
inline constexpr std::size_t kQuotaKeyCount = 6;

struct QuotaRow {
  QuotaKey id;
  std::string_view key;
  Unit unit;
};
[[nodiscard]] std::span<const QuotaRow> quota_table();

// By key; a value of nullopt is `none`, and what is not set is left to another table.
using QuotaValues = std::array<Maybe<std::optional<std::uint64_t>>, kQuotaKeyCount>;

struct NamedQuota {
  std::string name;  // "default", a user, "@group" or "token:NAME"
  QuotaValues values;
};

struct ServiceSettings {
  std::array<Maybe<std::uint64_t>, kServerOptionCount> options;
  Maybe<std::string> listen;              // as --listen has it
  Maybe<std::string> tokens;              // a file
  Maybe<std::vector<std::string>> hosts;  // names by which clients may call us, besides localhost
  std::vector<Setting<AccessRule>> access;
  std::vector<NamedQuota> quotas;

  [[nodiscard]] const Maybe<std::uint64_t>& option(ServerOption id) const {
    return options[static_cast<std::size_t>(id)];
  }
};

// What holds where no file says anything.
[[nodiscard]] ServiceSettings built_in_service();

// The values of `over` stand; access rules are added, and quotas key by key.
[[nodiscard]] ServiceSettings lay_over(ServiceSettings under, const ServiceSettings& over);

// Where something of it was set first; "": nothing is.
[[nodiscard]] std::string origin_of(const ServiceSettings& settings);

// `text` as a value in this unit, and as a file has it.
[[nodiscard]] sys::Result<std::uint64_t> parse_amount(Unit unit, std::string_view text);
[[nodiscard]] std::string write_amount(Unit unit, std::uint64_t value);

}  // namespace wardcase::policies

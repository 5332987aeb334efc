// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/service_settings.h"

#include <algorithm>
#include <iterator>

#include "policies/units.h"

namespace wardcase::policies {
namespace {

constexpr std::uint64_t kSecond = 1000;
constexpr std::uint64_t kMiB = 1 << 20;

// lint: table
constexpr ServerRow kServer[] = {
    {ServerOption::max_running, "max_running", "max-runs", Unit::count, std::nullopt, "N",
     "runs at the same time (default: twice the processors)"},
    {ServerOption::queue_max, "queue_max", "max-queue", Unit::count, 1024, "N",
     "runs that wait for their turn; more are refused (default 1024)"},
    {ServerOption::memory_total, "memory_total", "memory-total", Unit::bytes, std::nullopt, "SIZE",
     "memory that is promised to all runs and sessions at the same time (default: no bound)"},
    {ServerOption::max_sessions, "max_sessions", "max-sessions", Unit::count, 64, "N",
     "sessions at the same time (default 64)"},
    {ServerOption::keep_runs, "keep_runs", "keep-runs", Unit::count, 1000, "N",
     "ended runs that can still be asked for (default 1000)"},
    {ServerOption::keep_time, "keep_time", "keep-time", Unit::milliseconds, 3600 * kSecond, "TIME",
     "how long they can be asked for (default 1h)"},
    {ServerOption::max_connections, "max_connections", "max-connections", Unit::count, 512, "N",
     "clients at the same time (default 512)"},
    {ServerOption::max_body, "max_body", "max-body", Unit::bytes, 16 * kMiB, "SIZE",
     "length of a request's body (default 16 MiB)"},
    {ServerOption::max_held, "max_held", "max-held", Unit::bytes, 256 * kMiB, "SIZE",
     "of all requests and of all answers that are held (default 256 MiB)"},
    {ServerOption::header_timeout, "header_timeout", "header-timeout", Unit::milliseconds,
     10 * kSecond, "TIME", "time for a request's head to arrive (default 10s)"},
    {ServerOption::body_timeout, "body_timeout", "body-timeout", Unit::milliseconds, 60 * kSecond,
     "TIME", "time for its body to arrive (default 60s)"},
    {ServerOption::idle_timeout, "idle_timeout", "idle-timeout", Unit::milliseconds, 75 * kSecond,
     "TIME", "time between two requests of a client (default 75s)"},
    {ServerOption::send_timeout, "send_timeout", "send-timeout", Unit::milliseconds, 30 * kSecond,
     "TIME", "time in which a client takes nothing (default 30s)"},
    {ServerOption::drain_timeout, "drain_timeout", "drain-timeout", Unit::milliseconds,
     45 * kSecond, "TIME", "time that runs have to end when we are to end (default 45s)"},
};
static_assert(std::size(kServer) == kServerOptionCount);

constexpr QuotaRow kQuotas[] = {
    {QuotaKey::running, "running", Unit::count},
    {QuotaKey::queued, "queued", Unit::count},
    {QuotaKey::memory, "memory", Unit::bytes},
    {QuotaKey::disk, "disk", Unit::bytes},
    {QuotaKey::sessions, "sessions", Unit::count},
    {QuotaKey::cpu_seconds_per_hour, "cpu_seconds_per_hour", Unit::count},
};
static_assert(std::size(kQuotas) == kQuotaKeyCount);

void lay_quota(std::vector<NamedQuota>& under, const NamedQuota& over) {
  const auto found = std::ranges::find(under, over.name, &NamedQuota::name);
  if (found == under.end()) return under.push_back(over);
  for (std::size_t i = 0; i < kQuotaKeyCount; ++i) lay(found->values[i], over.values[i]);
}

}  // namespace

std::span<const ServerRow> server_table() { return kServer; }

std::span<const QuotaRow> quota_table() { return kQuotas; }

std::string_view role_name(Role role) { return role == Role::admin ? "admin" : "run"; }

ServiceSettings built_in_service() {
  ServiceSettings settings;
  for (const ServerRow& row : kServer) {
    if (row.standard) settings.options[static_cast<std::size_t>(row.id)] = {*row.standard};
  }
  return settings;
}

ServiceSettings lay_over(ServiceSettings under, const ServiceSettings& over) {
  for (std::size_t i = 0; i < kServerOptionCount; ++i) lay(under.options[i], over.options[i]);
  lay(under.listen, over.listen);
  lay(under.tokens, over.tokens);
  lay(under.hosts, over.hosts);
  under.access.insert(under.access.end(), over.access.begin(), over.access.end());
  for (const NamedQuota& quota : over.quotas) lay_quota(under.quotas, quota);
  return under;
}

std::string origin_of(const ServiceSettings& settings) {
  for (const auto& option : settings.options) {
    if (option) return option->origin;
  }
  if (settings.listen) return settings.listen->origin;
  if (settings.tokens) return settings.tokens->origin;
  if (settings.hosts) return settings.hosts->origin;
  if (!settings.access.empty()) return settings.access.front().origin;
  for (const NamedQuota& quota : settings.quotas) {
    for (const auto& value : quota.values) {
      if (value) return value->origin;
    }
  }
  return "";
}

sys::Result<std::uint64_t> parse_amount(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::milliseconds:
      return parse_duration(text).map(
          [](std::chrono::milliseconds time) { return static_cast<std::uint64_t>(time.count()); });
    case Unit::bytes:
      return parse_size(text);
    case Unit::millicpus:
      return parse_millicpus(text);
    case Unit::count:
      break;
  }
  return parse_count(text);
}

std::string write_amount(Unit unit, std::uint64_t value) {
  if (unit == Unit::milliseconds) {
    return "\"" + format_duration(std::chrono::milliseconds(value)) + "\"";
  }
  if (unit == Unit::millicpus) return format_millicpus(value);
  if (unit == Unit::count) return std::to_string(value);
  struct Scale {
    std::uint64_t bytes;
    std::string_view name;
  };
  constexpr Scale kScales[] = {{1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}};
  for (const auto& [bytes, name] : kScales) {
    if (value % bytes == 0) {
      return "\"" + std::to_string(value / bytes) + std::string(name) + "\"";
    }
  }
  return std::to_string(value);
}

}  // namespace wardcase::policies

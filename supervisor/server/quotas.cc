// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/quotas.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "policies/units.h"
#include "supervisor/server/accounts.h"
#include "supervisor/server/api_call.h"

namespace wardcase::supervisor {

namespace {

using policies::QuotaKey;
using std::chrono::microseconds;

constexpr std::string_view kDefault = "default";
constexpr std::string_view kToken = "token:";
constexpr std::chrono::minutes kBucket{1};
constexpr std::chrono::hours kWindow{1};

std::string_view key_name(QuotaKey key) {
  return policies::quota_table()[static_cast<std::size_t>(key)].key;
}

Problem exceeded(const QuotaTable::Bound& bound, const std::string& what, int retry_seconds) {
  return {429, "quota_exceeded", what + ": " + bound.name + " is " + std::to_string(bound.value),
          "", retry_seconds};
}

}  // namespace

sys::Result<QuotaTable> QuotaTable::read(const policies::ServiceSettings& settings) {
  QuotaTable table;
  for (const policies::NamedQuota& quota : settings.quotas) {
    Entry entry = {std::nullopt, std::nullopt, quota};
    sys::Status found;
    if (quota.name.starts_with('@')) {
      found = find_group_id(quota.name.substr(1)).map([&](gid_t id) { entry.group = id; });
    } else if (quota.name != kDefault && !quota.name.starts_with(kToken)) {
      found = find_user_id(quota.name).map([&](uid_t id) { entry.user = id; });
    }
    if (!found) {
      return tl::unexpected(sys::Error(found.error()).while_doing("quota." + quota.name));
    }
    table.entries_.push_back(std::move(entry));
  }
  return table;
}

std::optional<QuotaTable::Bound> QuotaTable::find(const Caller& caller, QuotaKey key) const {
  enum class Rank : std::uint8_t { nothing, standard, group, own };
  Rank best = Rank::nothing;
  std::optional<Bound> found;
  for (const Entry& entry : entries_) {
    const auto& setting = entry.quota.values[static_cast<std::size_t>(key)];
    if (!setting) continue;
    Rank rank = Rank::nothing;
    if (entry.quota.name == kDefault) rank = Rank::standard;
    if (entry.group && std::ranges::find(caller.groups, *entry.group) != caller.groups.end()) {
      rank = Rank::group;
    }
    if ((entry.user && entry.user == caller.user) || entry.quota.name == caller.name) {
      rank = Rank::own;
    }
    const bool is_larger =
        best == rank && found && (!setting->value || *setting->value > found->value);
    if (rank == Rank::nothing || rank < best || (rank == best && !is_larger)) continue;
    best = rank;
    found.reset();
    if (setting->value) {
      found = {*setting->value, "quota." + entry.quota.name + "." + std::string(key_name(key))};
    }
  }
  return found;
}

void SpentTime::add(const std::string& owner, microseconds cpu, Clock::time_point now) {
  forget_old(now);
  if (cpu.count() <= 0) return;
  auto& minutes = spent_[owner];
  if (minutes.empty() || minutes.back().begin + kBucket <= now) minutes.push_back({now, {}});
  minutes.back().cpu += cpu;
}

microseconds SpentTime::of(const std::string& owner, Clock::time_point now) {
  microseconds all{0};
  const auto found = spent_.find(owner);
  if (found == spent_.end()) return all;
  for (const Minute& minute : found->second) {
    if (minute.begin + kWindow > now) all += minute.cpu;
  }
  return all;
}

std::chrono::seconds SpentTime::until_less(const std::string& owner, Clock::time_point now) {
  const auto found = spent_.find(owner);
  if (found != spent_.end()) {
    for (const Minute& minute : found->second) {
      if (minute.begin + kWindow <= now) continue;
      return std::chrono::ceil<std::chrono::seconds>(minute.begin + kWindow - now);
    }
  }
  return std::chrono::seconds(1);
}

// Once a minute: there may be as many callers as there are users.
void SpentTime::forget_old(Clock::time_point now) {
  if (now < swept_ + kBucket) return;
  swept_ = now;
  for (auto each = spent_.begin(); each != spent_.end();) {
    auto& minutes = each->second;
    while (!minutes.empty() && minutes.front().begin + kWindow <= now) minutes.pop_front();
    each = minutes.empty() ? spent_.erase(each) : std::next(each);
  }
}

RunQueue::OwnersMost Quotas::most_of(const Caller& caller) const {
  const auto value_of = [&](QuotaKey key) -> std::optional<std::uint64_t> {
    const auto bound = table_.find(caller, key);
    if (!bound) return std::nullopt;
    return bound->value;
  };
  return {value_of(QuotaKey::running), value_of(QuotaKey::queued), value_of(QuotaKey::memory)};
}

std::optional<Problem> Quotas::may_run(const Caller& caller, std::optional<std::uint64_t> memory) {
  if (const auto bound = table_.find(caller, QuotaKey::cpu_seconds_per_hour)) {
    const auto now = Clock::now();
    if (spent_.of(caller.name, now) >= std::chrono::seconds(bound->value)) {
      return exceeded(*bound, "your runs have used up their processor time of the hour",
                      static_cast<int>(spent_.until_less(caller.name, now).count()));
    }
  }
  const auto bound = table_.find(caller, QuotaKey::memory);
  if (!bound || !memory || *memory <= bound->value) return std::nullopt;
  return Problem{422, "limit_refused",
                 "limits.memory_bytes: " + bound->name + " is " +
                     policies::format_size(bound->value) + "; ask for less",
                 "limits.memory_bytes"};
}

Problem Quotas::too_many_waiting(const Caller& caller) const {
  const auto bound = table_.find(caller, QuotaKey::queued);
  if (bound) return exceeded(*bound, "too many of your runs wait already", kRetrySeconds);
  return {429, "queue_full", "your waiting runs hold too much already", "", kRetrySeconds};
}

void SessionSums::add(std::optional<std::uint64_t> its_memory,
                      std::optional<std::uint64_t> its_disk) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const auto raise = [](std::uint64_t& sum, std::optional<std::uint64_t> by) {
    sum = by && *by <= kMost - sum ? sum + *by : kMost;
  };
  ++sessions;
  raise(memory, its_memory);
  raise(disk, its_disk);
}

std::optional<Problem> Quotas::may_open_session(const Caller& caller,
                                                const SessionSums& all) const {
  const auto refuse = [&](QuotaKey key, std::uint64_t sum,
                          const std::string& what) -> std::optional<Problem> {
    const auto bound = table_.find(caller, key);
    if (!bound || sum <= bound->value) return std::nullopt;
    return exceeded(*bound, what, kRetrySeconds);
  };
  if (auto problem =
          refuse(QuotaKey::sessions, all.sessions, "you have too many sessions; end one")) {
    return problem;
  }
  if (auto problem = refuse(QuotaKey::memory, all.memory,
                            "your sessions could take too much memory; end one, or ask for less by "
                            "limits.memory_bytes")) {
    return problem;
  }
  return refuse(QuotaKey::disk, all.disk,
                "the files of your sessions could take too much; end one, or ask for less by "
                "limits.disk_bytes");
}

}  // namespace wardcase::supervisor

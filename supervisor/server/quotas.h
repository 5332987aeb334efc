// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policies/service_settings.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/server/caller.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_queue.h"

namespace wardcase::supervisor {

// What one caller may take, as [quota.NAME] says: of each value that of the caller's own table
// counts, else the largest of those of his groups, else that of `default`.
class QuotaTable {
 public:
  // Names of this host are looked up.
  static sys::Result<QuotaTable> read(const policies::ServiceSettings& settings);

  // A value and the key that it stands under, as "quota.default.running".
  struct Bound {
    std::uint64_t value = 0;
    std::string name;
  };
  // nullopt: no bound.
  [[nodiscard]] std::optional<Bound> find(const Caller& caller, policies::QuotaKey key) const;

 private:
  struct Entry {
    std::optional<uid_t> user;
    std::optional<gid_t> group;
    policies::NamedQuota quota;
  };
  std::vector<Entry> entries_;
};

// What callers have used of processors, in the hour that has just gone by.
class SpentTime {
 public:
  void add(const std::string& owner, std::chrono::microseconds cpu, Clock::time_point now);
  [[nodiscard]] std::chrono::microseconds of(const std::string& owner, Clock::time_point now);
  // When some of it no longer counts.
  [[nodiscard]] std::chrono::seconds until_less(const std::string& owner, Clock::time_point now);

 private:
  struct Minute {
    Clock::time_point begin;
    std::chrono::microseconds cpu;
  };
  void forget_old(Clock::time_point now);

  std::map<std::string, std::deque<Minute>> spent_;
  Clock::time_point swept_;
};

// What sessions may take by their limits.
struct SessionSums {
  std::size_t sessions = 0;
  std::uint64_t memory = 0;
  std::uint64_t disk = 0;

  // One more; nullopt is no limit, which no quota allows.
  void add(std::optional<std::uint64_t> its_memory, std::optional<std::uint64_t> its_disk);
};

// Says no to who has had enough. The table may be exchanged at any time.
class Quotas {
 public:
  explicit Quotas(QuotaTable table) : table_(std::move(table)) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;
  ~Quotas() = default;

  void exchange(QuotaTable table) { table_ = std::move(table); }

  // What the queue holds this caller to.
  [[nodiscard]] RunQueue::OwnersMost most_of(const Caller& caller) const;
  // Why a run that may take so much memory (nullopt: as much as there is) can't even wait.
  [[nodiscard]] std::optional<Problem> may_run(const Caller& caller,
                                               std::optional<std::uint64_t> memory);
  // Why a refusal of the queue was this caller's own.
  [[nodiscard]] Problem too_many_waiting(const Caller& caller) const;
  // The same for a session; `all` are those that he would have with it.
  [[nodiscard]] std::optional<Problem> may_open_session(const Caller& caller,
                                                        const SessionSums& all) const;
  void spend(const std::string& owner, std::chrono::microseconds cpu) {
    spent_.add(owner, cpu, Clock::now());
  }

 private:
  QuotaTable table_;
  SpentTime spent_;
};

}  // namespace wardcase::supervisor

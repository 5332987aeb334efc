// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/quotas.h"

#include <gtest/gtest.h>

#include "policies/policy_reader.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;
using policies::QuotaKey;

QuotaTable table_of(const std::string& text) {
  const auto policy =
      policies::read_policy("schema = 1\n" + text, "f.toml", policies::FileKind::configuration);
  EXPECT_TRUE(policy);
  auto table = QuotaTable::read(policy->service);
  EXPECT_TRUE(table);
  return *std::move(table);
}

constexpr const char* kText =
    "[quota.default]\nrunning = 2\nqueued = 5\nsessions = 1\ndisk = \"1MiB\"\n"
    "[quota.1000]\nrunning = 3\n[quota.\"@77\"]\nrunning = 7\nqueued = 6\n"
    "[quota.\"@78\"]\nrunning = 9\nqueued = \"none\"\n[quota.\"token:ci\"]\nrunning = 4\n";

std::optional<std::uint64_t> running_of(const QuotaTable& table, const Caller& caller) {
  const auto bound = table.find(caller, QuotaKey::running);
  return bound ? std::optional(bound->value) : std::nullopt;
}

TEST(Quotas, TheCallersOwnCountsThenHisGroupsLargestThenTheDefault) {
  const QuotaTable table = table_of(kText);
  EXPECT_EQ(running_of(table, {"uid:1000", false, 1000, {77, 78}}), 3U);
  EXPECT_EQ(running_of(table, {"uid:1001", false, 1001, {77, 78, 79}}), 9U);
  EXPECT_EQ(running_of(table, {"uid:1001", false, 1001, {79}}), 2U);
  EXPECT_EQ(running_of(table, {"token:ci", false}), 4U);
  EXPECT_EQ(running_of(table, {"anybody", false}), 2U);
  EXPECT_FALSE(table.find({"uid:1001", false, 1001, {77, 78}}, QuotaKey::queued)) << "none";
  EXPECT_EQ(table.find({"uid:1000", false, 1000, {77}}, QuotaKey::queued)->name,
            "quota.@77.queued");
  EXPECT_FALSE(table.find({"anybody", false}, QuotaKey::memory)) << "nobody has set it";
}

TEST(Quotas, NamesThatThisHostDoesNotKnowAreAnError) {
  for (const char* name : {"no-such-user-x", "@no-such-group-x"}) {
    const auto policy =
        policies::read_policy("schema = 1\n[quota.\"" + std::string(name) + "\"]\nqueued = 1\n",
                              "f.toml", policies::FileKind::configuration);
    EXPECT_FALSE(QuotaTable::read(policy->service)) << name;
  }
}

TEST(Quotas, TimeThatWasSpentCountsForAnHour) {
  SpentTime spent;
  const Clock::time_point start{100h};
  spent.add("a", 10s, start);
  spent.add("a", 5s, start + 30min);
  spent.add("b", 1s, start + 30min);
  EXPECT_EQ(spent.of("a", start + 59min), 15s);
  EXPECT_EQ(spent.until_less("a", start + 59min), 60s);
  EXPECT_EQ(spent.of("a", start + 60min), 5s);
  EXPECT_EQ(spent.of("a", start + 90min), 0s);
  spent.add("b", 1s, start + 100min);
  EXPECT_EQ(spent.of("b", start + 100min), 1s);
  EXPECT_EQ(spent.of("c", start), 0s);
}

TEST(Quotas, SessionsAreRefusedByTheirNumberAndByWhatTheirFilesTake) {
  const Quotas quotas(table_of(kText));
  const Caller caller = {"uid:5", false, 5};
  EXPECT_FALSE(quotas.may_open_session(caller, {1, 0, 1000}));
  EXPECT_EQ(quotas.may_open_session(caller, {2, 0, 0})->code, "quota_exceeded");
  EXPECT_FALSE(quotas.may_open_session(caller, {1, 0, 1 << 20}));
  EXPECT_NE(
      quotas.may_open_session(caller, {1, 0, (1 << 20) + 1})->detail.find("quota.default.disk"),
      std::string::npos);
}

TEST(Quotas, WhatHasNoLimitIsMoreThanAnyQuota) {
  SessionSums sums;
  sums.add(1, 2);
  sums.add(3, 4);
  EXPECT_EQ(sums.sessions, 2U);
  EXPECT_EQ(sums.memory, 4U);
  EXPECT_EQ(sums.disk, 6U);
  sums.add(std::nullopt, 1);
  sums.add(5, std::nullopt);
  EXPECT_EQ(sums.memory, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(sums.disk, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace wardcase::supervisor

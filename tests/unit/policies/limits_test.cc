// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/limits.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace wardcase::policies {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1024 * 1024;

sys::Result<std::optional<std::uint64_t>> parse(LimitId id, std::string_view text) {
  return parse_limit(limit_row(id), text, Limits().maximum(id));
}

std::string refusal(LimitId id, std::string_view text) {
  const auto parsed = parse(id, text);
  return parsed ? "" : parsed.error().message();
}

Limits resolved(unsigned host_cpus, bool captured) {
  Limits limits;
  EXPECT_TRUE(limits.resolve(host_cpus, captured));
  return limits;
}

TEST(LimitTable, NamesEachLimitOnceAndAlike) {
  std::multiset<std::string_view> names;
  for (const LimitRow& row : limit_table()) {
    EXPECT_EQ(&limit_row(row.id), &row);
    std::string environment = "WARDCASE_";
    for (const char c : row.key) environment += static_cast<char>(std::toupper(c));
    EXPECT_EQ(row.environment, environment);
    std::string json_key(row.key);
    if (row.unit == Unit::milliseconds) json_key += "_ms";
    if (row.unit == Unit::bytes) json_key += "_bytes";
    EXPECT_EQ(row.json_key, json_key);
    EXPECT_FALSE(row.help.empty());
    EXPECT_GE(row.minimum, 1U);
    names.insert(row.key);
    if (!row.flag.empty()) names.insert(row.flag);
  }
  for (const LimitRow& row : limit_table()) {
    EXPECT_EQ(names.count(row.key), row.key == row.flag ? 2U : 1U) << row.key;
  }
  EXPECT_EQ(limit_table().size(), kLimitCount);
  EXPECT_EQ(limit_row(LimitId::capture).flag, "capture-limit");
  EXPECT_EQ(limit_row(LimitId::output).flag, "output-limit");
}

TEST(Limits, BeginWithTheDefaults) {
  const Limits limits = resolved(2, /*captured=*/true);
  EXPECT_EQ(limits.timeout(), 60s);
  EXPECT_EQ(limits.grace(), 2s);
  EXPECT_EQ(limits.get(LimitId::idle_timeout), std::nullopt);
  EXPECT_EQ(limits.get(LimitId::memory), 1024 * kMiB);
  EXPECT_EQ(limits.get(LimitId::pids), 256U);
  EXPECT_EQ(limits.get(LimitId::cpus), 2000U);
  EXPECT_EQ(limits.get(LimitId::cpu_time), 120'000U);
  EXPECT_EQ(limits.get(LimitId::disk), 256 * kMiB);
  EXPECT_EQ(limits.get(LimitId::disk_inodes), 65'536U);
  EXPECT_EQ(limits.get(LimitId::file_size), 256 * kMiB);
  EXPECT_EQ(limits.get(LimitId::open_files), 4'096U);
  EXPECT_EQ(limits.get(LimitId::capture), kMiB);
  EXPECT_EQ(limits.get(LimitId::output), 256 * kMiB);
  for (const LimitRow& row : limit_table()) EXPECT_FALSE(limits.is_required(row.id)) << row.key;
}

TEST(Limits, BoundTheOutputOnlyWhereItIsKept) {
  EXPECT_EQ(resolved(2, /*captured=*/false).get(LimitId::output), std::nullopt);
}

TEST(Limits, UseAtMostFourProcessorsAndNoneThatTheHostLacks) {
  EXPECT_EQ(resolved(0, true).get(LimitId::cpus), 1000U);
  EXPECT_EQ(resolved(4, true).get(LimitId::cpus), 4000U);
  EXPECT_EQ(resolved(64, true).get(LimitId::cpus), 4000U);
}

TEST(Limits, WorkOutWhatWasLeftOpenFromWhatWasSet) {
  Limits limits;
  limits.require(LimitId::timeout, 10'000);
  limits.require(LimitId::cpus, 1500);
  limits.require(LimitId::disk, 8 * kMiB);
  ASSERT_TRUE(limits.resolve(8, true));
  EXPECT_EQ(limits.get(LimitId::cpu_time), 15'000U);
  EXPECT_EQ(limits.get(LimitId::file_size), 8 * kMiB);
  EXPECT_FALSE(limits.is_required(LimitId::cpu_time));
}

TEST(Limits, KeepWhatWasSet) {
  Limits limits;
  limits.require(LimitId::cpu_time, 500);
  limits.set_default(LimitId::file_size, 4096);
  limits.require(LimitId::output, std::nullopt);
  ASSERT_TRUE(limits.resolve(2, true));
  EXPECT_EQ(limits.get(LimitId::cpu_time), 500U);
  EXPECT_EQ(limits.get(LimitId::file_size), 4096U);
  EXPECT_EQ(limits.get(LimitId::output), std::nullopt);
  EXPECT_TRUE(limits.is_required(LimitId::cpu_time));
  EXPECT_FALSE(limits.is_required(LimitId::file_size));
}

TEST(Limits, LeaveOutTheProcessorTimeWhenTold) {
  Limits limits;
  limits.require(LimitId::cpu_time, std::nullopt);
  ASSERT_TRUE(limits.resolve(2, true));
  EXPECT_EQ(limits.get(LimitId::cpu_time), std::nullopt);
}

TEST(Limits, AlwaysAllowSomeProcessorTime) {
  Limits limits;
  limits.require(LimitId::timeout, 1);
  limits.require(LimitId::cpus, 10);
  ASSERT_TRUE(limits.resolve(2, true));
  EXPECT_EQ(limits.get(LimitId::cpu_time), 1U);
}

TEST(Limits, RefuseMoreProcessorsThanTheHostHasOnlyWhenRequired) {
  Limits asked;
  asked.require(LimitId::cpus, 3000);
  const auto refused = asked.resolve(2, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "--cpus 3: maximum is 2 (the processors of this host)");

  Limits configured;
  configured.set_default(LimitId::cpus, 3000);
  ASSERT_TRUE(configured.resolve(2, true));
  EXPECT_EQ(configured.get(LimitId::cpus), 2000U);
}

TEST(Limits, LowerADefaultAboveTheMaximumAndRefuseARequiredOne) {
  Limits limits;
  limits.set_default(LimitId::timeout, 900'000);
  ASSERT_TRUE(limits.resolve(1, true));
  EXPECT_EQ(limits.timeout(), 600s);
  EXPECT_EQ(limits.get(LimitId::cpu_time), 600'000U);

  limits.require(LimitId::timeout, 900'000);
  EXPECT_FALSE(limits.resolve(1, true));
}

TEST(Limits, RefuseValuesThatCannotWork) {
  Limits limits;
  limits.set_default(LimitId::memory, 4096);
  const auto refused = limits.resolve(2, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "--memory 4 KiB: minimum is 1 MiB");
}

TEST(Limits, CountTheLastCallForALimit) {
  Limits limits;
  limits.require(LimitId::pids, 10);
  limits.set_default(LimitId::pids, 20);
  EXPECT_EQ(limits.get(LimitId::pids), 20U);
  EXPECT_FALSE(limits.is_required(LimitId::pids));
}

TEST(LimitsDeathTest, NeverLoseALimitThatMustBe) {
  Limits limits;
  EXPECT_DEATH(limits.require(LimitId::memory, std::nullopt), "internal error");
}

TEST(ParseLimit, ReadsByUnit) {
  EXPECT_EQ(parse(LimitId::timeout, "1.5"), 1500U);
  EXPECT_EQ(parse(LimitId::memory, "64m"), 64 * kMiB);
  EXPECT_EQ(parse(LimitId::pids, "64"), 64U);
  EXPECT_EQ(parse(LimitId::cpus, "0.5"), 500U);
}

TEST(ParseLimit, TakesTheMaximumAndNamesItAbove) {
  EXPECT_EQ(parse(LimitId::timeout, "600s"), 600'000U);
  EXPECT_EQ(refusal(LimitId::timeout, "601s"),
            "--timeout 601s: maximum is 600s (limits.max.timeout, built in); raise it in "
            "~/.config/wardcase/wardcase.toml");
  EXPECT_EQ(refusal(LimitId::grace, "31"),
            "--grace 31: maximum is 30s (limits.max.grace, built in); raise it in "
            "~/.config/wardcase/wardcase.toml");
  EXPECT_NE(refusal(LimitId::idle_timeout, "11m"), "");
  EXPECT_NE(refusal(LimitId::pids, "4097"), "");
  EXPECT_NE(refusal(LimitId::capture, "65m"), "");
  EXPECT_EQ(parse(LimitId::memory, "1000g"), 1'024'000 * kMiB);
}

TEST(ParseLimit, NamesTheMinimum) {
  EXPECT_EQ(refusal(LimitId::memory, "64k"), "--memory 64k: minimum is 1 MiB");
  EXPECT_EQ(refusal(LimitId::disk, "1k"), "--disk 1k: minimum is 64 KiB");
  EXPECT_EQ(refusal(LimitId::disk_inodes, "3"), "limits.disk_inodes 3: minimum is 16");
  EXPECT_EQ(refusal(LimitId::open_files, "7"), "--open-files 7: minimum is 8");
}

TEST(ParseLimit, NamesTheFlagOfWhatItCannotRead) {
  EXPECT_EQ(refusal(LimitId::timeout, "10x"),
            "--timeout: '10x': not a time; write 500ms, 10s or 2m");
  EXPECT_EQ(refusal(LimitId::timeout, "0"), "--timeout: '0': too small; the least is 1ms");
  EXPECT_EQ(refusal(LimitId::memory, "-1"),
            "--memory: '-1': not a size; write 65536, 64k, 64m or 1g");
  EXPECT_EQ(refusal(LimitId::pids, ""), "--pids: '': not a whole number");
}

TEST(ParseLimit, TakesNoneOnlyWhereNothingIsLost) {
  for (const LimitRow& row : limit_table()) {
    const bool allowed =
        row.id == LimitId::idle_timeout || row.id == LimitId::cpu_time || row.id == LimitId::output;
    EXPECT_EQ(row.none_allowed, allowed) << row.key;
    const auto parsed = parse_limit(row, "none", {});
    EXPECT_EQ(parsed.has_value(), allowed) << row.key;
    EXPECT_EQ(parsed.value_or(std::nullopt), std::nullopt) << row.key;
  }
  EXPECT_EQ(refusal(LimitId::memory, "none"), "--memory none: this limit can't be left out");
}

TEST(FormatLimit, WritesEachUnitAsPeopleDo) {
  EXPECT_EQ(format_limit(limit_row(LimitId::timeout), 60'000), "60s");
  EXPECT_EQ(format_limit(limit_row(LimitId::memory), 1024 * kMiB), "1 GiB");
  EXPECT_EQ(format_limit(limit_row(LimitId::cpus), 1500), "1.5");
  EXPECT_EQ(format_limit(limit_row(LimitId::pids), 256), "256");
  EXPECT_EQ(format_limit(limit_row(LimitId::idle_timeout), std::nullopt), "none");
}

TEST(Limits, NumbersOfARequestAreHeldToTheSameBounds) {
  const LimitRow& row = limit_row(LimitId::timeout);
  const auto refusal = [&](std::optional<std::uint64_t> value, const Maximum& maximum) {
    const auto checked = check_limit(row, "limits.timeout_ms", value, maximum);
    return checked ? "" : checked.error().message();
  };
  EXPECT_EQ(refusal(1000, {row.maximum}), "");
  EXPECT_EQ(refusal(0, {row.maximum}), "limits.timeout_ms 0: minimum is 1ms");
  EXPECT_EQ(refusal(2000, {1000, "FILE:3"}),
            "limits.timeout_ms 2000: maximum is 1s (limits.max.timeout, FILE:3); raise it there");
  EXPECT_EQ(refusal(std::nullopt, {}), "limits.timeout_ms null: this limit can't be left out");
  const LimitRow& idle = limit_row(LimitId::idle_timeout);
  EXPECT_TRUE(check_limit(idle, "x", std::nullopt, {idle.maximum}));
  EXPECT_FALSE(check_limit(idle, "x", std::nullopt, {1000, "FILE:3"}));
}

}  // namespace
}  // namespace wardcase::policies

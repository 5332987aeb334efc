// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/units.h"

#include <gtest/gtest.h>

#include <string>

namespace wardcase::policies {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, TakesUnitsAndBareSeconds) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("10s"), 10s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("7"), 7s);
  EXPECT_EQ(parse_duration("007"), 7s);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("0.25"), 250ms);
  EXPECT_EQ(parse_duration("1.999ms"), 1ms);
  EXPECT_EQ(parse_duration("0.123456789h"), 444444ms);
  EXPECT_EQ(parse_duration("87600h"), 87600h);
}

TEST(ParseDuration, RefusesWhatIsNoTime) {
  for (const char* text :
       {"",    " ",      "ms",   "s",    "10x", "10 s",          " 10s",  "10s ",   "-1s",
        "+1s", "1e3",    "0x10", "1,5s", "1.s", ".5s",           "1..5s", "1.5.5s", "10S",
        "2M",  "1.5min", "none", "inf",  "nan", "1.1234567890s", "١s",    "10s\n"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(),
              "'" + std::string(text) + "': not a time; write 500ms, 10s or 2m");
  }
}

TEST(ParseDuration, RefusesZeroAndWhatRoundsToIt) {
  for (const char* text : {"0", "0s", "0ms", "0.0", "0.0009s", "0.9ms"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(), "'" + std::string(text) + "': too small; the least is 1ms");
  }
}

TEST(ParseDuration, RefusesWhatDoesNotFit) {
  for (const char* text : {"87600.001h", "87601h", "18446744073709551615", "18446744073709551616ms",
                           "18446744073709552s", "99999999999999999999999999h"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(),
              "'" + std::string(text) + "': too large; the most is 87600h");
  }
}

TEST(ParseSize, CountsInPowersOf1024) {
  EXPECT_EQ(parse_size("100"), 100U);
  EXPECT_EQ(parse_size("100B"), 100U);
  for (const char* text : {"64m", "64M", "64mb", "64MB", "64MiB", "64mib", "67108864"}) {
    EXPECT_EQ(parse_size(text), 64U << 20) << text;
  }
  EXPECT_EQ(parse_size("1k"), 1024U);
  EXPECT_EQ(parse_size("1g"), 1U << 30);
  EXPECT_EQ(parse_size("1.5GiB"), 3U << 29);
  EXPECT_EQ(parse_size("4294967296g"), std::uint64_t{1} << 62);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "m", "-1", "64 MiB", "64mm", "64bytes", "1t", "10s", "0x40m"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(),
              "'" + std::string(text) + "': not a size; write 65536, 64k, 64m or 1g");
  }
}

TEST(ParseSize, RefusesZeroAndWhatDoesNotFit) {
  EXPECT_EQ(parse_size("0m").error().message(), "'0m': too small; the least is 1 byte");
  for (const char* text : {"4294967297g", "4294967296.1g", "17179869184g", "4611686018427387905",
                           "18446744073709551617"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message(),
              "'" + std::string(text) + "': too large; the most is 4294967296g");
  }
}

TEST(ParseCount, TakesWholeNumbersAboveZero) {
  EXPECT_EQ(parse_count("1"), 1U);
  EXPECT_EQ(parse_count("65536"), 65536U);
  EXPECT_EQ(parse_count("1.0").error().message(), "'1.0': not a whole number");
  EXPECT_EQ(parse_count("4k").error().message(), "'4k': not a whole number");
  EXPECT_EQ(parse_count("-4").error().message(), "'-4': not a whole number");
  EXPECT_EQ(parse_count("0").error().message(), "'0': too small; the least is 1");
  EXPECT_FALSE(parse_count("4611686018427387905"));
}

TEST(ParseMillicpus, CountsThousandths) {
  EXPECT_EQ(parse_millicpus("2"), 2000U);
  EXPECT_EQ(parse_millicpus("0.5"), 500U);
  EXPECT_EQ(parse_millicpus("0.01"), 10U);
  EXPECT_EQ(parse_millicpus("0.009").error().message(), "'0.009': too small; the least is 0.01");
  EXPECT_EQ(parse_millicpus("2m").error().message(),
            "'2m': not a number of processors; write 2 or 0.5");
  EXPECT_EQ(parse_millicpus("1000001").error().message(),
            "'1000001': too large; the most is 1000000");
}

TEST(Format, WritesDurations) {
  EXPECT_EQ(format_duration(0ms), "0ms");
  EXPECT_EQ(format_duration(999ms), "999ms");
  EXPECT_EQ(format_duration(1s), "1s");
  EXPECT_EQ(format_duration(1500ms), "1.5s");
  EXPECT_EQ(format_duration(1005ms), "1.005s");
  EXPECT_EQ(format_duration(10min), "600s");
}

TEST(Format, WritesSizes) {
  EXPECT_EQ(format_size(0), "0 bytes");
  EXPECT_EQ(format_size(1), "1 byte");
  EXPECT_EQ(format_size(1023), "1023 bytes");
  EXPECT_EQ(format_size(1024), "1 KiB");
  EXPECT_EQ(format_size(64U << 20), "64 MiB");
  EXPECT_EQ(format_size(3U << 29), "1.5 GiB");
  EXPECT_EQ(format_size(1'500'000), "1.4 MiB");
  EXPECT_EQ(format_size((1U << 20) - 1), "1 MiB");  // not "1024 KiB"
  EXPECT_EQ(format_size((64U << 20) - 1), "64 MiB");
  EXPECT_EQ(format_size(UINT64_MAX), "16777216 TiB");
}

TEST(Format, WritesProcessors) {
  EXPECT_EQ(format_millicpus(2000), "2");
  EXPECT_EQ(format_millicpus(1500), "1.5");
  EXPECT_EQ(format_millicpus(10), "0.01");
}

}  // namespace
}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/subordinate_ids.h"

#include <gtest/gtest.h>

namespace wardcase::sandbox {

bool operator==(const IdRange& one, const IdRange& other) {
  return one.first == other.first && one.count == other.count;
}

namespace {

using Ranges = std::vector<IdRange>;

TEST(SubordinateIds, AreReadFromThreeFields) {
  const auto given = parse_subordinate_ids("alice:100000:65536\n1001:1900000000:10");
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[0].owner, "alice");
  EXPECT_EQ(given[0].range, (IdRange{100'000, 65'536}));
  EXPECT_EQ(given[1].owner, "1001");
  EXPECT_EQ(given[1].range, (IdRange{1'900'000'000, 10}));
}

TEST(SubordinateIds, PassOverWhatIsNoRange) {
  EXPECT_TRUE(parse_subordinate_ids("").empty());
  EXPECT_TRUE(parse_subordinate_ids("# comment\n\n:\n::\na:b:c\na:1\na:1:-2\n:::9\n").empty());
}

TEST(SubordinateIds, BelongToANameOrANumber) {
  const auto given = parse_subordinate_ids("alice:100:5\nbob:200:5\n1001:300:5\n10010:400:5\n");
  EXPECT_EQ(ranges_of(given, "alice", 1001), (Ranges{{100, 5}, {300, 5}}));
  EXPECT_EQ(ranges_of(given, "carol", 1003), Ranges());
  EXPECT_EQ(ranges_of(parse_subordinate_ids(":100:5\n"), "", 1003), Ranges());
}

TEST(SubordinateIds, AreCommonToBothListsAsTheLongestStretch) {
  EXPECT_EQ(find_common_range(Ranges{{100, 50}, {1000, 20}}, Ranges{{90, 20}, {1005, 100}}),
            (IdRange{1005, 15}));
  EXPECT_FALSE(find_common_range(Ranges{{100, 50}}, Ranges{{150, 50}}));
  EXPECT_FALSE(find_common_range(Ranges{{100, 50}}, Ranges{}));
}

TEST(SubordinateIds, AreLookedUpByTheNameOfANumber) {
  const std::string passwd = "root:x:0:0:root:/root:/bin/sh\n:x\nbroken\nana:x:1001:5:,:/:/bin/sh";
  EXPECT_EQ(find_user_name(passwd, 0), "root");
  EXPECT_EQ(find_user_name(passwd, 1001), "ana");
  EXPECT_EQ(find_user_name(passwd, 100), "");
  EXPECT_EQ(find_user_name("", 0), "");
}

TEST(SubordinateIds, OverlapWhereTheyShareOne) {
  const IdRange range = {100, 10};
  EXPECT_TRUE(range.overlaps({109, 1}));
  EXPECT_TRUE(range.overlaps({0, 4'000'000'000}));
  EXPECT_FALSE(range.overlaps({110, 5}));
  EXPECT_FALSE(range.overlaps({95, 5}));
  EXPECT_FALSE(range.overlaps({105, 0}));
}

TEST(SubordinateIds, MayReachTheLastIdThereIs) {
  EXPECT_EQ(find_common_range(Ranges{{4'294'967'000, 295}}, Ranges{{4'294'967'290, 4'000'000}}),
            (IdRange{4'294'967'290, 5}));
}

}  // namespace
}  // namespace wardcase::sandbox

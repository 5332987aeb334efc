// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/box_names.h"

#include <gtest/gtest.h>

#include <string>

namespace wardcase::supervisor {
namespace {

TEST(BoxNames, StayBelowTheBox) {
  for (const char* name : {"a", "a.b/c-d", "..a", "a..", "...", "-rf", "new\nline", "\xff"}) {
    EXPECT_EQ(why_no_box_name(name), "") << name;
  }
  for (const char* name :
       {"", "/", "/a", ".", "..", "../a", "a/..", "a/../b", "a//b", "a/", "./a"}) {
    EXPECT_NE(why_no_box_name(name), "") << name;
  }
  EXPECT_NE(why_no_box_name(std::string("a\0b", 3)), "");
}

TEST(BoxNames, HaveTheLengthsThatFilesMayHave) {
  EXPECT_EQ(why_no_box_name(std::string(255, 'a')), "");
  EXPECT_NE(why_no_box_name(std::string(256, 'a')), "");
  EXPECT_NE(why_no_box_name("a/" + std::string(256, 'a')), "");
  std::string deep = "a";
  while (deep.size() <= 1024) deep += "/a";
  EXPECT_NE(why_no_box_name(deep), "");
}

TEST(BoxNames, ClashWhereOneWouldBeADirectory) {
  EXPECT_TRUE(clash_in_box("a", "a"));
  EXPECT_TRUE(clash_in_box("a", "a/b"));
  EXPECT_TRUE(clash_in_box("a/b/c", "a"));
  EXPECT_FALSE(clash_in_box("a", "ab"));
  EXPECT_FALSE(clash_in_box("a/b", "a/c"));
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/box_archive.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

TEST(BoxArchive, NamesAreBelowTheDirectory) {
  EXPECT_EQ(name_in_archive("./a//b/./c"), "a/b/c");
  EXPECT_EQ(name_in_archive("a/"), "a");
  EXPECT_EQ(name_in_archive("./"), "");
  EXPECT_EQ(name_in_archive("..."), "...");
  EXPECT_EQ(name_in_archive("a..b"), "a..b");
  for (const auto* const name : {"/a", "..", "../a", "a/../b", "a/..", "./.."}) {
    EXPECT_EQ(name_in_archive(name), std::nullopt) << name;
  }
  EXPECT_EQ(name_in_archive(std::string_view("a\0b", 3)), std::nullopt);
  EXPECT_EQ(name_in_archive(std::string(5000, 'a')), std::nullopt);
}

TEST(BoxArchive, LinksStayInTheBox) {
  for (const auto* const target : {"x", "../x", "../../x", ".././../x", "y/../../../x"}) {
    EXPECT_TRUE(stays_in_box("a/b/link", target)) << target;
  }
  for (const auto* const target : {"", "/x", "../../../x", "y/../../../../x"}) {
    EXPECT_FALSE(stays_in_box("a/b/link", target)) << target;
  }
  EXPECT_TRUE(stays_in_box("link", "."));
  EXPECT_FALSE(stays_in_box("link", ".."));
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/planted_links.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;
using policies::Mount;
using policies::MountMode;

class PlantedLinks : public testing::Test {
 protected:
  PlantedLinks() {
    for (const char* name : {"work", "work/inner", "other"}) fs::create_directory(place(name));
    fs::create_symlink(place("other"), place("work/out"));
    fs::create_symlink("inner", place("work/in"));
    fs::create_symlink(place("work"), place("other/back"));
    fs::create_symlink("round", place("work/round"));
  }
  [[nodiscard]] std::string place(const std::string& name) const {
    return (fs::canonical(directory_.path()) / name).string();
  }
  [[nodiscard]] std::string found(const std::string& path,
                                  MountMode mode = MountMode::read_write) const {
    const std::vector<Mount> mounts = {{place("work"), "/out", mode}};
    return planted_link(place(path), mounts);
  }

 private:
  const test::TemporaryDirectory directory_;
};

TEST_F(PlantedLinks, AreFoundWhereverTheyStandOnTheWay) {
  EXPECT_EQ(found("work/out"), place("work/out"));
  EXPECT_EQ(found("work/out/file"), place("work/out"));
  EXPECT_EQ(found("work/inner/../out"), place("work/out"));
  EXPECT_EQ(found("other/back/out"), place("work/out"));
}

TEST_F(PlantedLinks, AreNoneWhereTheProgramCantWrite) {
  EXPECT_EQ(found("work/out", MountMode::read_only), "");
  EXPECT_EQ(found("other/back"), "");
  EXPECT_EQ(found("missing/file"), "");
}

TEST_F(PlantedLinks, MayLeadToWhereTheProgramCanWriteAnyway) {
  EXPECT_EQ(found("work/in/file"), "");
  EXPECT_EQ(found("work/out/back/file"), "");
}

TEST_F(PlantedLinks, ThatLeadRoundAndRoundEndTheSearch) { EXPECT_EQ(found("work/round"), ""); }

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/audit.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "sandbox/sys/files.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

class AuditTest : public testing::Test {
 protected:
  [[nodiscard]] Audit open(std::uint64_t largest) {
    auto directory = sys::open_at(AT_FDCWD, directory_.path().c_str(), O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(directory);
    return {{directory_.path(), *std::move(directory)},
            [this](const sys::Error& error) { troubles_.push_back(error.message()); },
            largest};
  }
  static void add(Audit& audit, const std::string& id) {
    RunRecord record;
    record.id = id;
    audit.add({"uid:1", "run", "default", "none", "sum", ""}, record);
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(fs::path(directory_.path()) / name).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::size_t count_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }

  test::TemporaryDirectory directory_;
  std::vector<std::string> troubles_;
};

TEST_F(AuditTest, AFullLogGetsANumberAndTheOldestOfTenGoes) {
  Audit audit = open(/*largest=*/1);
  for (int i = 0; i < 12; ++i) add(audit, "run_" + std::to_string(i));
  EXPECT_EQ(count_files(), 10U);
  EXPECT_NE(text("audit.log").find("\"run_11\""), std::string::npos);
  EXPECT_NE(text("audit.log.1").find("\"run_10\""), std::string::npos);
  EXPECT_NE(text("audit.log.9").find("\"run_2\""), std::string::npos);
  EXPECT_TRUE(troubles_.empty());
}

TEST_F(AuditTest, OneThatIsNotFullGoesOnInItsFile) {
  for (const char* id : {"run_a", "run_b"}) {
    Audit audit = open(/*largest=*/1 << 20);
    add(audit, id);
  }
  EXPECT_EQ(count_files(), 1U);
  EXPECT_NE(text("audit.log").find("\"run_a\""), std::string::npos);
  EXPECT_NE(text("audit.log").find("\"run_b\""), std::string::npos);
}

TEST_F(AuditTest, WhatCanNotBeWrittenIsTold) {
  Audit audit = open(/*largest=*/1 << 20);
  fs::create_directory(fs::path(directory_.path()) / "audit.log");
  add(audit, "run_a");
  EXPECT_EQ(troubles_.size(), 1U);
}

TEST_F(AuditTest, ALinkInItsPlaceIsNotFollowed) {
  const fs::path elsewhere = fs::path(directory_.path()) / "elsewhere";
  fs::create_symlink(elsewhere, fs::path(directory_.path()) / "audit.log");
  Audit audit = open(/*largest=*/1 << 20);
  add(audit, "run_a");
  EXPECT_EQ(troubles_.size(), 1U);
  EXPECT_FALSE(fs::exists(elsewhere));
}

}  // namespace
}  // namespace wardcase::supervisor

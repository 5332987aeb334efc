// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "sandbox/sys/files.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

class RunStoreTest : public testing::Test {
 protected:
  [[nodiscard]] sys::Result<std::unique_ptr<RunStore>> try_to_open(std::size_t segment) const {
    const std::string path = directory_.path();
    auto opened = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!opened) return tl::unexpected(opened.error());
    return RunStore::open({path, *std::move(opened)}, segment);
  }
  [[nodiscard]] std::unique_ptr<RunStore> open(std::size_t segment = 1 << 20) const {
    auto store = try_to_open(segment);
    EXPECT_TRUE(store) << store.error().message();
    return *std::move(store);
  }
  [[nodiscard]] std::size_t count_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }
  // What is in the newest file.
  [[nodiscard]] fs::path newest() const {
    fs::path newest;
    for (const auto& entry : fs::directory_iterator(directory_.path())) {
      newest = std::max(newest, entry.path());
    }
    return newest;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(RunStoreTest, WhatWasAcceptedAndHowItEndedOutlivesIt) {
  {
    const auto store = open();
    EXPECT_TRUE(store->take_found().empty());
    EXPECT_TRUE(store->accept("run_a", R"({"owner":"uid:1"})"));
    EXPECT_TRUE(store->accept("run_b", "{}"));
    EXPECT_TRUE(store->end("run_a", R"({"status":"exited"})", "{\"seq\":3}\n"));
  }
  const auto found = open()->take_found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, "run_a");
  EXPECT_EQ(found[0].accepted, R"({"owner":"uid:1"})");
  EXPECT_EQ(found[0].ended, R"({"status":"exited"})");
  EXPECT_EQ(found[0].last, "{\"seq\":3}\n");
  EXPECT_EQ(found[1].id, "run_b");
  EXPECT_EQ(found[1].ended, "");
}

TEST_F(RunStoreTest, AHalfWrittenPartIsAsIfItWereNotThere) {
  {
    const auto store = open();
    EXPECT_TRUE(store->accept("run_a", "{}"));
    EXPECT_TRUE(store->accept("run_b", "{}"));
    EXPECT_TRUE(store->end("run_b", "{}", "last\n"));
  }
  const fs::path file = newest();
  const auto whole = fs::file_size(file);
  for (std::uintmax_t size = whole - 1; size >= std::string_view("+run_a {}\n").size(); --size) {
    fs::resize_file(file, size);
    const auto found = open()->take_found();
    ASSERT_GE(found.size(), 1U) << size;
    if (found.size() == 2) {
      EXPECT_EQ(found[1].last, "") << size;
    }
  }
}

TEST_F(RunStoreTest, WhatComesAfterAHalfWrittenPartIsThere) {
  { EXPECT_TRUE(open()->accept("run_a", "{}")); }
  std::ofstream(newest(), std::ios::app) << "+run_b {";
  { EXPECT_TRUE(open()->accept("run_c", "{}")); }
  const auto found = open()->take_found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].id, "run_c");
}

TEST_F(RunStoreTest, AFileGoesWhenAllThatItTellsOfIsForgotten) {
  const auto store = open(/*segment=*/64);
  for (const char* id : {"run_a", "run_b", "run_c"}) {
    EXPECT_TRUE(store->accept(id, std::string(100, 'x')));
  }
  EXPECT_EQ(count_files(), 3U);
  store->forget("run_b");
  EXPECT_EQ(count_files(), 2U);
  EXPECT_TRUE(store->end("run_a", "{}", "last\n"));
  store->forget("run_a");
  store->forget("run_c");
  EXPECT_EQ(count_files(), 1U);  // the one that is written
}

TEST_F(RunStoreTest, WhatADeadOneNeedsNoMoreGoesWithTheNextStart) {
  { EXPECT_TRUE(open()->accept("run_a", "{}")); }
  {
    const auto store = open();
    EXPECT_EQ(count_files(), 1U);
    store->forget("run_a");
    EXPECT_EQ(count_files(), 0U);
  }
}

TEST_F(RunStoreTest, TwoDoNotShareADirectory) {
  const auto first = open();
  const auto second = try_to_open(1 << 20);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EWOULDBLOCK);
}

}  // namespace
}  // namespace wardcase::supervisor

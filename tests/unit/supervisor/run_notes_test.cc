// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_notes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

RunRecord record_of(const std::string& id) {
  RunRecord record;
  record.id = id;
  record.status = RunStatus::exited;
  record.exit_code = 3;
  record.out = {.text = "a secret", .raw = "a secret", .bytes = 8};
  record.output = "a secret";
  return record;
}

class RunNotesTest : public testing::Test {
 protected:
  RunNotesTest() { ::setenv("XDG_STATE_HOME", base().c_str(), 1); }
  ~RunNotesTest() override { ::unsetenv("XDG_STATE_HOME"); }
  RunNotesTest(const RunNotesTest&) = delete;
  RunNotesTest& operator=(const RunNotesTest&) = delete;

  [[nodiscard]] std::string base() const { return directory_.path() + "/state"; }
  [[nodiscard]] std::string runs() const { return base() + "/wardcase/runs"; }
  [[nodiscard]] static std::string refusal(Missing missing) {
    const auto notes = RunNotes::open(missing);
    return notes ? "" : notes.error().message();
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(RunNotesTest, HaveNoOutputAndSaySo) {
  const std::string text = format_note(record_of("run_a"), {"run_a: exited with 3", "a \"line\""});
  EXPECT_EQ(text.find("secret"), std::string::npos);
  const auto note = parse_note(text);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->lines, (std::vector<std::string>{"run_a: exited with 3", "a \"line\""}));
  EXPECT_NE(note->record.find("\"stdout_bytes\":8,"), std::string::npos);
  EXPECT_NE(note->record.find("\"stdout_truncated\":true"), std::string::npos);
}

TEST_F(RunNotesTest, OneThatIsTooLargeIsNone) {
  RunRecord record = record_of("run_a");
  record.error.assign(200'000, 'x');
  EXPECT_EQ(format_note(record, {}), "");
}

TEST_F(RunNotesTest, AreFoundByNameOrAsTheNewest) {
  EXPECT_NE(refusal(Missing::is_error), "");  // nothing is made by reading
  EXPECT_FALSE(fs::exists(base()));
  const auto notes = RunNotes::open(Missing::is_made);
  ASSERT_TRUE(notes) << notes.error().message();
  EXPECT_NE(notes->find(std::nullopt).error().message().find("no run is remembered"),
            std::string::npos);
  for (const std::string id : {"run_a", "run_b"}) {
    ASSERT_TRUE(notes->add(id, format_note(record_of(id), {id})));
    ::usleep(2000);
  }
  EXPECT_EQ(notes->find(std::nullopt)->lines.front(), "run_b");
  EXPECT_EQ(notes->find("run_a")->lines.front(), "run_a");
  EXPECT_FALSE(notes->find("run_"));
  EXPECT_FALSE(notes->find("../run_a"));
}

TEST_F(RunNotesTest, AreTheirOwnersAlone) {
  ASSERT_TRUE(RunNotes::open(Missing::is_made)->add("run_a", "{}"));
  for (const std::string& path : {base() + "/wardcase", runs()}) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
  }
  for (const auto& entry : fs::directory_iterator(runs())) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
}

TEST_F(RunNotesTest, NoMoreThanAHundredStay) {
  const auto notes = RunNotes::open(Missing::is_made);
  ASSERT_TRUE(notes);
  for (int i = 0; i < 130; ++i) {
    const std::string id = "run_" + std::to_string(i);
    ASSERT_TRUE(notes->add(id, format_note(record_of(id), {id})));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(runs()), fs::directory_iterator()), 100);
  EXPECT_TRUE(notes->find("run_129"));
}

TEST_F(RunNotesTest, NoDirectoryOfOthersAndNoLinkIsUsed) {
  fs::create_directories(base() + "/elsewhere/runs");
  fs::create_directory_symlink(base() + "/elsewhere", base() + "/wardcase");
  EXPECT_NE(refusal(Missing::is_made), "");
  fs::remove(base() + "/wardcase");
  EXPECT_EQ(refusal(Missing::is_made), "");
  fs::permissions(runs(), fs::perms(0750));
  EXPECT_NE(refusal(Missing::is_made).find("is open to others"), std::string::npos);
  fs::permissions(runs(), fs::perms(0700));
  fs::permissions(base(), fs::perms(0777));
  EXPECT_NE(refusal(Missing::is_made).find("is open to others"), std::string::npos);
  fs::permissions(base(), fs::perms(0755));
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(runs().c_str(), 12345, 12345), 0);
  EXPECT_NE(refusal(Missing::is_made).find("belongs to somebody else"), std::string::npos);
}

TEST_F(RunNotesTest, WhatIsDamagedIsToldSo) {
  const auto notes = RunNotes::open(Missing::is_made);
  ASSERT_TRUE(notes);
  for (const std::string text : {"", "{}", "[1", "\xff", "{\"format\":2}"}) {
    EXPECT_FALSE(parse_note(text)) << text;
  }
  ASSERT_TRUE(notes->add("run_a", "{"));
  EXPECT_NE(notes->find("run_a").error().message().find("damaged note"), std::string::npos);
  std::ofstream(runs() + "/1-run_big.json") << std::string(200'000, ' ');
  EXPECT_NE(notes->find("run_big").error().message().find("is no note"), std::string::npos);
  fs::create_symlink("/etc/passwd", runs() + "/1-run_link.json");
  EXPECT_FALSE(notes->find("run_link"));
}

}  // namespace
}  // namespace wardcase::supervisor

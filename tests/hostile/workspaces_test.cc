// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that fill a directory of the host, which has no size of its own. Each has
// its control: told to put in less than the limit, the same program ends as it wants.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

class HostileWorkspaces : public HostileTest {
 protected:
  // Fills /out, whose limit is 8 MiB.
  [[nodiscard]] static Record fill(const ScratchDirectory& directory, const std::string& way,
                                   int mebibytes) {
    return hostile("workspace_filler", {way, "/out", std::to_string(mebibytes)},
                   {"-v", directory.path().string() + ":/out:rw", "--disk", "8m", "--file-size",
                    "1g", "--timeout", "20s"});
  }

  static void expect_held(const std::string& way, std::string_view what) {
    declare_attack("fill a directory of the host: " + std::string(what),
                   "a watcher of what is in writable mounts");
    const ScratchDirectory wide(caller());
    const Record control = fill(wide, way, 4);
    EXPECT_TRUE(control_works(control.out() == "armed\nfilled\n")) << control;
    EXPECT_EQ(control.status(), "exited");
    EXPECT_FALSE(control.lists("limits_hit", "disk"));

    const ScratchDirectory filled(caller());
    const Record record = fill(filled, way, 4000);
    EXPECT_EQ(record.out(), "armed\n") << record;
    EXPECT_EQ(record.status(), "disk_limit") << record;
    EXPECT_TRUE(record.lists("limits_hit", "disk"));
    EXPECT_EQ(record.text("enforced_by.disk"), "watcher");
  }
};
WARDCASE_AS_ROOT_AND_USER(HostileWorkspaces);

TEST_P(HostileWorkspaces, ManyFilesEndAtTheLimit) { expect_held("plain", "many files"); }

TEST_P(HostileWorkspaces, FilesWithoutANameCountAsWell) {
  expect_held("unnamed", "files without a name");
}

TEST_P(HostileWorkspaces, ProcessesThatMayNotBeLookedAtHideNothing) {
  expect_held("hidden", "held by a process that may not be looked at");
}

TEST_P(HostileWorkspaces, DescriptorsOfASingleThreadCountAsWell) {
  expect_held("apart", "held by a single thread");
}

TEST_P(HostileWorkspaces, DirectoriesThatAreClosedHideNothing) {
  expect_held("closed", "in directories closed to all");
}

TEST_P(HostileWorkspaces, ADirectoryThatKeepsMovingDoesNotEscape) {
  expect_held("moved", "in a directory that keeps moving");
}

TEST_P(HostileWorkspaces, AFloodEndsSoon) {
  declare_attack("fill a directory of the host as fast as it goes",
                 "a watcher of what is in writable mounts");
  no_control("four hundred gigabytes");
  const ScratchDirectory directory(caller());
  const Record record = bash("echo armed; head -c 400G /dev/zero > flood; echo filled",
                             {"--workspace", directory.path().string() + ":rw", "--disk", "8m",
                              "--file-size", "1000g", "--timeout", "20s"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "disk_limit");
  EXPECT_LT(record.number("duration_ms"), 5000);
}

TEST_P(HostileWorkspaces, WhatIsWrittenRightBeforeTheEndIsSeen) {
  declare_attack("fill a directory of the host right before the end", "a last look at the end");
  const ScratchDirectory directory(caller());
  const Record record =
      bash("echo armed; fallocate -l 9M file",
           {"--workspace", directory.path().string() + ":rw", "--disk", "8m", "--file-size", "1g"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "disk_limit");
  EXPECT_FALSE(record.is_true("success"));
  EXPECT_TRUE(
      control_works(std::filesystem::file_size(directory.path() / "file") == 9 * kMebibyte));
}

// The kernel takes the mode away from a file that is written to, but not from one that
// is changed through a mapping: what the control shows is why such a file is not given away.
TEST_P(HostileWorkspaces, AProgramThatGivesRightsIsNotThereToBeRewritten) {
  declare_attack("rewrite a setuid file of the host through a mapping",
                 "a writable mount that holds such a file is refused");
  constexpr const char* kRewrite =
      "import mmap\n"
      "print('armed', flush=True)\n"
      "with open('tool', 'r+b') as file: mmap.mmap(file.fileno(), 0)[0:4] = b'EVIL'";
  const auto mode_of = [](const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
  };
  for (const mode_t mode : {04755U, 02755U}) {
    const ScratchDirectory directory(caller());
    const std::string tool = directory.write("tool", "good", mode);
    ASSERT_EQ(::chmod(tool.c_str(), mode), 0);  // its giving away took the mode off
    const Record record = python(kRewrite, {"--workspace", directory.path().string() + ":rw"});
    EXPECT_EQ(record.status(), "setup_failed") << record;
    EXPECT_NE(record.text("error").find(tool), std::string::npos) << record;
    EXPECT_EQ(read_file(tool), "good");

    const Outcome control =
        Command::other(caller(), {"/usr/bin/env", "-C", directory.path().string(),
                                  "/usr/bin/python3", "-c", kRewrite})
            .finish();
    EXPECT_EQ(control.out(), "armed\n") << control;
    EXPECT_TRUE(control_works(read_file(tool) == "EVIL" && mode_of(tool) == mode));
  }
  const ScratchDirectory plain(caller());
  (void)plain.write("tool", "good", 0755);
  EXPECT_EQ(python(kRewrite, {"--workspace", plain.path().string() + ":rw"}).status(), "exited");
}

}  // namespace
}  // namespace wardcase::test

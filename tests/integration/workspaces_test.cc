// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Directories that are worked in: what counts against the disk limit, and whose the
// files are that stay behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

class Workspaces : public WithCaller {
 protected:
  Workspaces() : directory_(caller()) {}
  [[nodiscard]] fs::path path() const { return directory_.path(); }
  [[nodiscard]] const ScratchDirectory& directory() const { return directory_; }

  [[nodiscard]] Record work(const std::string& code, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--workspace", path().string() + ":rw"});
    return python(code, std::move(flags));
  }
  [[nodiscard]] struct stat look(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat((path() / name).c_str(), &status), 0) << name;
    return status;
  }
  [[nodiscard]] mode_t mode_of(const std::string& name) const {
    return look(name).st_mode & 07777U;
  }
  // What the caller finds there by `find`, one path a line.
  [[nodiscard]] std::string find(std::vector<std::string> tests) const {
    tests.insert(tests.begin(), {"/usr/bin/find", path().string(), "-mindepth", "1"});
    const Outcome outcome = Command::other(caller(), tests).finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return outcome.out();
  }

 private:
  ScratchDirectory directory_;
};
WARDCASE_AS_ROOT_AND_USER(Workspaces);

TEST_P(Workspaces, UnderTheLimitNothingHappens) {
  const Record record = work("open('file', 'wb').write(bytes(7 << 20))", {"--disk", "8m"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.text("enforced_by.disk"), "watcher");
  EXPECT_EQ(record.text("enforced_by.disk_inodes"), "watcher");
  EXPECT_FALSE(record.lists("limits_hit", "disk"));
}

TEST_P(Workspaces, AllThatCanBeWrittenToCountsTogether) {
  const ScratchDirectory other(caller());
  const std::string code =
      "for name in ('/box/a', '/other/a'): open(name, 'wb').write(bytes(5 << 20))";
  const std::string mount = other.path().string() + ":/other:rw";
  EXPECT_EQ(work(code, {"--disk", "8m", "-v", mount}).status(), "disk_limit");
  EXPECT_EQ(work(code, {"--disk", "16m", "-v", mount}).status(), "exited");
}

TEST_P(Workspaces, WhatWasThereBeforeDoesNotCount) {
  const std::string before = directory().write("before", "");
  const sys::UniqueFd file(::open(before.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::posix_fallocate(file.get(), 0, 24 << 20), 0);
  const Record record = work("open('file', 'wb').write(bytes(1 << 20))", {"--disk", "8m"});
  EXPECT_EQ(record.status(), "exited") << record;
  // What is removed makes room.
  const Record replaced =
      work("import os\nos.remove('before')\nopen('new', 'wb').write(bytes(24 << 20))",
           {"--disk", "8m", "--file-size", "1g"});
  EXPECT_EQ(replaced.status(), "exited") << replaced;
}

TEST_P(Workspaces, HolesCostNothingAndHardLinksCountOnce) {
  const Record record = work(
      "import os, time\n"
      "os.truncate(os.open('sparse', os.O_CREAT | os.O_WRONLY), 500 << 20)\n"
      "open('file', 'wb').write(bytes(5 << 20))\n"
      "for i in range(20): os.link('file', f'link{i}')\n"
      "time.sleep(0.2)",
      {"--disk", "8m", "--file-size", "1g"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.err(), "");
}

TEST_P(Workspaces, ManySmallFilesEndAtTheLimitOfInodes) {
  const std::string code = "for i in range(%): open(f'file{i}', 'w').close()";
  const auto run_with = [&](const std::string& count) {
    std::string some = code;
    some.replace(some.find('%'), 1, count);
    Command command =
        run_command({"--json", "--workspace", path().string() + ":rw", "-l", "python", "-c", some});
    return command.environment("WARDCASE_DISK_INODES=300").finish().record();
  };
  EXPECT_EQ(run_with("200").status(), "exited");
  const Record record = run_with("501");  // 200 of them were there
  EXPECT_EQ(record.status(), "disk_limit") << record;
  EXPECT_TRUE(record.lists("limits_hit", "disk"));
}

TEST_P(Workspaces, ADirectoryThatIsOnlyReadHasNoWatcher) {
  const Record record = record_of({"--workspace", path().string(), "--", "true"});
  EXPECT_EQ(record.text("enforced_by.disk"), "rlimit") << record;
}

// What a host says that can count two files only.
supervisor::RunRecord run_beside_too_many(const std::string& directory, bool is_required) {
  supervisor::HostOverrides host;
  host.countable_files = 2;
  supervisor::RunSpec spec = spec_of({"/bin/true"});
  spec.mounts = {{directory, "/box", policies::MountMode::read_write}};
  if (is_required) spec.limits.require(policies::LimitId::disk, 1 << 20);
  return run_in_process(std::move(spec), host).record;
}

TEST_P(Workspaces, WhatCantBeCountedIsRefusedOrTold) {
  for (const char* name : {"a", "b", "c"}) (void)directory().write(name, "");
  const std::string found = check_as(caller(), [&]() -> std::string {
    constexpr auto kDisk = static_cast<std::size_t>(policies::LimitId::disk);
    const auto refused = run_beside_too_many(path(), /*is_required=*/true);
    if (refused.status != supervisor::RunStatus::setup_failed ||
        refused.error.find("--disk: ") != 0) {
      return "it was asked for and not refused: " + refused.error;
    }
    const auto told = run_beside_too_many(path(), /*is_required=*/false);
    if (told.status != supervisor::RunStatus::exited ||
        told.enforced_by[kDisk] != sandbox::Enforcement::none) {
      return "the default does not say that nothing holds it: " + told.error;
    }
    const auto& degraded = told.isolation.degraded;
    const bool is_listed = std::ranges::any_of(
        degraded, [](const auto& entry) { return entry.feature == "workspace_quota"; });
    return is_listed ? "" : "it is not listed as degraded";
  });
  EXPECT_EQ(found, "");
}

// What takes too long to look at would hide what else was written.
TEST_P(Workspaces, NamesWithoutEndAreOverTheLimit) {
  const std::string found = check_as(caller(), [&]() -> std::string {
    const auto run_with = [&](const std::string& names) {
      const fs::path directory = path() / names;
      fs::create_directory(directory);
      supervisor::HostOverrides host;
      host.countable_files = 50;
      supervisor::RunSpec spec = spec_of(
          {"/bin/bash", "-c", ": > 0; for ((i = 1; i < " + names + "; ++i)); do ln 0 $i; done"});
      spec.mounts = {{directory, "/box", policies::MountMode::read_write}};
      spec.limits.require(policies::LimitId::disk_inodes, 50);
      return run_in_process(std::move(spec), host).record;
    };
    const auto few = run_with("90");
    if (few.status != supervisor::RunStatus::exited) return "few names: " + few.error;
    const auto many = run_with("200");
    return many.status == supervisor::RunStatus::disk_limit ? "" : "many names are not seen";
  });
  EXPECT_EQ(found, "");
}

TEST_P(Workspaces, TheCommandSaysWhichLimitItWas) {
  const Outcome outcome =
      run({"--disk", "1m", "--file-size", "1g", "--workspace", path().string() + ":rw", "--", "dd",
           "if=/dev/zero", "of=file", "bs=1M", "count=3", "status=none"});
  EXPECT_EQ(outcome.exit_code, 124) << outcome;
  EXPECT_NE(outcome.err().find("--disk"), std::string::npos) << outcome;
}

// Everything that a program may leave to trip whoever comes after it.
constexpr const char* kOddThings = R"(
import os, socket
for name in (b'new\nline', b'-rf', b'\xff\xfe', b'n' * 255, b' ', b'$(reboot)'):
    with open(name, 'w') as file: file.write('text')
os.symlink('/etc/shadow', 'shadow')
os.symlink('.', 'loop')
os.mkfifo('fifo')
socket.socket(socket.AF_UNIX).bind('socket')
os.truncate(os.open('sparse', os.O_CREAT | os.O_WRONLY), 1 << 40)
os.link('-rf', 'hard')
open('nothing', 'w').close()
os.chmod('nothing', 0)
open('shown', 'w').close()
os.chmod('shown', 0o640)
for name, mode in (('closed', 0), ('fixed', 0o555), ('odd', 0o1311)):
    os.makedirs(name + '/sub')
    open(name + '/sub/file', 'w').close()
    os.chmod(name + '/sub', mode)
    os.chmod(name, mode)
here = os.getcwd()
for _ in range(300):
    os.mkdir('d' * 40)
    os.chdir('d' * 40)
open('deep', 'w').close()
)";

TEST_P(Workspaces, WhateverIsLeftBelongsToTheCallerAndCanBeRemovedByHim) {
  const auto shadow_before = fs::status("/etc/shadow").permissions();
  const Record record = work(kOddThings, {"--file-size", "2000g"});
  ASSERT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(fs::status("/etc/shadow").permissions(), shadow_before);
  EXPECT_EQ(find({"!", "-uid", std::to_string(uid_of(caller()))}), "");
  EXPECT_EQ(find({"!", "-gid", std::to_string(uid_of(caller()))}), "");
  EXPECT_NE(find({"-name", "deep"}), "");
  EXPECT_EQ(find({"-delete"}), "");
  EXPECT_TRUE(fs::is_empty(path()));
}

TEST_P(Workspaces, ModesStayButDirectoriesAreOpenToTheirOwner) {
  const Record record = work(kOddThings, {"--file-size", "2000g"});
  ASSERT_EQ(record.number("exit_code"), 0) << record;
  EXPECT_EQ(mode_of("nothing"), 0U);
  EXPECT_EQ(mode_of("shown"), 0640U);
  EXPECT_EQ(mode_of("closed"), 0700U);
  EXPECT_EQ(mode_of("closed/sub"), 0700U);
  EXPECT_EQ(mode_of("fixed"), 0755U);
  EXPECT_EQ(mode_of("odd"), 01711U);
}

TEST_P(Workspaces, ADirectoryThatTheProgramLeftAloneStaysAsItWas) {
  ASSERT_EQ(::mkdir((path() / "own").c_str(), 0500), 0);
  ASSERT_EQ(::chown((path() / "own").c_str(), uid_of(caller()), uid_of(caller())), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the clock of files is coarse
  EXPECT_EQ(work("open('file', 'w').close()").status(), "exited");
  EXPECT_EQ(mode_of("own"), 0500U);
}

TEST_P(Workspaces, WhatIsMadeBelongsToTheOwnerOfTheDirectory) {
  for (const mode_t mode : {0700U, 0755U}) {
    const ScratchDirectory theirs(Caller::user);
    ASSERT_EQ(::chmod(theirs.path().c_str(), mode), 0);
    const Record record = bash("mkdir sub && echo text > sub/file && stat -c %u . sub/file",
                               {"--workspace", theirs.path().string() + ":rw"});
    EXPECT_EQ(record.out(), "1000\n1000\n") << record;
    for (const char* name : {"sub", "sub/file"}) {
      struct stat status {};
      ASSERT_EQ(::stat((theirs.path() / name).c_str(), &status), 0);
      EXPECT_EQ(status.st_uid, uid_of(Caller::user)) << name;
      EXPECT_EQ(status.st_gid, uid_of(Caller::user)) << name;
    }
  }
}

}  // namespace
}  // namespace wardcase::test

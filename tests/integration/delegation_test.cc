// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Control groups of version 2 as they are met: of units that were given theirs and of such that
// were not, read-only, absent, threaded, in use by others, without a controller. Each by a real
// manager and kernel: in a guest (make check-vm).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "sandbox/cgroup.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kAccount = "1000";
constexpr const char* kRoot = "0";

class Delegation : public testing::Test {
 protected:
  void SetUp() override {
    const auto host = sandbox::CgroupHost::find();
    if (::geteuid() != 0 || !host || !host->is_v2() || !fs::exists("/run/systemd/system")) {
      GTEST_SKIP() << "needs root, systemd and control groups of version 2";
    }
  }

  // `wardcase ARGUMENTS` as a transient service of the system's manager.
  static Outcome in_service(const std::string& user, const Words& properties,
                            const Words& arguments, const Words& before = {}) {
    Words argv = {"/usr/bin/systemd-run",
                  "--quiet",
                  "--wait",
                  "--pipe",
                  "--collect",
                  "-pUser=" + user,
                  "--setenv=HOME=/tmp",
                  "--setenv=XDG_STATE_HOME=/tmp"};
    for (const std::string& property : properties) argv.push_back("-p" + property);
    for (const std::string& word : before) argv.push_back(escaped(word));
    argv.push_back(Workplace::get().command());
    for (const std::string& word : arguments) argv.push_back(escaped(word));
    return Command::other(Caller::root, std::move(argv)).finish();
  }
  // systemd-run takes $NAME for a variable of the service.
  static std::string escaped(const std::string& word) {
    std::string text;
    for (const char c : word) text += c == '$' ? "$$" : std::string(1, c);
    return text;
  }
  // For wardcase to run in surroundings that a shell makes first.
  static Outcome behind(const std::string& script, const Words& arguments) {
    Words argv = {"/usr/bin/unshare",
                  "--mount",
                  "--propagation=private",
                  "/bin/bash",
                  "-c",
                  "set -e; " + script + "; exec \"$@\"",
                  "bash",
                  Workplace::get().command()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Command::other(Caller::root, std::move(argv)).finish();
  }
  static void expect_held_by(const Record& record, std::string_view holder) {
    EXPECT_EQ(record.status(), "exited") << record;
    const bool is_group = holder == "cgroup2";
    EXPECT_EQ(record.text("enforced_by.memory"), holder) << record;
    EXPECT_EQ(record.text("enforced_by.pids"), is_group ? "cgroup2" : "rlimit") << record;
    EXPECT_EQ(record.is_degraded("memory_cgroup"), !is_group);
    EXPECT_EQ(record.is_degraded("pids_cgroup"), !is_group);
  }
  // The whole row that is named so.
  static std::string row_of(const Outcome& doctor, const std::string& name) {
    const std::size_t at = doctor.out().find("  " + name);
    if (at == std::string::npos) return "no row: " + doctor.out() + doctor.err();
    const std::size_t begin = doctor.out().rfind('\n', at) + 1;  // npos + 1 is the start
    const std::size_t end = doctor.out().find('\n', at);
    const std::size_t next = doctor.out().find('\n', end + 1);
    const bool has_fix = doctor.out().compare(end + 1, 10, "      fix:") == 0;
    return doctor.out().substr(begin, (has_fix ? next : end) - begin);
  }
};
[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

const Words kPlainRun = {"run", "--json", "--", "true"};
const Words kRunOnHalf = {"run", "--json", "--cpus", "0.5", "--", "true"};
const Words kHog = {"run", "--json", "-m", "64m",
                    "-l",  "python", "-c", "b = []\nwhile True: b.append(bytearray(8 << 20))"};

TEST_F(Delegation, ADelegatedServiceHasItsOwnGroupWhoeverItIs) {
  for (const char* user : {kRoot, kAccount}) {
    const Record record = in_service(user, {"Delegate=yes"}, kRunOnHalf).record();
    expect_held_by(record, "cgroup2");
    EXPECT_EQ(record.text("enforced_by.cpus"), "cgroup2") << record;
    EXPECT_GT(record.number("memory_peak_bytes"), 0);
    const Record hog = in_service(user, {"Delegate=yes"}, kHog).record();
    EXPECT_EQ(hog.status(), "oom") << hog;
    EXPECT_GE(hog.number("oom_kills"), 1);
    const Outcome doctor = in_service(user, {"Delegate=yes"}, {"doctor", "--color", "never"});
    EXPECT_EQ(row_of(doctor, "control groups").find("ok    "), 0U) << doctor;
    EXPECT_NE(row_of(doctor, "control groups").find(".service/wardcase'"), std::string::npos);
  }
}

TEST_F(Delegation, AServiceWithoutItHasNoneButForRoot) {
  const Record user = in_service(kAccount, {}, kPlainRun).record();
  expect_held_by(user, "watcher");
  // What is asked for by name is refused where nothing can hold it.
  const Outcome half = in_service(kAccount, {}, kRunOnHalf);
  EXPECT_EQ(half.exit_code, 125) << half;
  EXPECT_NE(half.record().text("error").find("--cpus: nothing on this host"), std::string::npos);
  const Record hog = in_service(kAccount, {}, kHog).record();
  EXPECT_EQ(hog.status(), "oom") << hog;
  EXPECT_EQ(hog.text("enforced_by.memory"), "watcher");
  const Outcome doctor = in_service(kAccount, {}, {"doctor", "--color", "never"});
  EXPECT_EQ(row_of(doctor, "control groups").find("warn  "), 0U) << doctor;
  EXPECT_NE(row_of(doctor, "control groups").find("Delegate=yes"), std::string::npos) << doctor;
  // The root of the tree is root's own.
  expect_held_by(in_service(kRoot, {}, kPlainRun).record(), "cgroup2");
}

// The group of a user's own service, `$own`, and one in it, for what comes after `script`.
Words in_own_group(const std::string& script) {
  return {"/bin/bash", "-c",
          "set -e; own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup); mkdir $own/inner; " +
              script + "; exec \"$@\"",
          "bash"};
}

TEST_F(Delegation, AControllerThatWasNotDelegatedIsTheOneThatIsMissing) {
  const Words with_pids_alone =
      in_own_group("echo $$ >$own/inner/cgroup.procs; echo +pids >$own/cgroup.subtree_control");
  const Record record = in_service(kAccount, {"Delegate=yes"}, kPlainRun, with_pids_alone).record();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.text("enforced_by.pids"), "cgroup2") << record;
  EXPECT_EQ(record.text("enforced_by.memory"), "watcher") << record;
  EXPECT_FALSE(record.is_degraded("pids_cgroup"));
  EXPECT_TRUE(record.is_degraded("memory_cgroup"));
  EXPECT_NE(record.serialized().find("memory: not among the controllers"), std::string::npos)
      << record;
  const Outcome doctor =
      in_service(kAccount, {"Delegate=yes"}, {"doctor", "--color", "never"}, with_pids_alone);
  EXPECT_NE(row_of(doctor, "control groups").find("memory none, pids v2"), std::string::npos)
      << doctor;
  EXPECT_NE(row_of(doctor, "control groups").find("subtree_control"), std::string::npos) << doctor;
}

TEST_F(Delegation, AGroupThatOthersAreInIsLeftAlone) {
  const Outcome outcome =
      in_service(kAccount, {"Delegate=yes"}, kPlainRun,
                 {"/bin/bash", "-c", "sleep 60 & \"$@\"; code=$?; kill $!; exit $code", "bash"});
  const Record record = outcome.record();
  expect_held_by(record, "watcher");
  EXPECT_NE(record.serialized().find("other processes are in"), std::string::npos) << record;
  EXPECT_EQ(record.serialized().find("EBUSY"), std::string::npos) << record;
}

TEST_F(Delegation, AReadOnlyTreeIsAHostWithoutGroups) {
  const std::string script =
      "mount --bind /sys/fs/cgroup /sys/fs/cgroup && "
      "mount -o remount,bind,ro /sys/fs/cgroup";
  const Record record = behind(script, kPlainRun).record();
  expect_held_by(record, "watcher");
  EXPECT_NE(record.serialized().find("EROFS"), std::string::npos) << record;
  const Outcome doctor = behind(script, {"doctor", "--color", "never"});
  EXPECT_NE(row_of(doctor, "control groups").find("writable"), std::string::npos) << doctor;
}

TEST_F(Delegation, AnAbsentTreeIsAHostWithoutGroups) {
  const std::string script = "umount -R -l /sys/fs/cgroup";
  expect_held_by(behind(script, kPlainRun).record(), "watcher");
  const Outcome doctor = behind(script, {"doctor", "--color", "never"});
  EXPECT_NE(row_of(doctor, "control groups").find("mount the control groups"), std::string::npos)
      << doctor;
}

// Nothing can be born below one (EOPNOTSUPP), and nothing is made to be one.
TEST_F(Delegation, AThreadedGroupIsSaidToBeOne) {
  const Words in_threaded =
      in_own_group("echo threaded >$own/inner/cgroup.type; echo $$ >$own/inner/cgroup.procs");
  const Record record = in_service(kAccount, {"Delegate=yes"}, kPlainRun, in_threaded).record();
  expect_held_by(record, "watcher");
  EXPECT_NE(record.serialized().find("threaded"), std::string::npos) << record;
}

TEST_F(Delegation, ABoxThatGoesOnAfterItsMemoryIsSpentLosesOneProcess) {
  const ScratchDirectory files(Caller::root);
  ASSERT_EQ(::chmod(files.path().c_str(), 0755), 0);
  const std::string policy = files.write("p.toml", "schema = 1\noom = \"continue\"\n");
  const Words arguments = {"run",
                           "--json",
                           "--policy",
                           policy,
                           "-m",
                           "64m",
                           "-l",
                           "bash",
                           "-c",
                           "python3 -c 'b = []\nwhile True: b.append(bytearray(8 << 20))'; "
                           "echo went on"};
  const Record record = in_service(kAccount, {"Delegate=yes"}, arguments).record();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "went on\n");
  EXPECT_GE(record.number("oom_kills"), 1);
  EXPECT_TRUE(record.lists("limits_hit", "memory")) << record;
}

TEST_F(Delegation, TheProcessLimitIsToldByItsEvent) {
  const Record record =
      in_service(kAccount, {"Delegate=yes"},
                 {"run", "--json", "--pids", "8", "-l", "bash", "-c",
                  "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & done 2>/dev/null; echo end"})
          .record();
  EXPECT_TRUE(record.lists("limits_hit", "pids")) << record;
  EXPECT_EQ(record.text("enforced_by.pids"), "cgroup2");
}

}  // namespace
}  // namespace wardcase::test

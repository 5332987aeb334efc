// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Control groups of ordinary users, from their own service manager.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "sandbox/cgroup.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

// The account whose manager lingers in the guests.
constexpr const char* kAccount = "1000";
constexpr const char* kRuntime = "/run/user/1000";

bool is_pure_v2() {
  const auto host = sandbox::CgroupHost::find();
  return host && host->is_v2();
}

class UserScopes : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || !fs::exists(std::string(kRuntime) + "/systemd/private")) {
      GTEST_SKIP() << "needs root, and a service manager of user " << kAccount;
    }
  }

  // `wardcase ARGUMENTS` as that user, from outside of any group of his.
  [[nodiscard]] static Command call(const std::vector<std::string>& arguments,
                                    const std::string& runtime = kRuntime) {
    std::vector<std::string> argv = {"/usr/bin/setpriv",
                                     "--reuid",
                                     kAccount,
                                     "--regid",
                                     kAccount,
                                     "--clear-groups",
                                     "/usr/bin/env",
                                     "HOME=/tmp",
                                     "XDG_STATE_HOME=",
                                     "XDG_RUNTIME_DIR=" + runtime,
                                     Workplace::get().command().string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Command::other(Caller::root, argv);
  }
  [[nodiscard]] static Command run(std::vector<std::string> arguments,
                                   const std::string& runtime = kRuntime) {
    arguments.insert(arguments.begin(), "run");
    return call(arguments, runtime);
  }
};
[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

TEST_F(UserScopes, HoldMemoryAndProcessesAsRootsGroupsDo) {
  const Record record =
      run({"--json", "--cpus", "0.5", "--", "cat", "/proc/self/cgroup"}).finish().record();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "0::/\n");
  EXPECT_EQ(record.text("enforced_by.memory"), "cgroup2");
  EXPECT_EQ(record.text("enforced_by.pids"), "cgroup2");
  EXPECT_EQ(record.text("enforced_by.cpus"), "cgroup2");
  EXPECT_FALSE(record.is_degraded("memory_cgroup"));
  EXPECT_FALSE(record.is_degraded("pids_cgroup"));
  EXPECT_TRUE(record.is_degraded("shared_host_uid"));
}

TEST_F(UserScopes, TellOutOfMemoryByTheKernelsEvent) {
  const Record record = run({"--json", "-m", "64m", "-l", "python", "-c",
                             "b = []\nwhile True: b.append(bytearray(8 << 20))"})
                            .finish()
                            .record();
  EXPECT_EQ(record.status(), "oom") << record;
  EXPECT_GE(record.number("oom_kills"), 1);
}

TEST_F(UserScopes, LetMemoryBeHeldThatAWatcherWouldRefuse) {
  const Record record =
      run({"--json", "-l", "python", "-c",
           "import mmap, os; mmap.mmap(-1, 4096); os.memfd_create('m'); print('held')"})
          .finish()
          .record();
  EXPECT_EQ(record.out(), "held\n") << record;
}

TEST_F(UserScopes, AreOneForEachCommandAndGoWithIt) {
  Running first = run({"--", "bash", "-c", "echo up; sleep 60; :"}).start();
  ASSERT_TRUE(first.wait_for(Channel::out, "up")) << first.read_so_far(Channel::err);
  const std::string group = read_file("/proc/" + std::to_string(first.pid()) + "/cgroup");
  EXPECT_NE(group.find("/wardcase-"), std::string::npos) << group;
  EXPECT_NE(group.find(".scope/supervisor"), std::string::npos) << group;
  EXPECT_EQ(run({"--", "true"}).finish().exit_code, 0);
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish().exit_code, 128 + SIGTERM);
  std::string scope = group.substr(group.find("::") + 2);
  scope.resize(scope.find("/supervisor"));
  EXPECT_TRUE(eventually([&] { return !fs::exists("/sys/fs/cgroup" + scope); })) << scope;
}

TEST_F(UserScopes, AreWhatDoctorJudges) {
  const std::string told = call({"doctor"}).finish().out();
  EXPECT_NE(told.find("\nok    control groups    memory v2, pids v2, cpus v2"), std::string::npos)
      << told;
}

// A socket that takes calls and answers none: the run goes on without, and says why.
TEST_F(UserScopes, AreDoneWithoutWhereTheManagerDoesNotAnswer) {
  const ScratchDirectory directory(Caller::root);
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  const std::string runtime = directory.path().string() + "/runtime";
  fs::create_directories(runtime + "/systemd");
  const std::string path = runtime + "/systemd/private";
  const sys::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  // sockaddr_un stands for sockaddr, as in all of bind(2)'s uses.
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  const uid_t uid = static_cast<uid_t>(std::stoul(kAccount));
  for (const std::string& given : {runtime, runtime + "/systemd", path}) {
    ASSERT_EQ(::chown(given.c_str(), uid, uid), 0);
  }
  const Record record = run({"--json", "--", "echo", "ran"}, runtime).finish().record();
  EXPECT_EQ(record.out(), "ran\n") << record;
  EXPECT_EQ(record.text("enforced_by.memory"), "watcher");
  EXPECT_TRUE(record.is_degraded("memory_cgroup"));
  EXPECT_NE(record.serialized().find("ask your service manager for a scope: "), std::string::npos)
      << record;
}

class WithoutScopes : public WithCaller {};
WARDCASE_AS_ROOT_AND_USER(WithoutScopes);

// Their XDG_RUNTIME_DIR is a plain directory.
TEST_P(WithoutScopes, AUserIsToldThatHeHasNoManager) {
  const Record record = record_of({"--", "echo", "ran"});
  EXPECT_EQ(record.out(), "ran\n") << record;
  const bool says =
      record.serialized().find("no service manager of yours runs") != std::string::npos;
  EXPECT_EQ(says, !is_root() && is_pure_v2()) << record;
  EXPECT_EQ(record.is_degraded("memory_cgroup"), !is_root());
}

}  // namespace
}  // namespace wardcase::test

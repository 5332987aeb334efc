// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What holds a program where there are no namespaces: Landlock, the filter and the ids. Each way
// to the host that the program tries works outside, where nothing holds it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <thread>

#include "sandbox/landlock.h"
#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kWays[] = {"read",          "list",         "write",    "create",
                                 "mkdir",         "truncate",     "link",     "rename",
                                 "unlink",        "chmod",        "fchmodat", "utimes",
                                 "execute",       "tcp",          "udp",      "netlink",
                                 "unix",          "abstract",     "pair",     "environ",
                                 "mem",           "root",         "kill",     "ptrace",
                                 "oom_score_adj", "pidfd",        "prlimit",  "setpriority",
                                 "scheduler",     "chown",        "setxattr", "process_vm_readv",
                                 "shared memory", "message queue"};

sys::UniqueFd listen_on(const sockaddr_un& address, socklen_t size, int type) {
  sys::UniqueFd listener(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_TRUE(type == SOCK_DGRAM || ::listen(listener.get(), 9) == 0);
  return listener;
}

sys::UniqueFd listen_on_name(const std::string& name, bool is_abstract, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + (is_abstract ? 1 : 0), name.data(), name.size());
  sys::UniqueFd listener = listen_on(
      address,
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (is_abstract ? 1 : 0)),
      type);
  EXPECT_TRUE(is_abstract || ::chmod(name.c_str(), 0666) == 0);
  return listener;
}

// What there is of the caller on the host.
class Target {
 public:
  explicit Target(Caller caller)
      : directory_(caller),
        victim_(Command::other(caller, {Workplace::get().program("reach_host"), "victim"}).start()),
        name_("wardcase-test-" + std::to_string(::getpid())),
        abstract_(listen_on_name(name_, /*is_abstract=*/true, SOCK_STREAM)),
        stream_(listen_on_name(directory_.path() / "stream", false, SOCK_STREAM)),
        datagram_(listen_on_name(directory_.path() / "datagram", false, SOCK_DGRAM)),
        tcp_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    (void)directory_.write("secret", "of the host");
    (void)directory_.write("gone", "");
    (void)directory_.write("tool", "#!/bin/sh\n", 0755);
    EXPECT_EQ(::chmod((directory_.path() / "tool").c_str(), 0755), 0);
    EXPECT_TRUE(victim_.wait_for(Channel::out, "\n"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* place = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(tcp_.get(), place, size), 0);
    EXPECT_EQ(::listen(tcp_.get(), 4), 0);
    EXPECT_EQ(::getsockname(tcp_.get(), place, &size), 0);
    port_ = ntohs(address.sin_port);
  }

  [[nodiscard]] std::vector<std::string> arguments() const {
    std::string pid = victim_.read_so_far(Channel::out);
    pid.pop_back();
    return {directory_.path().string(), pid, std::to_string(port_), name_};
  }
  [[nodiscard]] std::string secret() const { return read_file(directory_.path() / "secret"); }

 private:
  ScratchDirectory directory_;
  Running victim_;
  std::string name_;
  sys::UniqueFd abstract_;
  sys::UniqueFd stream_;
  sys::UniqueFd datagram_;
  sys::UniqueFd tcp_;
  int port_ = 0;
};

class HostileWithoutNamespaces : public HostileTest {
 protected:
  void SetUp() override {
    HostileTest::SetUp();
    if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  }

  // `directory` is the caller's, and the program's id may write there.
  static std::vector<std::string> bare(const ScratchDirectory& directory) {
    EXPECT_EQ(::chmod(directory.path().c_str(), 0777), 0);
    const std::string path = directory.path().string();
    return {"--policy", "landlock-only", "-v", path + ":" + path + ":rw", "--timeout", "20s"};
  }

  static bool are_signals_kept() {
    return sandbox::landlock_abi().value_or(0) >= sandbox::kLandlockScopeAbi;
  }

  // `delay`: longer than the program takes to make them all.
  static void expect_gone(const std::string& way, std::chrono::milliseconds delay = 300ms) {
    declare_attack("without a pid namespace, outlive the program: " + way,
                   "init is the parent of orphans and kills whoever it may signal: the box");
    const ScratchDirectory shared(caller());
    const std::string late = shared.path() / "late";
    EXPECT_EQ(outside("survivor", {way, late, "100"}).out(), "armed\n");
    EXPECT_TRUE(control_works(eventually([&] { return std::filesystem::exists(late); })));
    EXPECT_TRUE(eventually([] { return list_descendants().empty(); }));
    std::filesystem::remove(late);

    const Record record =
        hostile("survivor", {way, late, std::to_string(delay.count())}, bare(shared));
    EXPECT_EQ(list_descendants(), "");
    EXPECT_EQ(record.out(), "armed\n") << record;
    EXPECT_EQ(record.status(), "exited");
    EXPECT_GE(record.number("leftover_processes"), 1) << record;
    std::this_thread::sleep_for(delay + 100ms);
    EXPECT_FALSE(std::filesystem::exists(late));
  }
};
WARDCASE_AS_ROOT_AND_USER(HostileWithoutNamespaces);

TEST_P(HostileWithoutNamespaces, NothingOfTheSameUserIsInReach) {
  declare_attack("reach files, sockets, processes and objects of the same user",
                 "Landlock, the filter; as root an id of its own");
  {
    const Target target(caller());
    const Record record = hostile("reach_host", target.arguments(), {"--policy", "landlock-only"});
    const bool signals_reach = !are_signals_kept() && !is_root();
    if (signals_reach) declare_not_held("from ABI 6 alone Landlock keeps an equal's signals in");
    EXPECT_EQ(record.is_degraded("signal_scope"), !are_signals_kept()) << record;
    EXPECT_EQ(record.out(), signals_reach ? "armed\nreached kill\nreached pidfd\n" : "armed\n")
        << record;
    EXPECT_EQ(target.secret(), "of the host");
  }
  const Target target(caller());
  const Outcome control = outside("reach_host", target.arguments());
  for (const char* way : kWays) {
    EXPECT_TRUE(control_works(has_text(control.out(), std::string("reached ") + way + "\n")))
        << way << ": " << control;
  }
}

TEST_P(HostileWithoutNamespaces, NobodyIsLeftInASessionOfHisOwn) { expect_gone("session"); }
TEST_P(HostileWithoutNamespaces, NobodyIsLeftByADoubleFork) { expect_gone("orphan"); }
TEST_P(HostileWithoutNamespaces, NobodyIsLeftIgnoringSignals) { expect_gone("nohup"); }
TEST_P(HostileWithoutNamespaces, NobodyIsLeftStopped) { expect_gone("stopped"); }
TEST_P(HostileWithoutNamespaces, NobodyIsLeftOfMany) { expect_gone("many", 2000ms); }

TEST_P(HostileWithoutNamespaces, NobodyOutlivesAKilledSupervisor) {
  declare_attack("without a pid namespace, outlive a supervisor that is killed",
                 "init hears its socket close, and ends all others first");
  const ScratchDirectory shared(caller());
  const std::string late = shared.path() / "late";
  std::vector<std::string> arguments = bare(shared);
  const std::string program = Workplace::get().program("survivor");
  arguments.insert(arguments.end(), {"-v", program + ":" + program, "--", "sh", "-c",
                                     program + " session " + late + " 1500; sleep 20"});
  Running running = run_command(arguments).start();
  ASSERT_TRUE(running.wait_for(Channel::out, "armed\n"));
  running.signal(SIGKILL);
  EXPECT_EQ(running.finish().signal, SIGKILL);
  EXPECT_TRUE(eventually([] { return list_descendants().empty(); }));
  std::this_thread::sleep_for(1700ms);
  EXPECT_FALSE(std::filesystem::exists(late));
  // The directory, and what else bears the dead one's name, is the next supervisor's to remove.
  EXPECT_NE(list_runtime_files(), "");
  EXPECT_EQ(run({"--policy", "landlock-only", "--", "true"}).exit_code, 0);
  EXPECT_EQ(outside("survivor", {"session", late, "100"}).out(), "armed\n");
  EXPECT_TRUE(control_works(eventually([&] { return std::filesystem::exists(late); })));
}

TEST_P(HostileWithoutNamespaces, InitAndTheSupervisorAreOutOfReach) {
  declare_attack("without a pid namespace, end init or read the supervisor's environment",
                 "Landlock keeps signals and /proc to the box; as root an id of its own");
  // Where nothing keeps them in they would stop whatever else this user runs, the test included.
  const std::string kill = are_signals_kept() || is_root() ? "kill" : "false";
  const std::string code =
      "echo armed; " + kill + " -9 $PPID && echo killed init; " + kill +
      " -STOP -1; s=$(cut -d' ' -f4 /proc/$PPID/stat); " + kill +
      " -9 $s && echo killed;"
      "cat /proc/$s/environ && echo read; cat /proc/$PPID/environ && echo read; exit 7";
  const Record record = bash(code, {"--policy", "landlock-only"});
  if (are_signals_kept()) {
    EXPECT_EQ(record.out(), "armed\n") << record;
    EXPECT_EQ(record.number("exit_code"), 7);
  } else {
    declare_not_held("from ABI 6 alone Landlock keeps an equal's signals in");
  }
  EXPECT_FALSE(has_text(record.out(), "read\n")) << record;
  // The same parent, when it is nobody's box.
  const Outcome control =
      Command::other(caller(), {"/bin/bash", "-c",
                                "sleep 20 & p=$!; cat /proc/$p/environ && echo read; kill -9 $p "
                                "&& echo killed"})
          .finish();
  EXPECT_TRUE(control_works(has_text(control.out(), "read\nkilled\n"))) << control;
}

// By its id, which nobody else has; where Landlock keeps signals in, init can't even be reached.
TEST_P(HostileWithoutNamespaces, WhoStopsInitIsEndedAllTheSame) {
  declare_attack("without a pid namespace, stop or end init and go on in a session of one's own",
                 "Landlock; as root the supervisor ends all who have the box's id");
  if (!are_signals_kept() && !is_root()) {
    no_control("it is not held");
    return declare_not_held("an equal's signals reach init below ABI 6");
  }
  for (const char* signal : {"STOP", "KILL"}) {
    const Record record =
        bash("echo armed; kill -" + std::string(signal) + " $PPID; setsid sleep 60 & sleep 0.3",
             {"--policy", "landlock-only", "--timeout", "2s", "--grace", "1s"});
    EXPECT_EQ(record.out(), "armed\n") << record;
    EXPECT_FALSE(record.is_true("unkillable")) << record;
    EXPECT_EQ(list_descendants(), "");  // orphans are ours
  }
  const Outcome control = Command::other(caller(), {"/bin/bash", "-c",
                                                    "sleep 9 & kill -STOP $! && kill -KILL $! && "
                                                    "echo done"})
                              .finish();
  EXPECT_TRUE(control_works(control.out() == "done\n"));
}

TEST_P(HostileWithoutNamespaces, WhatIsReadOnlyStaysAsItIs) {
  declare_attack("without a mount namespace, write to what was mounted to be read",
                 "Landlock gives it no right to write");
  const ScratchDirectory data(caller());
  const std::string file = data.write("data", "as it was");
  ASSERT_EQ(::chmod(data.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  const std::string path = data.path().string();
  const std::string code = "echo armed; cat " + file + "; echo x > " + file + "; rm -f " + file +
                           "; mkdir " + path + "/d; mv " + file + " " + path + "/other; true";
  const std::string mount = path + ":" + path;
  const Record record = bash(code, {"--policy", "landlock-only", "-v", mount});
  EXPECT_EQ(record.out(), "armed\nas it was") << record;
  EXPECT_EQ(read_file(file), "as it was");
  (void)bash(code, {"--policy", "landlock-only", "-v", mount + ":rw"});
  EXPECT_TRUE(control_works(!std::filesystem::exists(file)));
}

// An owner may do that by a descriptor that is open for reading alone.
TEST_P(HostileWithoutNamespaces, WhatIsReadOnlyKeepsItsAttributes) {
  declare_attack("without a mount namespace, change mode, times and attributes of an open file",
                 "the filter; as root an id of its own");
  const ScratchDirectory data(caller());
  const std::string path = data.path().string();
  ASSERT_EQ(::chmod(path.c_str(), 0777), 0);
  const std::string file = data.write("data", "as it was");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const std::vector<std::string> words = {
      "/usr/bin/python3", "-c",
      "import fcntl, os, struct\n"
      "print('armed')\n"
      "fd = os.open('" +
          file +
          "', os.O_RDONLY)\n"
          "for name, way in (('fchmod', lambda: os.fchmod(fd, 0o777)),\n"
          "                  ('fchown', lambda: os.fchown(fd, -1, os.getgid())),\n"
          "                  ('times', lambda: os.utime(fd, (1, 1))),\n"
          "                  ('setxattr', lambda: os.setxattr(fd, 'user.a', b'x')),\n"
          "                  ('removexattr', lambda: os.removexattr(fd, 'user.a'))):\n"
          "  try: way(); print('changed', name)\n"
          "  except OSError: pass\n"};
  std::vector<std::string> boxed = {"--policy", "landlock-only", "-v", path + ":" + path, "--"};
  boxed.insert(boxed.end(), words.begin(), words.end());
  const Record record = record_of(boxed);
  EXPECT_EQ(record.out(), "armed\n") << record;
  struct stat status = {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0644U);
  EXPECT_NE(status.st_mtime, 1);
  const Outcome control = Command::other(caller(), words).finish();
  for (const char* way : {"fchmod", "fchown", "times"}) {  // not all file systems have attributes
    EXPECT_TRUE(control_works(has_text(control.out(), std::string("changed ") + way + "\n")))
        << control;
  }
}

TEST_P(HostileWithoutNamespaces, ForkBombsMeetTheLimit) {
  declare_attack("without a user namespace, a fork bomb", "pids cgroup, or RLIMIT_NPROC");
  const Record record =
      hostile("fork_bomb", {"100"}, {"--policy", "landlock-only", "--pids", "20"});
  const std::string out = record.out();
  ASSERT_EQ(out.find("armed\nmade "), 0U) << record;
  EXPECT_LT(std::stoi(out.substr(11)), 20) << record;
  EXPECT_TRUE(control_works(outside("fork_bomb", {"100"}).out() == "armed\nmade 100\n"));
}

TEST_P(HostileWithoutNamespaces, APrivateDirectoryHasNoMoreThanItsBudget) {
  declare_attack("without a tmpfs, fill the host's disk", "a watcher of the private directory");
  const Record record = bash(
      "echo armed; for i in 1 2 3 4 5 6 7 8; do head -c 8m /dev/urandom > "
      "$TMPDIR/$i || exit; done; sleep 5",
      {"--policy", "landlock-only", "--disk", "16m"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "disk_limit") << record;
  const Record control = bash(
      "for i in 1 2 3 4; do head -c 8m /dev/urandom > $TMPDIR/$i || exit; "
      "done",
      {"--policy", "landlock-only", "--disk", "64m"});
  EXPECT_TRUE(control_works(control.status() == "exited")) << control;
}

}  // namespace
}  // namespace wardcase::test

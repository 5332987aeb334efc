// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Host ids of their own for the boxes of an ordinary user, to whom root gave a range.
#include "sandbox/id_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sandbox/state_lock.h"
#include "tests/support/installs.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

constexpr sandbox::IdRange kIds = {1'800'000'000, 64};
const std::vector<std::string> kReadMap = {"--", "cat", "/proc/self/uid_map"};

class IdPools : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, who gives the ids";
    make(kIds);
  }
  void TearDown() override {
    if (::geteuid() != 0) return;
    EXPECT_TRUE(sandbox::drop_id_pool(kOrdinaryUid));
    std::error_code ignored;  // others may have theirs there
    fs::remove(sandbox::IdPool::kDirectory, ignored);
  }

  static void make(const sandbox::IdRange& ids) {
    const auto made = sandbox::make_id_pool(kOrdinaryUid, kOrdinaryUid, ids);
    ASSERT_TRUE(made) << made.error().message();
  }
  [[nodiscard]] static fs::path file() {
    return fs::path(sandbox::IdPool::kDirectory) / std::to_string(kOrdinaryUid);
  }
  [[nodiscard]] static Command run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return Command(Caller::user, std::move(arguments));
  }
  [[nodiscard]] static Record record_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--json");
    return run(std::move(arguments)).finish().record();
  }
  static void end(Running& running) {
    running.signal(SIGTERM);
    EXPECT_EQ(running.finish().exit_code, 143);
  }
  // The host's id of the box's user, from a uid_map.
  [[nodiscard]] static std::uint32_t host_id(const std::string& map) {
    std::istringstream fields(map);
    std::uint32_t inside = 0;
    std::uint32_t outside = 0;
    fields >> inside >> outside;
    return outside;
  }
};
[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

TEST_F(IdPools, GiveEachBoxAnIdThatIsNotTheCallers) {
  auto first = run({"--", "bash", "-c", "cat /proc/self/uid_map; sleep 60"}).start();
  ASSERT_TRUE(first.wait_for(Channel::out, "\n"));
  const std::uint32_t id = host_id(first.read_so_far(Channel::out));
  EXPECT_TRUE(kIds.has(id));
  const Record second = record_of(kReadMap);
  EXPECT_TRUE(kIds.has(host_id(second.out()))) << second;
  EXPECT_NE(host_id(second.out()), id);
  EXPECT_TRUE(second.lists("isolation.effective", "own_host_uid"));
  EXPECT_FALSE(second.is_degraded("shared_host_uid"));
  end(first);
}

TEST_F(IdPools, LeaveNoGroupsOfTheCaller) {
  const Record record = record_of({"--", "id", "-G"});
  EXPECT_EQ(record.out(), "1000\n");
  EXPECT_TRUE(record.lists("isolation.effective", "no_supplementary_groups"));
}

TEST_F(IdPools, AreNothingThatAProgramCanEnter) {
  const Record record = record_of({"--", "bash", "-c", "ls /run/wardcase-ids; ls /proc/self/fd"});
  EXPECT_EQ(record.out(), "0\n1\n2\n3\n") << record;  // 3: of ls itself
  EXPECT_NE(record.err().find("No such file"), std::string::npos);
}

TEST_F(IdPools, LetBoxesBeEndedWithAllThatIsInThem) {
  const Record record = record_of({"--timeout", "500ms", "--grace", "100ms", "--", "bash", "-c",
                                   "trap '' TERM; setsid sleep 71 & sleep 72 & wait; sleep 73"});
  EXPECT_EQ(record.status(), "timeout") << record;
}

TEST_F(IdPools, LetAKilledSupervisorsProgramDie) {
  auto running = run({"--", "bash", "-c", "echo ready; sleep 74"}).start();
  ASSERT_TRUE(running.wait_for(Channel::out, "ready"));
  running.signal(SIGKILL);
  EXPECT_EQ(running.finish().signal, SIGKILL);
  EXPECT_EQ(run({"--", "true"}).finish().exit_code, 0);  // which sweeps what the dead one held
}

TEST_F(IdPools, LetStandardStreamsBeOpenedAgain) {
  const Outcome outcome = run({"-i", "--", "bash", "-c",
                               "read -r line </dev/stdin; echo \"$line\" >/dev/stdout; "
                               "echo err >/dev/stderr"})
                              .input("in\n")
                              .finish();
  EXPECT_EQ(outcome.out(), "in\n");
  EXPECT_EQ(outcome.err(), "err\n");
}

TEST_F(IdPools, LetTheWatcherSeeMemory) {
  const Record record =
      record_of({"-m", "64m", "-l", "python", "-c",
                 "import time\nb = []\nwhile True:\n  b.append(b'x' * (1 << 20)); "
                 "time.sleep(0.002)"});
  EXPECT_EQ(record.status(), "oom") << record;
}

TEST_F(IdPools, LetRefusedCallsBeTold) {
  const Record record = record_of({"--", "mount", "-t", "tmpfs", "none", "/tmp"});
  EXPECT_GE(record.denied("mount").value_or(0), 1) << record;
}

TEST_F(IdPools, GiveWayWhereRequirementsOfTheCallersAreShownAndThatIsTold) {
  if (!WithInstalls::has_pip()) GTEST_SKIP() << "needs pip (Debian: python3-pip)";
  const ScratchDirectory files(Caller::user);
  const PackageIndex index(Caller::user);
  index.add_wheel("one", "1.0", "value = 'one'");
  const std::string install = "[install]\nfind_links = [\"" + index.links() + "\"]\n";
  const auto record_with = [&](const std::string& policy) {
    return run({"--json", "--policy", files.write("p.toml", policy + install), "--requirement",
                "one", "-l", "python", "-c", "import one; print(one.value)"})
        .environment("XDG_CACHE_HOME=" + (files.path() / "cache").string())
        .finish()
        .record();
  };
  for (int i = 0; i < 2; ++i) {  // installed, then found
    const Record record = record_with("schema = 1\n");
    EXPECT_EQ(record.out(), "one\n") << record << record.json("install");
    EXPECT_TRUE(record.is_degraded("shared_host_uid"));
  }
  const Record demanded = record_with("schema = 1\nrequire = [\"own_host_uid\"]\n");
  EXPECT_EQ(demanded.status(), "setup_failed") << demanded;
  EXPECT_NE(demanded.text("error").find("own_host_uid"), std::string::npos) << demanded;
}

// A run with requirements has the caller's id, as it is shown them at its start.
TEST_F(IdPools, LeaveSessionsTheirIdWhereSomethingIsInstalled) {
  if (!WithInstalls::has_pip()) GTEST_SKIP() << "needs pip (Debian: python3-pip)";
  const ScratchDirectory files(Caller::user);
  const PackageIndex index(Caller::user);
  index.add_wheel("one", "1.0", "value = 'one'");
  const std::string policy = files.write(
      "p.toml", "schema = 1\nrequire = [\"own_host_uid\"]\n[install]\nfind_links = [\"" +
                    index.links() + "\"]\n");
  const auto exec = [&](std::vector<std::string> flags, const std::string& code) {
    std::vector<std::string> words = {"--session", "pool", "--json", "--policy", policy};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"-l", "python", "-c", code});
    return run(std::move(words))
        .environment("XDG_CACHE_HOME=" + (files.path() / "cache").string())
        .finish()
        .record();
  };
  const Record map = exec({}, "print(open('/proc/self/uid_map').read())");
  EXPECT_TRUE(kIds.has(host_id(map.out()))) << map;
  // The installation itself has the caller's, and is refused with it.
  EXPECT_EQ(exec({"--requirement", "one"}, "1").status(), "setup_failed");
  (void)Command(Caller::user, {"session", "rm", "pool"}).finish();
  (void)files.write("p.toml", "schema = 1\n[install]\nfind_links = [\"" + index.links() + "\"]\n");
  const Record record = exec({"--requirement", "one"},
                             "import one; print(open('/proc/self/uid_map').read(), one.value)");
  EXPECT_TRUE(kIds.has(host_id(record.out()))) << record << record.json("install");
  EXPECT_NE(record.out().find("one"), std::string::npos) << record;
  (void)Command(Caller::user, {"session", "rm", "pool"}).finish();
}

TEST_F(IdPools, ShowMountsAsFarAsTheBoxesIdMayRead) {
  const fs::path open = Workplace::get().root() / "open-to-all";
  const fs::path closed = Workplace::get().root() / "closed-to-others";
  for (const fs::path& directory : {open, closed}) {
    fs::create_directory(directory);
    ASSERT_EQ(::chown(directory.c_str(), kOrdinaryUid, kOrdinaryUid), 0);
    std::ofstream(directory / "data") << "data\n";
  }
  fs::permissions(open, static_cast<fs::perms>(0755));
  fs::permissions(closed, static_cast<fs::perms>(0700));
  EXPECT_EQ(record_of({"-v", open.string() + ":/data", "--", "cat", "/data/data"}).out(), "data\n");
  const Record refused = record_of({"-v", closed.string() + ":/data", "--", "cat", "/data/data"});
  EXPECT_FALSE(refused.is_true("success"));
  EXPECT_NE((refused.err() + refused.text("error")).find("ermission denied"), std::string::npos)
      << refused;
  fs::remove_all(open);
  fs::remove_all(closed);
}

TEST_F(IdPools, ThatAreUsedUpRefuseBoxesByTheirNumber) {
  make({kIds.first, 1});
  auto first = run({"--", "bash", "-c", "echo ready; sleep 60"}).start();
  ASSERT_TRUE(first.wait_for(Channel::out, "ready"));
  const Record second = record_of(kReadMap);
  EXPECT_EQ(second.status(), "setup_failed");
  EXPECT_NE(second.text("error").find("all 1 of"), std::string::npos) << second;
  end(first);
}

TEST_F(IdPools, ThatAreMadeAnewLeaveRunningBoxesAlone) {
  auto first = run({"--", "bash", "-c", "echo ready; read -t 1 <> <(:); echo end"}).start();
  ASSERT_TRUE(first.wait_for(Channel::out, "ready"));
  make({kIds.first + kIds.count, 8});
  EXPECT_EQ(host_id(record_of(kReadMap).out()) / 8, (kIds.first + kIds.count) / 8);
  const Outcome outcome = first.finish();
  EXPECT_EQ(outcome.out(), "ready\nend\n");
}

// Nobody gave this number ids, nor does it have a name.
TEST_F(IdPools, ThatAreDemandedAndCantBeHadSayWhatIsMissing) {
  ASSERT_TRUE(sandbox::drop_id_pool(kOrdinaryUid));
  const fs::path policy = Workplace::get().root() / "own-ids.toml";
  std::ofstream(policy) << "schema = 1\nextends = \"default\"\nrequire = [\"own_host_uid\"]\n";
  const Record record = record_of({"--policy", policy.string(), "--", "true"});
  EXPECT_EQ(record.status(), "setup_failed") << record;
  EXPECT_NE(record.text("error").find("/etc/subuid and /etc/subgid give '65531' no range"),
            std::string::npos)
      << record;
  fs::remove(policy);
}

TEST_F(IdPools, ThatAreGoneLeaveBoxesWithTheCallersIdAndSaySo) {
  ASSERT_TRUE(sandbox::drop_id_pool(kOrdinaryUid));
  const Record record = record_of(kReadMap);
  EXPECT_EQ(host_id(record.out()), kOrdinaryUid);
  EXPECT_TRUE(record.is_degraded("shared_host_uid"));
}

// Neither a plain file nor a user namespace of somebody else's is taken for one.
TEST_F(IdPools, ThatAreSomethingElseAreNotUsed) {
  ASSERT_TRUE(sandbox::drop_id_pool(kOrdinaryUid));
  std::ofstream(file()).flush();
  const Record plain = record_of(kReadMap);
  EXPECT_EQ(host_id(plain.out()), kOrdinaryUid);
  EXPECT_NE(plain.json("isolation.degraded").find("is no user namespace of this user's"),
            std::string::npos)
      << plain;
  constexpr uid_t kOther = kOrdinaryUid - 1;
  ASSERT_TRUE(sandbox::make_id_pool(kOther, kOther, kIds));
  fs::remove(file());
  fs::create_symlink(std::to_string(kOther), file());
  EXPECT_EQ(host_id(record_of(kReadMap).out()), kOrdinaryUid);
  EXPECT_TRUE(sandbox::drop_id_pool(kOther));
}

TEST_F(IdPools, AreNotMadeOfIdsThatAreInUse) {
  EXPECT_FALSE(sandbox::make_id_pool(kOrdinaryUid, kOrdinaryUid, {kOrdinaryUid - 1, 10}));
  EXPECT_FALSE(sandbox::make_id_pool(kOrdinaryUid, kOrdinaryUid, {0, 10}));
  EXPECT_FALSE(sandbox::make_id_pool(kOrdinaryUid, kOrdinaryUid, {100'000, 0}));
  EXPECT_FALSE(
      sandbox::make_id_pool(kOrdinaryUid, kOrdinaryUid, {sandbox::IdLease::kPoolFirst - 5, 10}));
}

TEST_F(IdPools, CanBeReachedWhateverTheUmaskOfTheirMaker) {
  ASSERT_TRUE(sandbox::drop_id_pool(kOrdinaryUid));
  fs::remove(sandbox::IdPool::kDirectory);
  const mode_t before = ::umask(0077);
  make(kIds);
  (void)::umask(before);
  EXPECT_TRUE(kIds.has(host_id(record_of(kReadMap).out())));
}

// Their maker is not to be led by who could write there.
TEST_F(IdPools, AreNotMadeInADirectoryThatOthersCanWrite) {
  const fs::path directory = Workplace::get().root() / "others-ids";
  fs::create_directory(directory);
  fs::permissions(directory, static_cast<fs::perms>(0777));
  const auto made = sandbox::make_id_pool(kOrdinaryUid, kOrdinaryUid, kIds, directory);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("for root to write"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(directory));
  fs::remove(directory);
}

TEST_F(IdPools, AreMadeByTheCompanionForAUserByNumber) {
  const std::string companion = Workplace::get().command().string() + "-server";
  const std::string user = std::to_string(kOrdinaryUid);
  const auto call = [&](std::vector<std::string> words) {
    words.insert(words.begin(), companion);
    return Command::other(Caller::root, words).finish();
  };
  EXPECT_EQ(call({"drop-ids", user}).exit_code, 0);
  EXPECT_FALSE(fs::exists(file()));
  const Outcome none = call({"make-ids", user});  // nobody gave this number any
  EXPECT_EQ(none.exit_code, 125);
  EXPECT_NE(none.out().find("/etc/subuid"), std::string::npos);
  EXPECT_EQ(call({"make-ids", user, std::to_string(kIds.first), "8"}).exit_code, 0);
  EXPECT_TRUE(kIds.has(host_id(record_of(kReadMap).out())));
  EXPECT_EQ(call({"make-ids", "no-such-user"}).exit_code, 125);
  EXPECT_EQ(call({"make-ids", "root"}).exit_code, 125);
}

// In the guests: an account to which /etc/subuid gives ids, with a service manager of its own.
class IdPoolsOfAccounts : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || !fs::exists("/run/user/1000/systemd/private")) {
      GTEST_SKIP() << "needs root, and a service manager of user 1000";
    }
  }

  [[nodiscard]] static Record read_map(const std::string& policy) {
    return Command::other(Caller::root, {"/usr/bin/setpriv", "--reuid", "1000", "--regid", "1000",
                                         "--init-groups", "/usr/bin/env", "HOME=/tmp",
                                         "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=/run/user/1000",
                                         Workplace::get().command().string(), "run", "--json",
                                         "--policy", policy, "--", "cat", "/proc/self/uid_map"})
        .finish()
        .record();
  }
  static void companion(const std::string& verb) {
    const std::string path = Workplace::get().command().string() + "-server";
    const Outcome outcome = Command::other(Caller::root, {path, verb, "1000"}).finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
  }
  static void expect_given_id(const Record& record) {
    EXPECT_EQ(record.status(), "exited") << record;
    const auto given = sandbox::read_subordinate_ids(1000);
    ASSERT_TRUE(given) << given.error().message();
    std::istringstream fields(record.out());
    std::uint32_t inside = 0;
    std::uint32_t outside = 0;
    fields >> inside >> outside;
    EXPECT_TRUE(given->has(outside)) << record;
  }
};

TEST_F(IdPoolsOfAccounts, LetAnOrdinaryUserRunTheProgramsOfSeveralPeople) {
  companion("make-ids");
  const Record record = read_map("multiuser");
  expect_given_id(record);
  EXPECT_EQ(record.text("enforced_by.memory"), "cgroup2");
  companion("drop-ids");
  std::error_code ignored;
  fs::remove(sandbox::IdPool::kDirectory, ignored);
}

// Without root's help, where the policy demands it: newuidmap takes some milliseconds.
TEST_F(IdPoolsOfAccounts, AreMadeByNewuidmapWhenAPolicyDemandsThem) {
  expect_given_id(read_map("multiuser"));
  const Record record = read_map("default");
  EXPECT_EQ(record.status(), "exited");
  EXPECT_TRUE(record.is_degraded("shared_host_uid"));
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Sessions in number: of their programs, and of themselves.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/sessions.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

// Of a process of the host, in KiB.
std::uint64_t resident_memory(std::int64_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    std::uint64_t size = 0;
    if (word == "VmRSS:" && status >> size) return size;
  }
  ADD_FAILURE() << "process " << pid << " is not there";
  return 0;
}

using ManyPrograms = WithSession;
WARDCASE_AS_ROOT_AND_USER(ManyPrograms);

TEST_P(ManyPrograms, LeaveTheMemoryOfKeeperAndInterpreterFlat) {
  make();
  const std::string code =
      "n = globals().get('n', 0) + 1\n"
      "print(open('/proc/self/status').read().split('VmRSS:')[1].split()[0], n)\n";
  const auto run_some = [&](int count) {
    Outcome last;
    for (int i = 0; i < count && !HasFailure(); ++i) {
      last = exec("python", code).finish();
      EXPECT_EQ(last.exit_code, 0) << last;
    }
    return static_cast<std::uint64_t>(std::stoull("0" + last.out()));
  };
  const std::int64_t keeper = state().number("keeper_pid").value_or(0);
  // What is kept for `logs` grows up to its bound: it is full before.
  EXPECT_EQ(
      exec("python", "for i in range(200): print('x' * 65535, flush=True)").finish().exit_code, 0);
  const std::uint64_t interpreter_before = run_some(10);
  const std::uint64_t keeper_before = resident_memory(keeper);
  const std::uint64_t interpreter_after = run_some(990);
  EXPECT_LT(resident_memory(keeper), keeper_before + 1024);
  EXPECT_LT(interpreter_after, interpreter_before + 1024);
  EXPECT_EQ(python_in("print(n)").out(), "1000\n");
}

using SessionLists = WithSession;
WARDCASE_AS_ROOT_AND_USER(SessionLists);

TEST_P(SessionLists, AreNotHeldUpByAKeeperThatIsStopped) {
  make();
  const auto keeper = static_cast<pid_t>(state().number("keeper_pid").value_or(0));
  ASSERT_GT(keeper, 0);
  ASSERT_EQ(::kill(keeper, SIGSTOP), 0);
  const Outcome listed = call({"session", "ls"});
  EXPECT_EQ(::kill(keeper, SIGCONT), 0);
  EXPECT_EQ(listed.exit_code, 125) << listed;
  EXPECT_NE(listed.err().find("'" + id() + "': ask its keeper: Connection timed out"),
            std::string::npos)
      << listed;
  EXPECT_EQ(call({"session", "ls"}).exit_code, 0);
}

TEST_P(SessionLists, GiveANameBackWithItsSession) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    make();
    EXPECT_EQ(call({"session", "rm", id()}).exit_code, 0);
  }
}

using SessionWords = WithSession;
WARDCASE_AS_ROOT_AND_USER(SessionWords);

TEST_P(SessionWords, TakeOptionsBeforeTheNameAndBehindIt) {
  make();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"exec", "-l", "bash", "--json", id(), "-c", "echo -5"},
        {"exec", id(), "--json", "-l", "bash", "-c", "echo -5"},
        {"exec", "-l", "bash", "-c", "echo -5", "--json", id()}}) {
    EXPECT_EQ(call(words).record().out(), "-5\n");
  }
  EXPECT_EQ(call({"session", "extend", id(), "--ttl", "2h"}).exit_code, 0);
  EXPECT_EQ(call({"logs", "--since", "0", id()}).exit_code, 0);
  Running reads = exec("bash", "read -r x; echo $x", {"--yield", "60s"}).start();
  ASSERT_TRUE(is_running_soon());
  EXPECT_EQ(call({"session", "input", id(), "-5"}).exit_code, 0);  // a text may look like one
  EXPECT_EQ(reads.finish().out(), "-5\n");
}

class ManySessions : public WithCaller {
 protected:
  static constexpr int kCount = 50;

  ~ManySessions() override {
    std::vector<std::string> words = {"session", "rm"};
    words.insert(words.end(), made_.begin(), made_.end());
    if (!made_.empty()) (void)Command(caller(), words).finish();
  }
  void make() {
    for (int i = 0; i < kCount; ++i) {
      const Outcome made = Command(caller(), {"session", "new", "--json"}).finish();
      ASSERT_EQ(made.exit_code, 0) << made;
      made_.push_back(made.record().text("session_id"));
    }
  }
  [[nodiscard]] Command exec(int number, const std::string& code) const {
    const char* const language = number % 2 == 0 ? "python" : "bash";
    return Command(caller(), {"exec", made_[static_cast<std::size_t>(number)], "-l", language, "-c",
                              code, "--yield", "600s"});  // its stdin stays open
  }
  [[nodiscard]] Outcome answer(int number, const std::string& line) const {
    return Command(caller(), {"session", "input", made_[static_cast<std::size_t>(number)], line})
        .finish();
  }

 private:
  std::vector<std::string> made_;
};
WARDCASE_AS_ROOT_AND_USER(ManySessions);

TEST_P(ManySessions, RunSideBySideAndEachKnowsItsOwn) {
  make();
  std::vector<Running> all;
  for (int i = 0; i < kCount; ++i) {
    const std::string n = std::to_string(i);
    all.push_back(exec(i, i % 2 == 0 ? "n = " + n + "\nprint('begun', flush=True)\nprint(input())"
                                     : "n=" + n + "; echo begun; read -r line; echo $line")
                      .start());
  }
  // All of them are under way before the first may go on.
  for (Running& each : all) EXPECT_TRUE(each.wait_for(Channel::out, "begun", 60s));
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(answer(i, "for " + std::to_string(i)).exit_code, 0);
  for (int i = 0; i < kCount; ++i) {
    const Outcome ended = all[static_cast<std::size_t>(i)].finish();
    EXPECT_EQ(ended.out(), "begun\nfor " + std::to_string(i) + "\n") << ended;
  }
  for (int i = 0; i < kCount; ++i) {
    const Outcome next = exec(i, i % 2 == 0 ? "print(n)" : "echo $n").finish();
    EXPECT_EQ(next.out(), std::to_string(i) + "\n") << next;
  }
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Whether a program waits for input: of real ones, by all the ways that there are to wait.
#include "sandbox/input_wait.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "supervisor/run/host.h"
#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;
using supervisor::Clock;

// A run whose stdin is a pipe that we hold.
class Waiting : public supervisor::RunObserver {
 public:
  explicit Waiting(std::vector<std::string> argv)
      : loop_(*supervisor::EventLoop::create()), run_(loop_, host_) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return;
    supervisor::RunSpec spec = spec_of(std::move(argv));
    spec.stdin_source.reset(ends[0]);
    input_.reset(ends[1]);
    run_.start(std::move(spec), *this);
  }

  void write(std::string_view text) {
    EXPECT_EQ(::write(input_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Turns until the program has written that.
  bool says(std::string_view text) {
    return turn_until([&] { return output_.find(text) != std::string::npos; });
  }
  bool comes_to_wait() {
    return turn_until([&] { return run_.is_waiting_for_input() == true; });
  }
  // "": at each look it is known not to wait.
  std::string never_waits() {
    for (int i = 0; i < 20; ++i) {
      const auto waits = run_.is_waiting_for_input();
      if (!waits) return "it is not known";
      if (*waits) return "it is taken for waiting";
      turn_for(20ms);
    }
    return "";
  }
  [[nodiscard]] supervisor::Run& run() { return run_; }
  void end() {
    run_.stop(15);
    (void)turn_until([] { return false; });
  }

 private:
  void on_start(std::string_view) override {}
  void on_output(supervisor::Stream, std::string_view bytes) override { output_ += bytes; }
  void on_end(const supervisor::RunRecord&) override {
    has_ended_ = true;
    loop_.stop();
  }
  void turn_for(std::chrono::milliseconds time) {
    loop_.at(Clock::now() + time, [this] { loop_.stop(); });
    (void)loop_.run();
  }
  template <typename Condition>
  bool turn_until(Condition holds) {
    const auto give_up = Clock::now() + 20s;
    while (!has_ended_ && Clock::now() < give_up) {
      if (holds()) return true;
      turn_for(10ms);
    }
    return false;
  }

  supervisor::EventLoop loop_;
  supervisor::Host host_;
  supervisor::Run run_;
  sys::UniqueFd input_;
  std::string output_;
  bool has_ended_ = false;
};

class InputWait : public WithCaller {
 protected:
  void SetUp() override {
    WithCaller::SetUp();
    if (::access("/proc/self/syscall", F_OK) < 0) GTEST_SKIP() << "needs /proc/PID/syscall";
  }
  // It waits, reads a line that comes, and waits again.
  static void expect_waits(std::vector<std::string> argv) {
    EXPECT_EQ(check_as(caller(),
                       [&]() -> std::string {
                         Waiting program(argv);
                         if (!program.comes_to_wait()) return "it is not seen to wait";
                         program.write("line\n");
                         if (!program.says("got line")) return "it does not read";
                         if (!program.comes_to_wait()) return "it is not seen to wait again";
                         program.end();
                         return "";
                       }),
              "")
        << argv.back();
  }
  // It says that it is ready, and goes on with something else.
  static void expect_does_not_wait(std::vector<std::string> argv, std::string_view input = "") {
    EXPECT_EQ(check_as(caller(),
                       [&]() -> std::string {
                         Waiting program(argv);
                         if (!input.empty()) program.write(input);
                         if (!program.says("ready")) return "it does not start";
                         std::string found = program.never_waits();
                         program.end();
                         return found;
                       }),
              "")
        << argv.back();
  }
  static std::vector<std::string> python(std::string code) {
    return {"/usr/bin/python3", "-uc", std::move(code)};
  }
  static std::vector<std::string> bash(std::string code) {
    return {"/bin/bash", "-c", std::move(code)};
  }
};
WARDCASE_AS_ROOT_AND_USER(InputWait);

TEST_P(InputWait, OfAReadIsSeen) {
  expect_waits(bash("while read line; do echo got $line; done"));
  expect_waits({"/usr/bin/sed", "-u", "s/^/got /"});
  expect_waits(python("while True: print('got', input())"));
}

TEST_P(InputWait, OfAnotherProcessOrThreadIsSeen) {
  expect_waits(bash("{ { sed -u 's/^/got /'; } & } <&0; wait; sleep 60"));
  expect_waits(
      python("import sys, threading, time\n"
             "def read():\n"
             "    for line in sys.stdin: print('got', line)\n"
             "threading.Thread(target=read).start()\n"
             "time.sleep(60)\n"));
}

TEST_P(InputWait, UnderAnotherNumberIsSeen) {
  expect_waits(bash("exec 7<&0 0</dev/null; while read -u 7 line; do echo got $line; done"));
}

TEST_P(InputWait, OfAPollIsSeen) {
  const std::string ways[] = {
      "poll = select.poll()\npoll.register(other)\npoll.register(0, select.POLLIN)\nwait = "
      "poll.poll",
      "wait = lambda: select.select([other, 0], [], [])",
      "poll = select.epoll()\npoll.register(other)\npoll.register(0, select.EPOLLIN)\nwait = "
      "poll.poll",
  };
  for (const std::string& way : ways) {
    expect_waits(python("import os, select\nother, _ = os.pipe()\n" + way +
                        "\nwhile True:\n    wait()\n    print('got', os.read(0, 100).decode())"));
  }
}

TEST_P(InputWait, OfNodeIsSeen) {
  expect_waits({"node", "-e", "process.stdin.on('data', (d) => console.log('got ' + d))"});
}

TEST_P(InputWait, IsNotASleepOrWork) {
  expect_does_not_wait(bash("echo ready; exec sleep 60"));
  expect_does_not_wait(bash("echo ready; while :; do :; done"));
}

TEST_P(InputWait, IsNotAReadOfSomethingElse) {
  expect_does_not_wait(bash("mkfifo other; exec 3<>other; echo ready; read -u 3"));
  expect_does_not_wait(bash("mkfifo other; exec 3<>other; echo ready; exec cat <&3"));
  const std::string begin = "import os, select\nother, _ = os.pipe()\nprint('ready')\n";
  expect_does_not_wait(python(begin + "poll = select.poll()\npoll.register(other)\npoll.poll()"));
  expect_does_not_wait(python(begin + "select.select([other], [], [])"));
  expect_does_not_wait(python(begin + "poll = select.epoll()\npoll.register(other)\npoll.poll()"));
  // The number of stdin, and whether it can be written to.
  expect_does_not_wait(python(begin + "os.dup2(other, 0)\nos.read(0, 1)"));
  expect_does_not_wait(
      python(begin + "poll = select.poll()\npoll.register(0, select.POLLPRI)\npoll.poll()"));
}

// Who works on what he got does not wait for more.
TEST_P(InputWait, IsNotAWaitWhereSomethingIsUnread) {
  expect_does_not_wait(bash("read line; echo ready; exec sleep 60"), "a\nb\n");
  expect_does_not_wait(python("import select\npoll = select.poll()\npoll.register(0, "
                              "select.POLLIN)\npoll.poll()\nprint('ready')\nimport time\n"
                              "time.sleep(60)"),
                       "a\n");
}

// Its files in /proc are root's.
TEST_P(InputWait, OfAProgramThatHidesItselfIsKnownToRootAlone) {
  const auto program = python(
      "import ctypes\n"
      "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"  // PR_SET_DUMPABLE
      "print('ready')\n"
      "while True: print('got', input())");
  if (is_root()) return expect_waits(program);
  const std::string found = check_as(caller(), [&]() -> std::string {
    Waiting hidden(program);
    if (!hidden.says("ready")) return "it does not start";
    const std::string looked = hidden.never_waits();
    hidden.end();
    return looked == "it is not known" ? "" : "it is told all the same: " + looked;
  });
  EXPECT_EQ(found, "");
}

TEST_P(InputWait, IsNotKnownOfProcessesThatMayNotBeLookedAt) {
  const std::string found = check_as(Caller::user, []() -> std::string {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return "pipe2 failed";
    const auto waits = sandbox::is_input_awaited(/*init=*/1, ends[0]);  // the host's own
    return waits ? "it is told all the same" : "";
  });
  EXPECT_EQ(found, "");
}

// T13 of the behaviours: whoever answers is told when it is time to, and only then.
TEST_P(InputWait, IsToldAsAnEventOnceForEachInput) {
  const ScratchDirectory place(caller());
  const std::string script =
      "told() { [[ $(grep -c waiting_for_input events) == $1 ]]; }\n"
      "touch events\n"
      "{ until told 1; do sleep 0.05; done; echo Bob\n"
      "  until told 2; do sleep 0.05; done; sleep 0.5; echo Eve; } |\n"
      "\"$0\" run -i --events -l python -c 'print(input(\"name?\")); print(input())' >events\n"
      "cat events";
  const Outcome outcome = Command::other(caller(), {"/bin/bash", "-c", "cd \"$1\"\n" + script,
                                                    Workplace::get().command(), place.path()})
                              .finish();
  std::string types;
  for (std::size_t at = 0; (at = outcome.out().find("\"type\":\"", at)) != std::string::npos;) {
    at += 8;
    const std::string type = outcome.out().substr(at, outcome.out().find('"', at) - at) + " ";
    if (!types.ends_with(type)) types += type;  // a line may come in two pieces
  }
  EXPECT_EQ(types.find("start stdout waiting_for_input stdout "), 0U) << outcome;
  EXPECT_NE(types.find("waiting_for_input stdout exit "), std::string::npos) << outcome;
  EXPECT_NE(outcome.out().find(R"("stdout":"name?Bob\nEve\n")"), std::string::npos) << outcome;
}

}  // namespace
}  // namespace wardcase::test

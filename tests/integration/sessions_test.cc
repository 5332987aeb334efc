// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Sessions by the command line: what stays, who waits for whom, and how programs in them end.
#include "tests/support/sessions.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

using Sessions = WithSession;
WARDCASE_AS_ROOT_AND_USER(Sessions);

TEST_P(Sessions, KeepVariablesImportsAndFiles) {
  make();
  EXPECT_EQ(python_in("import math\nx = 41\nopen('kept', 'w').write('kept')").status(), "exited");
  const Record record = python_in("print(x + 1, math.pi > 3, open('/box/kept').read())");
  EXPECT_EQ(record.out(), "42 True kept\n") << record;
  EXPECT_EQ(record.text("session_id"), id());
  EXPECT_EQ(record.text("language"), "python");
  EXPECT_FALSE(record.is_true("session_restarted"));
}

TEST_P(Sessions, AreMadeByTheFirstProgramOfRun) {
  const Outcome first = call({"run", "--session", id(), "-l", "python", "-c", "x = 1"});
  EXPECT_EQ(first.exit_code, 0) << first;
  const Outcome second = call({"run", "--session", id(), "-l", "python", "-c", "print(x)"});
  EXPECT_EQ(second.out(), "1\n") << second;
  const Outcome other =
      call({"run", "--session", id(), "--memory", "64m", "-l", "python", "-c", "print(x)"});
  EXPECT_EQ(other.exit_code, 125) << other;
  EXPECT_NE(other.err().find("made with other options"), std::string::npos) << other;
  const Outcome bash = call({"run", "--session", id(), "-l", "bash", "-c", "echo a language"});
  EXPECT_EQ(bash.out(), "a language\n") << bash;
}

TEST_P(Sessions, TellTheValueOfTheLastExpressionApartFromOutput) {
  make();
  const Record record = python_in("print('printed')\n6 * 7");
  EXPECT_EQ(record.out(), "printed\n");
  EXPECT_EQ(record.text("result.text"), "42") << record;
  EXPECT_TRUE(python_in("None").is_null("result"));
}

TEST_P(Sessions, ThatDoNotExistAreNotMadeByExec) {
  for (const std::string& name : {id(), std::string("../x"), std::string(80, 'x')}) {
    const Outcome outcome = call({"exec", name, "-c", "1"});
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find("no such session"), std::string::npos) << outcome;
  }
}

TEST_P(Sessions, AreOfTheirUserAlone) {
  make();
  const Caller other = is_root() ? Caller::user : Caller::root;
  if (!can_be(other)) GTEST_SKIP() << "there is nobody else to be";
  const Outcome outcome = Command(other, {"exec", id(), "-c", "1"}).finish();
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.err().find("no such session"), std::string::npos) << outcome;
}

// As the lock that a script holds while it makes one; this would not end before the session does.
TEST_P(Sessions, HoldNothingThatTheirMakerHadOpen) {
  const Outcome made = command({"session", "new", "--id", id()}).status_channel().finish();
  EXPECT_EQ(made.exit_code, 0) << made;
  EXPECT_EQ(state().text("state"), "idle");
}

TEST_P(Sessions, TakeANameOnce) {
  make();
  const Outcome again = call({"session", "new", "--id", id()});
  EXPECT_EQ(again.exit_code, 125);
  EXPECT_NE(again.err().find(id()), std::string::npos) << again;
  EXPECT_EQ(call({"session", "rm", id()}).exit_code, 0);
  make();
}

TEST_P(Sessions, RunOneProgramAtATimeInTheirOrder) {
  make();
  Running first =
      exec("python", "x = 1\nprint('begun', flush=True)\nimport time; time.sleep(1)\nprint(x)")
          .start();
  ASSERT_TRUE(first.wait_for(Channel::out, "begun"));
  const Record second = python_in("print(x); x = 2");
  EXPECT_EQ(second.out(), "1\n");
  EXPECT_GE(second.number("queued_ms").value_or(0), 100) << second;
  EXPECT_EQ(first.finish().out(), "begun\n1\n");
  EXPECT_EQ(python_in("print(x)").out(), "2\n");
}

TEST_P(Sessions, OfDifferentNamesRunSideBySide) {
  make();
  Running first = exec("python", "input()", {"-i"}).input("").start();
  const Outcome second =
      call({"run", "--session", id() + "b", "-l", "python", "-c", "print('not held up')"});
  EXPECT_EQ(second.out(), "not held up\n") << second;
  EXPECT_EQ(call({"session", "rm", id() + "b"}).exit_code, 0);
  (void)first.finish();
}

TEST_P(Sessions, KeepVariablesWhereAProgramIsInterrupted) {
  make();
  (void)python_in("x = 'kept'");
  Running busy =
      exec("python", "print('begun', flush=True)\nwhile True: pass", {"--timeout", "600s"}).start();
  ASSERT_TRUE(busy.wait_for(Channel::out, "begun"));
  EXPECT_EQ(call({"session", "interrupt", id()}).exit_code, 0);
  const Outcome ended = busy.finish();
  EXPECT_EQ(ended.exit_code, 128 + SIGINT) << ended;
  EXPECT_NE(ended.err().find("KeyboardInterrupt"), std::string::npos) << ended;
  EXPECT_EQ(python_in("print(x)").out(), "kept\n");
}

TEST_P(Sessions, OfferTheCallersInterruptToTheProgram) {
  make();
  (void)python_in("x = 'kept'");
  Running busy = exec("python", "print('begun', flush=True)\nwhile True: pass").start();
  ASSERT_TRUE(busy.wait_for(Channel::out, "begun"));
  busy.signal(SIGINT);
  EXPECT_EQ(busy.finish().exit_code, 128 + SIGINT);
  EXPECT_EQ(python_in("print(x)").out(), "kept\n");
}

constexpr const char* kIgnoresSignals =
    "import signal, time\n"
    "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
    "print('begun', flush=True)\n"
    "while True: time.sleep(1)\n";

TEST_P(Sessions, EndWhatIgnoresAnInterruptAndSaySo) {
  make();
  (void)python_in("x = 1\nopen('kept', 'w').close()");
  Running stubborn = exec("python", kIgnoresSignals, {"--json", "--grace", "500ms"}).start();
  ASSERT_TRUE(is_running_soon());
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(call({"session", "interrupt", id()}).exit_code, 0);
  const Record record = stubborn.finish().record();
  EXPECT_EQ(record.status(), "stopped") << record;
  EXPECT_TRUE(record.is_true("session_ended")) << record;
  const Record next = python_in("import os; print('x' in globals(), os.path.exists('kept'))");
  EXPECT_EQ(next.out(), "False True\n") << next;
  EXPECT_TRUE(next.is_true("session_restarted")) << next;
  EXPECT_FALSE(python_in("1").is_true("session_restarted"));
}

TEST_P(Sessions, HoldEachProgramToItsOwnTime) {
  make();
  (void)python_in("x = 'kept'");
  const Record record = python_in("while True: pass", {"--timeout", "1s"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_FALSE(record.is_true("session_ended"));
  EXPECT_GE(record.number("duration_ms").value_or(0), 1000);
  EXPECT_EQ(python_in("print(x)").out(), "kept\n");
  const Record busy = python_in("while True: pass", {"--cpu-time", "500ms"});
  EXPECT_EQ(busy.status(), "cpu_time") << busy;
  const Record quiet = python_in("import time; time.sleep(60)", {"--idle-timeout", "500ms"});
  EXPECT_EQ(quiet.status(), "idle") << quiet;
  const Record loud = python_in("while True: print('x' * 999)", {"--output-limit", "64k"});
  EXPECT_EQ(loud.status(), "output_limit") << loud;
  EXPECT_EQ(python_in("print(x)").out(), "kept\n");
}

TEST_P(Sessions, RefuseALimitAboveItsMaximum) {
  make();
  const Outcome outcome = exec("python", "1", {"--timeout", "601s"}).finish();
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.err().find("maximum is 600s"), std::string::npos) << outcome;
}

TEST_P(Sessions, ReplaceAnInterpreterThatExits) {
  make();
  const Record first = python_in("x = 1\nimport sys; sys.exit(3)");
  EXPECT_EQ(first.status(), "exited");
  EXPECT_EQ(first.number("exit_code"), 3) << first;
  EXPECT_TRUE(first.is_true("session_ended")) << first;
  const Record second = python_in("print('hi', 'x' in globals())");
  EXPECT_EQ(second.out(), "hi False\n");
  EXPECT_TRUE(second.is_true("session_restarted"));
}

TEST_P(Sessions, ReplaceAnInterpreterThatCrashes) {
  make();
  const Record crash = python_in("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)");
  EXPECT_EQ(crash.status(), "signaled") << crash;
  EXPECT_EQ(crash.text("signal"), "SIGSEGV");
  EXPECT_TRUE(crash.is_true("session_ended"));
  EXPECT_EQ(python_in("print('hi')").out(), "hi\n");
}

TEST_P(Sessions, TellWhereMemoryWasSpent) {
  make({"--memory", "96m"});
  const Record record = python_in("b = []\nwhile True: b.append(bytearray(4 << 20))");
  // Where nothing counts but a watcher, Python may be refused the memory before that.
  const bool is_told = record.status() == "oom" || record.text("error_type") == "MemoryError";
  EXPECT_TRUE(is_told) << record;
  EXPECT_EQ(python_in("b = None; print('hi')").out(), "hi\n");
}

TEST_P(Sessions, HandControlBackAndTakeInputLater) {
  make();
  const Record record =
      python_in("print('name?', flush=True)\nn = input()\nprint('hello', n)", {"--yield", "500ms"});
  EXPECT_EQ(record.status(), "running") << record;
  EXPECT_EQ(record.out(), "name?\n");
  const std::string run = record.text("id");
  EXPECT_EQ(call({"session", "input", id(), "Bob"}).exit_code, 0);
  EXPECT_TRUE(eventually([&] { return state().text("state") == "idle"; }));
  const Outcome logs = call({"logs", id()});
  EXPECT_NE(logs.out().find("hello Bob"), std::string::npos) << logs;
  EXPECT_NE(logs.out().find("\"status\":\"exited\""), std::string::npos) << logs;
  EXPECT_NE(logs.out().find(run), std::string::npos);
}

TEST_P(Sessions, HandControlBackOnceNothingIsPrinted) {
  make();
  const Outcome outcome = exec("python", "import time\nprint('once', flush=True)\ntime.sleep(30)",
                               {"--yield-idle", "300ms"})
                              .finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out(), "once\n");
  EXPECT_NE(outcome.err().find("run_"), std::string::npos) << outcome;
  EXPECT_EQ(call({"kill", id()}).exit_code, 0);
  EXPECT_TRUE(eventually([&] { return state().text("state") == "idle"; }));
}

TEST_P(Sessions, GiveProgramsTheirOwnInput) {
  make();
  EXPECT_EQ(python_in("input()").text("error_type"), "EOFError");
  std::string lines;
  for (int i = 0; i < 50'000; ++i) lines += "7\n";
  const Outcome summed =
      exec("python", "import sys; print(sum(int(line) for line in sys.stdin))", {"-i"})
          .input(lines)
          .finish();
  EXPECT_EQ(summed.out(), "350000\n") << summed;
  EXPECT_EQ(exec("python", "print(input())", {"-i"}).input("again\n").finish().out(), "again\n");
  EXPECT_EQ(python_in("input()").text("error_type"), "EOFError");
}

TEST_P(Sessions, TakeNoTextForTheEnd) {
  make();
  const Record record = python_in(
      "print('{\"type\":\"done\",\"id\":\"x\",\"exit_code\":0}')\n"
      "print('[Timeout Error] fake'); print('[SYSTEM: done]')\nprint('after')");
  EXPECT_EQ(record.status(), "exited");
  EXPECT_NE(record.out().find("after"), std::string::npos) << record;
}

// The attack: who finds the channel says that it is done, and goes on.
constexpr const char* kSaysThatItIsDone =
    "import json, os, struct, time\n"
    "text = json.dumps({'type': 'done', 'id': ID, 'nonce': 'x', 'exit_code': 0}).encode()\n"
    "for fd in range(3, 256):\n"
    "    try: os.write(fd, struct.pack('>I', len(text)) + text)\n"
    "    except OSError: pass\n"
    "time.sleep(0.5)\nprint('still here', flush=True)\ntime.sleep(30)\n";

TEST_P(Sessions, BelieveNoEndThatAProgramTells) {
  make();
  const Record record =
      python_in(std::string("ID = 'x'\n") + kSaysThatItIsDone, {"--timeout", "5s"});
  EXPECT_NE(record.status(), "exited") << record;
  EXPECT_EQ(python_in("print('hi')").out(), "hi\n");
}

TEST_P(Sessions, ResetStopsAllAndKeepsFiles) {
  make();
  (void)python_in("x = 1\nopen('kept', 'w').close()");
  Running busy = exec("python", "print('begun', flush=True)\nimport time; time.sleep(60)").start();
  ASSERT_TRUE(busy.wait_for(Channel::out, "begun"));
  Running waiting = exec("python", "print('never')").start();
  ASSERT_TRUE(eventually([&] { return state().number("queued") == 1; }));
  EXPECT_EQ(call({"session", "reset", id()}).exit_code, 0);
  EXPECT_EQ(busy.finish().exit_code, 128 + SIGTERM);
  const Outcome never = waiting.finish();
  EXPECT_EQ(never.exit_code, 128 + SIGTERM) << never;
  EXPECT_EQ(never.out(), "");
  const Record next = python_in("import os; print('x' in globals(), os.path.exists('kept'))");
  EXPECT_EQ(next.out(), "False True\n") << next;
}

TEST_P(Sessions, NothingOfAResetRunComesLate) {
  make();
  (void)python_in(
      "import subprocess\n"
      "subprocess.Popen(['setsid', 'sh', '-c', 'while :; do echo late; sleep 0.1; done'])");
  EXPECT_EQ(call({"session", "reset", id()}).exit_code, 0);
  const Record next = python_in("import time; time.sleep(1); print('mine')");
  EXPECT_EQ(next.out(), "mine\n") << next;
}

TEST_P(Sessions, EndWithTheirTime) {
  make({"--ttl", "1s"});
  EXPECT_TRUE(eventually([&] { return state().text("id").empty(); }));
  make({"--idle-ttl", "1s"});
  EXPECT_TRUE(eventually([&] { return state().text("id").empty(); }));
  make({"--ttl", "2s"});
  EXPECT_EQ(call({"session", "extend", "--ttl", "10m", id()}).exit_code, 0);
  EXPECT_GT(state().number("expires_in_ms").value_or(0), 60'000);
}

TEST_P(Sessions, EndWithTheirSocket) {
  make();
  (void)python_in("1");
  const fs::path place =
      is_root() ? fs::path("/run/wardcase") : Workplace::get().runtime(caller()) / "wardcase";
  ASSERT_TRUE(fs::remove(place / "sessions" / (id() + ".sock")));
  EXPECT_TRUE(eventually([] { return list_descendants().empty(); })) << list_descendants();
}

TEST_P(Sessions, OfAKilledKeeperLeaveNothing) {
  make();
  (void)python_in("import subprocess; subprocess.Popen(['setsid', 'sleep', '100'])");
  const auto keeper = static_cast<pid_t>(state().number("keeper_pid").value_or(0));
  ASSERT_GT(keeper, 1);
  ASSERT_EQ(::kill(keeper, SIGKILL), 0);
  EXPECT_TRUE(eventually([] { return list_descendants().empty(); })) << list_descendants();
  EXPECT_TRUE(state().text("id").empty());
  make();
  EXPECT_EQ(python_in("print('new')").out(), "new\n");
}

TEST_P(Sessions, SeeNothingOfTheirKeepersEnvironment) {
  make();
  const Record record = python_in("import os; print('\\n'.join(sorted(os.environ)))");
  EXPECT_EQ(record.out().find("XDG"), std::string::npos) << record;
  EXPECT_EQ(python_in("print(open('/proc/1/environ', 'rb').read())").out().find("HOME="),
            std::string::npos);
}

TEST_P(Sessions, HoldAnInterpreterThatEndsToTheProgramsTime) {
  make();
  const Record record =
      python_in("import atexit, sys, time\natexit.register(lambda: time.sleep(1000))\nsys.exit(0)",
                {"--timeout", "1s"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_TRUE(record.is_true("session_ended")) << record;
  EXPECT_EQ(python_in("print('hi')").out(), "hi\n");
}

TEST_P(Sessions, TellWhatCanNotBeginAndDoNotTryForEver) {
  make();
  (void)python_in(
      "import os, site\n"
      "place = site.getusersitepackages()\n"
      "os.makedirs(place)\n"
      "open(place + '/usercustomize.py', 'w').write('import os; os._exit(3)')");
  EXPECT_EQ(call({"session", "reset", id()}).exit_code, 0);
  EXPECT_EQ(python_in("print('never')").status(), "setup_failed");
  EXPECT_EQ(record_in("bash", "rm -rf ~/.local").status(), "exited");
  EXPECT_EQ(python_in("print('back')").out(), "back\n");
}

TEST_P(Sessions, WithTooLittleMemoryToBeginSaySo) {
  make({"--memory", "1m"});
  const Record record = python_in("print('never')");
  EXPECT_FALSE(record.is_true("success")) << record;
  EXPECT_NE(record.status(), "exited") << record;
}

TEST_P(Sessions, RefuseCodeThatTheirPolicyDenies) {
  const ScratchDirectory files(caller());
  const std::string policy =
      files.write("p.toml", "schema = 1\n[deny_code]\nwipe = \"rm -rf /\"\n");
  make({"--policy", policy});
  const Outcome denied = exec("bash", "echo ran; : rm -rf /").finish();
  EXPECT_EQ(denied.exit_code, 125) << denied;
  EXPECT_EQ(denied.out(), "");
  EXPECT_EQ(exec("bash", "echo ran").finish().out(), "ran\n");
}

TEST_P(Sessions, GoOnAfterAReaderThatWasTooSlow) {
  make();
  Running slow = exec("python", "while True: print('x' * 1000)", {"--timeout", "1s"}).start();
  EXPECT_FALSE(slow.ends_unread(3s));  // its output waits to be read
  (void)slow.finish();
  const Outcome next = exec("python", "print('y' * 3_000_000)", {"--timeout", "30s"}).finish();
  EXPECT_EQ(next.out().size(), 3'000'001U) << next.err();
}

TEST_P(Sessions, AreMadeAnewWhereAProgramEndsTheirAgent) {
  make();
  const Record record = python_in("import os, time; os.kill(2, 9); time.sleep(60)");
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_TRUE(record.is_true("session_ended")) << record;
  EXPECT_EQ(python_in("print('hi')").out(), "hi\n");
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// `run -t`: the program has a terminal of its own, and a person sits before ours.
#include "tests/support/terminal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using End = TerminalSession::End;

constexpr std::string_view kCtrlC = "\x03";
constexpr std::string_view kCtrlD = "\x04";
constexpr std::string_view kCtrlZ = "\x1a";
// Shown by the started program alone: what is typed has the quotes in it.
constexpr std::string_view kStartSleep = "bash -c 'echo ar\"\"med; exec sleep 100'\n";

class TerminalRun : public WithCaller {
 protected:
  // `wardcase run -t ARGUMENTS` on a terminal.
  [[nodiscard]] static std::vector<std::string> command(std::vector<std::string> arguments) {
    std::vector<std::string> argv = {Workplace::get().command().string(), "run", "-t"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }
  [[nodiscard]] static TerminalSession start(std::vector<std::string> arguments) {
    return {caller(), command(std::move(arguments))};
  }
  [[nodiscard]] static End finish(std::vector<std::string> arguments) {
    return start(std::move(arguments)).finish();
  }
};
WARDCASE_AS_ROOT_AND_USER(TerminalRun);

TEST_P(TerminalRun, AllThreeDescriptorsAreTheOneTerminalOfTheBox) {
  const End end = finish({"--", "bash", "-c", "tty; tty <&1; tty <&2; echo err >&2; ls /dev/pts"});
  EXPECT_EQ(end.shown, "/dev/pts/0\r\n/dev/pts/0\r\n/dev/pts/0\r\nerr\r\n0  ptmx\r\n") << end;
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(end.is_restored);
}

TEST_P(TerminalRun, WithoutTheOptionThereIsNone) {
  for (const char* flag : {"-i", "--merge-stderr"}) {
    TerminalSession session(
        caller(), {Workplace::get().command().string(), "run", flag, "--", "bash", "-c",
                   "tty; tty <&1; ls /dev/tty /dev/pts /dev/ptmx 2>/dev/null; (: >/dev/tty) "
                   "2>/dev/null || echo none"});
    const End end = session.finish();
    EXPECT_EQ(end.shown, "not a tty\r\nnot a tty\r\nnone\r\n") << end;
  }
}

TEST_P(TerminalRun, TheKindOfTerminalIsOursAndNothingIsMadeForUnattendedRuns) {
  const std::string show = "echo \"$TERM ${CI-unset} ${PAGER-unset}\"";
  EXPECT_EQ(finish({"--", "bash", "-c", show}).shown, "vt100 unset unset\r\n");
  EXPECT_EQ(finish({"-e", "TERM=ansi", "--", "bash", "-c", show}).shown, "ansi unset unset\r\n");
  EXPECT_EQ(run({"--", "bash", "-c", show}).out(), "dumb 1 cat\n");
}

TEST_P(TerminalRun, ItsSizeFollowsOurs) {
  TerminalSession session =
      start({"--", "bash", "-c",
             "stty size; trap 'stty size; exit 3' WINCH; echo armed; while :; do sleep 0.1; done"});
  ASSERT_TRUE(session.terminal().wait_for("24 80\r\narmed"));
  session.terminal().resize(40, 132);
  ASSERT_TRUE(session.terminal().wait_for("40 132"));
  EXPECT_EQ(session.finish().exit_code, 3);
}

TEST_P(TerminalRun, CtrlCInterruptsWhatRunsInsideAndTheShellGoesOn) {
  TerminalSession session = start({"--", "bash", "-i"});
  ASSERT_TRUE(session.terminal().wait_for("$ "));
  session.terminal().type(kStartSleep);
  ASSERT_TRUE(session.terminal().wait_for("armed"));
  session.terminal().type(kCtrlC);
  ASSERT_TRUE(session.terminal().wait_for("$ "));
  session.terminal().type("echo st\"\"ill here $?\n");
  ASSERT_TRUE(session.terminal().wait_for("still here 130"));
  session.terminal().type("exit 7\n");
  const End end = session.finish();
  EXPECT_EQ(end.exit_code, 7) << end;
  EXPECT_TRUE(end.is_restored);
}

TEST_P(TerminalRun, JobsCanBeStoppedAndGoOn) {
  TerminalSession session = start({"--", "bash", "-i"});
  Terminal& terminal = session.terminal();
  ASSERT_TRUE(terminal.wait_for("$ "));
  terminal.type("bash -c 'echo ar\"\"med; exec cat'\n");
  ASSERT_TRUE(terminal.wait_for("armed"));  // till then the shell would take it
  terminal.type("one\n");
  ASSERT_TRUE(terminal.wait_for("one\r\none\r\n"));
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.wait_for("Stopped"));
  ASSERT_TRUE(terminal.wait_for("$ "));
  terminal.type("fg\n");
  ASSERT_TRUE(terminal.wait_for("exec cat'\r\n"));  // which fg shows
  terminal.type("two\n");
  ASSERT_TRUE(terminal.wait_for("two\r\ntwo\r\n"));
  terminal.type(kCtrlC);
  ASSERT_TRUE(terminal.wait_for("$ "));
  terminal.type(kStartSleep);
  ASSERT_TRUE(terminal.wait_for("armed"));
  terminal.type(kCtrlZ);
  ASSERT_TRUE(terminal.wait_for("Stopped"));
  ASSERT_TRUE(terminal.wait_for("$ "));
  terminal.type("bg; jobs\n");
  ASSERT_TRUE(terminal.wait_for("Running"));
  terminal.type("kill %1; exit 7\n");
  const End end = session.finish();
  EXPECT_EQ(end.exit_code, 7) << end;
}

TEST_P(TerminalRun, CtrlDIsTheEndOfWhatIsTyped) {
  TerminalSession session = start({"--", "cat"});
  session.terminal().type("hello\n");
  ASSERT_TRUE(session.terminal().wait_for("hello\r\nhello\r\n"));
  session.terminal().type(kCtrlD);
  EXPECT_EQ(session.finish().exit_code, 0);
}

TEST_P(TerminalRun, OurTerminalIsRestoredHoweverTheRunEnds) {
  struct {
    int signal;
    int code;
  } const signals[] = {{SIGTERM, 143}, {SIGHUP, 129}, {SIGINT, 130}, {SIGQUIT, 131}};
  for (const auto& [signal, code] : signals) {
    TerminalSession session = start({"--", "bash", "-c", "echo armed; exec sleep 100"});
    ASSERT_TRUE(session.terminal().wait_for("armed"));
    EXPECT_TRUE(session.terminal().is_raw());
    EXPECT_EQ(::kill(session.pid(), signal), 0);
    const End end = session.finish();
    EXPECT_EQ(end.exit_code, code) << end;
    EXPECT_TRUE(end.is_restored) << end;
  }
  const std::pair<std::vector<std::string>, int> ends[] = {
      {{"--timeout", "300ms", "--", "sleep", "100"}, 124},
      {{"--idle-timeout", "300ms", "--", "cat"}, 124},
      {{"--output-limit", "10k", "--", "yes"}, 124},
      {{"--", "no-such-program"}, 127},
      {{"no-such-file.py"}, 127},
      {{"-w", "/no/such/directory", "--", "true"}, 125}};
  for (const auto& [arguments, code] : ends) {
    const End end = finish(arguments);
    EXPECT_EQ(end.exit_code, code) << end;
    EXPECT_TRUE(end.is_restored) << end;
  }
}

TEST_P(TerminalRun, WhileWeAreStoppedTheTerminalIsTheShells) {
  TerminalSession session = start({"--", "bash", "-c", "echo armed; exec cat"});
  Terminal& terminal = session.terminal();
  ASSERT_TRUE(terminal.wait_for("armed"));
  EXPECT_EQ(::kill(session.pid(), SIGTSTP), 0);
  EXPECT_TRUE(eventually([&] { return !terminal.is_raw(); }));
  const auto state = "/proc/" + std::to_string(session.pid()) + "/status";
  EXPECT_TRUE(
      eventually([&] { return read_file(state).find("T (stopped)") != std::string::npos; }));
  EXPECT_EQ(::kill(session.pid(), SIGCONT), 0);
  EXPECT_TRUE(eventually([&] { return terminal.is_raw(); }));
  terminal.type("on\n");
  ASSERT_TRUE(terminal.wait_for("on\r\non\r\n"));
  terminal.type(kCtrlD);
  const End end = session.finish();
  EXPECT_EQ(end.exit_code, 0) << end;
  EXPECT_TRUE(end.is_restored);
}

// As every program that wants the terminal: stopped until it is called to the front.
TEST_P(TerminalRun, StartedInTheBackgroundItStops) {
  const auto in_background = [](std::string then) {
    std::vector<std::string> argv = {
        "bash", "-c",
        "set -m; \"$@\" & until jobs | grep -q Stopped; do sleep 0.1; done; " + std::move(then),
        "-"};
    const auto wardcase = command({"--", "echo", "hello"});
    argv.insert(argv.end(), wardcase.begin(), wardcase.end());
    return TerminalSession(caller(), argv).finish();
  };
  const End called = in_background("fg");
  EXPECT_NE(called.shown.find("hello\r\n"), std::string::npos) << called;
  EXPECT_EQ(called.exit_code, 0);
  EXPECT_TRUE(called.is_restored);
  const End killed = in_background("kill %1; while kill -0 $!; do sleep 0.1; done; wait $!");
  EXPECT_EQ(killed.shown.find("hello\r\n"), std::string::npos) << killed;
  EXPECT_EQ(killed.exit_code, 143) << killed;
}

TEST_P(TerminalRun, NothingOfTheOutputIsLostAtTheEnd) {
  std::ostringstream wanted;
  for (int i = 1; i <= 20000; ++i) wanted << i << "\r\n";
  EXPECT_TRUE(finish({"--", "seq", "20000"}).shown == wanted.str());
  // A process that stays behind and holds the terminal is not waited for.
  const End end = finish({"--", "bash", "-c", "trap '' HUP; sleep 100 & echo over"});
  EXPECT_EQ(end.shown, "over\r\n") << end;
}

TEST_P(TerminalRun, ItCanBeClosedAndOpenedAgain) {
  const End end =
      finish({"--", "bash", "-c", "exec <&- >&- 2>&-; sleep 0.3; exec >/dev/tty; echo back"});
  EXPECT_EQ(end.shown, "back\r\n") << end;
}

TEST_P(TerminalRun, TheProgramCanMakeMoreTerminals) {
  const End end =
      finish({"--", "python3", "-c",
              "import pty, os; pty.spawn(['tty']); print(sorted(os.listdir('/dev/pts')))"});
  EXPECT_EQ(end.shown, "/dev/pts/1\r\n['0', 'ptmx']\r\n") << end;
}

// As after su(1): it can't be opened anew.
TEST_P(TerminalRun, OurTerminalMayBelongToSomebodyElse) {
  TerminalSession session(caller(), command({"--", "cat"}), Caller::root);
  session.terminal().type("hello\n");
  ASSERT_TRUE(session.terminal().wait_for("hello\r\nhello\r\n"));
  session.terminal().type(kCtrlD);
  const End end = session.finish();
  EXPECT_EQ(end.exit_code, 0) << end;
  EXPECT_TRUE(end.is_restored);
}

TEST_P(TerminalRun, TheRecordComesOnTheStatusDescriptor) {
  const End end = finish(
      {"--status-fd", std::to_string(kStatusFd), "--", "bash", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(end.shown, "out\r\nerr\r\n") << end;
  EXPECT_NE(end.status.find("\"stdout_bytes\":10"), std::string::npos) << end.status;
  EXPECT_NE(end.status.find("\"stderr_bytes\":0"), std::string::npos) << end.status;
}

TEST_P(TerminalRun, WhatItCantBeUsedWithIsSaid) {
  const Outcome no_terminal = run({"-t", "--", "true"});
  EXPECT_EQ(no_terminal.exit_code, 125);
  EXPECT_NE(no_terminal.err().find("stdin is not a terminal; use -i"), std::string::npos)
      << no_terminal;
  const std::pair<std::vector<std::string>, const char*> refusals[] = {
      {{"-t", "--json", "--", "true"}, "in place of --json use --status-fd N"},
      {{"-t", "--events", "--", "true"}, "in place of --events use --status-fd N"},
      {{"-t", "--stdin", "/dev/null", "--", "true"}, "-t and --stdin"},
      {{"-t", "-l", "python", "-"}, "-t: stdin is the program already"}};
  for (const auto& [arguments, words] : refusals) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find(words), std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/supervisor/agent/worker_test.h"

namespace wardcase::test {
namespace {

class BashWorker : public WorkerTest<LiveWorker::Language::bash> {
 protected:
  [[nodiscard]] std::int64_t status() { return done["exit_code"].as_int64(); }
};

TEST_F(BashWorker, KeepsTheStateOfTheShell) {
  EXPECT_EQ(worker.ready().at("version").as_string().find_first_not_of("0123456789."),
            std::string::npos);
  EXPECT_EQ(output_of("x=5; f() { echo f$1; }; declare -A m=([a]=1); cd /usr/lib; set -o pipefail\n"
                      "trap 'echo usr' USR1; sleep 100 & set -- p q"),
            "");
  EXPECT_EQ(output_of("echo $x ${m[a]} $PWD $# $2; f 2; [[ -o pipefail ]] && echo pipefail"),
            "5 1 /usr/lib 2 q\nf2\npipefail\n");
  EXPECT_EQ(output_of("kill -USR1 $$; jobs | grep -c Running; kill %1"), "usr\n1\n");
}

TEST_F(BashWorker, TellsTheLastStatusAndKeepsIt) {
  (void)output_of("(exit 7)");
  EXPECT_EQ(status(), 7);
  EXPECT_EQ(output_of("echo $?"), "7\n");
  EXPECT_EQ(output_of("echo $?"), "0\n");
  (void)output_of("no_such_command");
  EXPECT_EQ(status(), 127);
  EXPECT_EQ(worker.err(), "exec-4.sh: line 1: no_such_command: command not found\n");
}

TEST_F(BashWorker, CountsLinesFromTheProgramsOwnFirst) {
  (void)output_of("\n\nno_such_command");
  EXPECT_EQ(worker.err().find("exec-1.sh: line 3: "), 0U);
  EXPECT_EQ(output_of("echo $LINENO\necho $LINENO"), "1\n2\n");
}

// A heredoc arrives as it was sent.
TEST_F(BashWorker, ChangesNoByteOfAHeredoc) {
  const std::string body = "\ttab\n!! $x 'quoted' \"twice\" \\ back\nEOF \ncr\r\n\xff\xfe\n";
  (void)output_of("cat >out <<'EOF'\n" + body + "EOF\n");
  std::ifstream file(place.path() + "/out", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), body);
}

TEST_F(BashWorker, RefusesASyntaxErrorWithoutHarm) {
  (void)output_of("x=kept");
  EXPECT_EQ(output_of("touch begun\necho 'open"), "");
  EXPECT_EQ(told("type"), "SyntaxError");
  EXPECT_EQ(told("line"), "2");
  EXPECT_NE(told("message").find("unexpected EOF"), std::string::npos);
  EXPECT_EQ(worker.err().find("exec-2.sh: line 2: "), 0U);
  EXPECT_EQ(status(), 2);
  EXPECT_FALSE(std::filesystem::exists(place.path() + "/begun"));
  EXPECT_EQ(output_of("echo next $x"), "next kept\n");
  EXPECT_EQ(error_of("if true; then \"\\\t"), "SyntaxError");
  EXPECT_EQ(error_of("shopt -s extglob\n[[ ab == a@(b) ]]"), "");
}

TEST_F(BashWorker, TakesNoPromptForAnEnd) {
  EXPECT_EQ(output_of("printf 'root@host:~# \\n'; sleep 0.2; echo Results:; printf 'b\\xff  \\n'"),
            "root@host:~# \nResults:\nb\xff  \n");
  EXPECT_EQ(output_of("echo next"), "next\n");
}

TEST_F(BashWorker, EndsByExit) {
  worker.begin("exit 3");
  EXPECT_EQ(worker.answer()["type"], "begun");
  EXPECT_TRUE(worker.answer().empty());
  EXPECT_TRUE(ends_with(3));
}

TEST_F(BashWorker, OutlivesOptionsThatEndScripts) {
  EXPECT_EQ(output_of("set -eu; echo on"), "on\n");
  EXPECT_EQ(output_of("[[ -e /nowhere ]] && echo never"), "");
  EXPECT_EQ(status(), 1);
  EXPECT_EQ(output_of("echo 'open"), "");
  EXPECT_EQ(output_of("echo still"), "still\n");
  worker.begin("echo last; false; echo never");
  EXPECT_EQ(worker.answer()["type"], "begun");
  EXPECT_TRUE(worker.answer().empty());
  EXPECT_TRUE(ends_with(1));
  EXPECT_EQ(worker.out(), "last\n");
}

TEST_F(BashWorker, OutlivesWhatMeansItsLoop) {
  EXPECT_EQ(output_of("break; echo never"), "");
  EXPECT_EQ(output_of("continue 5; echo never"), "");
  EXPECT_EQ(output_of("break 99; echo never"), "");
  EXPECT_EQ(output_of("return 3; echo goes on"), "goes on\n");
  EXPECT_EQ(output_of("while :; do break 2; done; echo kept"), "");
  EXPECT_EQ(output_of("exec >file; echo inside"), "");
  EXPECT_EQ(output_of("exec >/dev/null; unset IFS; IFS=abcdenox; set -f; cd /"), "");
  EXPECT_EQ(status(), 0);
  EXPECT_EQ(output_of("shopt -s nullglob failglob; set -C; alias read=false; read() { false; }"),
            "");
  EXPECT_EQ(status(), 0);
  EXPECT_EQ(output_of("(exit 4)"), "");
  EXPECT_EQ(status(), 4);
}

TEST_F(BashWorker, ShowsOnlyTheProgramInItsTrace) {
  EXPECT_EQ(output_of("set -x; PS4='+ '; echo a"), "a\n");
  (void)worker.err();
  EXPECT_EQ(output_of("echo b"), "b\n");
  EXPECT_EQ(worker.err(), "+++ echo b\n");  // one for each eval around it
}

TEST_F(BashWorker, CallsAnErrTrapForTheProgramAlone) {
  (void)output_of("trap 'echo failed' ERR");
  EXPECT_EQ(output_of("false; true"), "failed\n");
  EXPECT_EQ(output_of("false"), "failed\n");
  EXPECT_EQ(output_of("true"), "");
}

TEST_F(BashWorker, EndsWhatIsInterruptedAndKeepsTheRest) {
  (void)output_of("kept=7");
  for (const char* const code : {
           "echo up; while :; do :; done; echo BAD",
           "echo up; sleep 100; echo BAD\necho BAD",
           "f() { g; echo BAD; }; g() { while :; do h; done; echo BAD; }\n"
           "h() { sleep 100; echo BAD; }; echo up; f\necho BAD",
           "echo up; read line; echo BAD",
           "f() { read line; echo BAD; }; echo up; f; echo BAD",
           "sleep 100 & echo up; wait; echo BAD",
           "echo up; sleep 100 | cat; echo BAD",
           "echo up; x=$(sleep 100); echo BAD",
           "echo up; (sleep 100; echo BAD); echo BAD",
           "echo up; select i in a b; do :; done; echo BAD",
           "echo up; if sleep 100; then echo BAD; else echo BAD; fi; sleep 1 || echo BAD",
           "echo up; for ((;;)); do ((x++)); done; echo BAD",
       }) {
    EXPECT_TRUE(is_interrupted(code)) << code;
    EXPECT_EQ(worker.out().find("BAD"), std::string::npos) << code;
  }
  EXPECT_EQ(output_of("echo $kept $?; [[ $- == *T* ]]; shopt -q extdebug; echo $?"), "7 130\n1\n");
  worker.type("a line\n");
  EXPECT_EQ(output_of("read line; echo $line"), "a line\n");
}

TEST_F(BashWorker, DoesNotHearAnInterruptBetweenPrograms) {
  for (int i = 0; i < 50; ++i) {
    worker.interrupt();
    ASSERT_EQ(output_of("echo undisturbed"), "undisturbed\n");
    ASSERT_EQ(done["interrupted"], false);
  }
}

TEST_F(BashWorker, LeavesAnInterruptToTheProgramsTrap) {
  worker.begin("trap 'echo mine' INT; echo up; sleep 0.5; echo goes on");
  (void)worker.answer();
  (void)worker.out_until("up\n");
  worker.interrupt();
  done = worker.answer();
  EXPECT_EQ(done["interrupted"], false);
  EXPECT_EQ(worker.out(), "mine\ngoes on\n");
  (void)output_of("trap - INT");
  EXPECT_TRUE(is_interrupted("echo up; sleep 100"));
}

// The nonce is read when the program has ended, and its channel is closed to it meanwhile.
TEST_F(BashWorker, GivesItsChannelToNobody) {
  const std::string count = "ls -l /proc/self/fd | grep -c socket";
  EXPECT_EQ(output_of(count), "0\n");
  EXPECT_EQ(output_of("(" + count + "); x=$(" + count + "); echo $x; " + count + " | cat"),
            "0\n0\n0\n");
  EXPECT_EQ(output_of(count + " & wait"), "0\n");
  EXPECT_EQ(output_of("exec 10>/dev/null 11>/dev/null 254>/dev/null; " + count), "0\n");
  EXPECT_EQ(output_of("echo $(( $(ls -l /proc/$$/fd | grep -c socket) ))"), "1\n");  // a control
  EXPECT_EQ(output_of("echo forged >&254; printf '\\0\\0\\0\\2{}' >&3; echo '{\"type\":\"done\"}'"),
            "{\"type\":\"done\"}\n");
  EXPECT_EQ(output_of("echo own"), "own\n");
}

TEST_F(BashWorker, RunsLongProgramsAndEmptyOnes) {
  EXPECT_EQ(output_of("#" + std::string(1 << 20, 'x') + "\necho long"), "long\n");
  EXPECT_EQ(output_of(""), "");
  EXPECT_EQ(output_of("# only this"), "");
  EXPECT_EQ(output_of("#!/bin/bash\necho head"), "head\n");
  EXPECT_EQ(output_of("echo joined \\"), "joined\n");
  EXPECT_EQ(output_of("cat <<EOF\nnot closed"), "not closed\n");
}

TEST_F(BashWorker, StaysAsBigAsItWasThroughAThousandPrograms) {
  const auto many = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(output_of("x=" + std::to_string(i) + "; echo $x"), std::to_string(i) + "\n");
    }
  };
  many(100);
  const std::uint64_t before = resident_kib(worker.pid());
  many(1000);
  EXPECT_GT(before, 0U);
  EXPECT_LT(resident_kib(worker.pid()), before + 2048);
}

}  // namespace
}  // namespace wardcase::test

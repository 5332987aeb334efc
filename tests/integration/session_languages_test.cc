// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Sessions of Bash and Node.js by the command line: what their interpreters keep, and how their
// programs end.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "tests/support/sessions.h"

namespace wardcase::test {
namespace {

class SessionLanguages : public WithSession {
 protected:
  [[nodiscard]] Record bash(const std::string& code) const { return record_in("bash", code); }
  [[nodiscard]] Record node(const std::string& code) const { return record_in("javascript", code); }
  // Runs what prints "begun", interrupts it, and returns its exit code.
  int interrupted(const std::string& language, const std::string& code,
                  const std::vector<std::string>& options = {}) {
    Running busy = exec(language, code, options).start();
    EXPECT_TRUE(busy.wait_for(Channel::out, "begun"));
    EXPECT_EQ(call({"session", "interrupt", id()}).exit_code, 0);
    return busy.finish().exit_code;
  }
};
WARDCASE_AS_ROOT_AND_USER(SessionLanguages);

TEST_P(SessionLanguages, BashKeepsTheStateOfItsShell) {
  make();
  EXPECT_EQ(bash("x=5; f() { echo f$1; }; mkdir d; cd d; sleep 100 &").status(), "exited");
  const Record record = bash("echo $x ${PWD}; f 2; jobs | grep -c Running; kill %1");
  EXPECT_EQ(record.out(), "5 /box/d\nf2\n1\n") << record;
}

TEST_P(SessionLanguages, BashChangesNoByteOfAHeredoc) {
  make();
  const std::string body = "\ttab\n!! $x 'single' \"double\" \\\nEOF \ncr\r\n";
  const Record record = bash("cat >out <<'EOF'\n" + body + "EOF\nmd5sum <out; cat out");
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out().substr(record.out().find('\n') + 1), body);
}

TEST_P(SessionLanguages, BashRefusesASyntaxErrorWithoutHarm) {
  make();
  const Record first = bash("echo 'open");
  EXPECT_FALSE(first.is_true("success")) << first;
  EXPECT_EQ(first.text("error_type"), "SyntaxError") << first;
  EXPECT_FALSE(first.is_true("session_ended"));
  EXPECT_EQ(bash("echo next").out(), "next\n");
}

TEST_P(SessionLanguages, BashThatExitsIsReplaced) {
  make();
  const Record first = bash("exit 3");
  EXPECT_EQ(first.number("exit_code"), 3) << first;
  EXPECT_TRUE(first.is_true("session_ended")) << first;
  const Record second = bash("echo hi");
  EXPECT_EQ(second.out(), "hi\n");
  EXPECT_TRUE(second.is_true("session_restarted")) << second;
}

TEST_P(SessionLanguages, BashKeepsVariablesWhereAProgramIsInterrupted) {
  make();
  (void)bash("kept=7");
  EXPECT_EQ(interrupted("bash", "echo begun; while :; do :; done; echo never"), 128 + SIGINT);
  EXPECT_EQ(interrupted("bash", "echo begun; sleep 100; echo never"), 128 + SIGINT);
  const Record record = bash("echo $kept");
  EXPECT_EQ(record.out(), "7\n") << record;
  EXPECT_FALSE(record.is_true("session_restarted"));
}

TEST_P(SessionLanguages, BashThatTrapsAnInterruptIsReset) {
  make();
  (void)bash("kept=7");
  (void)interrupted("bash", "trap '' INT TERM; echo begun; while :; do :; done",
                    {"--grace", "500ms"});
  const Record record = bash("echo ${kept-gone}");
  EXPECT_EQ(record.out(), "gone\n") << record;
  EXPECT_TRUE(record.is_true("session_restarted"));
}

TEST_P(SessionLanguages, BashRefusesWhatItCanNotRead) {
  make();
  const Outcome outcome =
      command({"exec", id(), "-l", "bash", "-"}).input(std::string("echo a\0b", 8)).finish();
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("NUL"), std::string::npos) << outcome;
  EXPECT_EQ(bash("echo next").out(), "next\n");
}

TEST_P(SessionLanguages, NodeKeepsWhatProgramsDeclare) {
  make();
  EXPECT_EQ(node("const x = 41; let y = await Promise.resolve(1); class C {}").status(), "exited");
  const Record record = node("console.log(typeof C); const x = 1; x + y");
  EXPECT_EQ(record.out(), "function\n") << record;
  EXPECT_EQ(record.text("result.text"), "2") << record;
}

TEST_P(SessionLanguages, NodeImportsFromTheBox) {
  make();
  (void)node("const fs = require('fs'); fs.writeFileSync('m.mjs', 'export const q = 7')");
  const Record record = node("import {q} from './m.mjs'\nq + (await import('./m.mjs')).q");
  EXPECT_EQ(record.text("result.text"), "14") << record;
}

TEST_P(SessionLanguages, NodeKeepsVariablesWhereAProgramIsInterrupted) {
  make();
  (void)node("const kept = 7");
  EXPECT_EQ(interrupted("javascript", "console.log('begun'); while (true) {}"), 128 + SIGINT);
  EXPECT_EQ(interrupted("javascript", "console.log('begun'); await new Promise(() => {})"),
            128 + SIGINT);
  const Record record = node("kept");
  EXPECT_EQ(record.text("result.text"), "7") << record;
  EXPECT_FALSE(record.is_true("session_restarted"));
}

TEST_P(SessionLanguages, NodePrintsAfterAnInterruptInTheMidstOfPrinting) {
  make();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(interrupted("javascript", "for (;;) console.log('begun')"), 128 + SIGINT);
    const Record record = node("console.error('there'); console.log('here')");
    EXPECT_EQ(record.out(), "here\n") << record;
    EXPECT_EQ(record.err(), "there\n") << record;
  }
}

TEST_P(SessionLanguages, LiveSideBySideInOneBox) {
  make();
  (void)bash("echo 'from bash' >shared");
  EXPECT_EQ(node("require('fs').readFileSync('shared', 'utf8')").text("result.text"),
            "'from bash\\n'");
  EXPECT_EQ(python_in("print(open('shared').read(), end='')").out(), "from bash\n");
}

}  // namespace
}  // namespace wardcase::test

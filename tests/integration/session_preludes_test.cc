// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What a session's interpreters run before their first program, and what is looked at before any
// of a program runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/sessions.h"

namespace wardcase::test {
namespace {

class SessionPreludes : public WithSession {
 protected:
  SessionPreludes() : files_(caller()) {}
  [[nodiscard]] std::string write(const std::string& name, std::string_view text) const {
    return files_.write(name, text);
  }

  // Its name is free again.
  void end() const {
    EXPECT_EQ(call({"session", "rm", id()}).exit_code, 0);
    EXPECT_TRUE(eventually([&] { return state().text("id").empty(); }));
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(SessionPreludes);

TEST_P(SessionPreludes, RunOnceInEachFreshInterpreter) {
  make({"--prelude", write("pre.py", "print('prelude')\ncount = globals().get('count', 0) + 1\n")});
  EXPECT_EQ(python_in("print(count); count = 7").out(), "prelude\n1\n");
  EXPECT_EQ(python_in("print(count)").out(), "7\n");
  EXPECT_EQ(python_in("import sys; sys.exit(3)").number("exit_code"), 3);
  EXPECT_EQ(python_in("print(count)").out(), "prelude\n1\n");
  EXPECT_EQ(call({"session", "reset", id()}).exit_code, 0);
  EXPECT_EQ(python_in("print(count)").out(), "prelude\n1\n");
  EXPECT_EQ(record_in("bash", "echo other").out(), "other\n");
}

TEST_P(SessionPreludes, AreOfTheLanguageThatTheirSuffixTells) {
  make({"--prelude", write("pre.sh", "greet() { echo \"hello $1\"; }\nset -u\n")});
  EXPECT_EQ(record_in("bash", "greet you; echo $-").out().substr(0, 10), "hello you\n");
  EXPECT_EQ(python_in("print(1)").out(), "1\n");
}

TEST_P(SessionPreludes, OfJavaScriptDeclareGlobals) {
  make({"--prelude", write("pre.js", "const seven = 7;\nfunction twice(x) { return 2 * x; }\n")});
  EXPECT_EQ(record_in("javascript", "console.log(twice(seven))").out(), "14\n");
}

TEST_P(SessionPreludes, OfThePolicyRunInTheirLanguages) {
  const std::string python = write("p.py", "from math import pi\n");
  const std::string bash = write("p.sh", "name=value\n");
  const std::string policy =
      write("own.toml", "schema = 1\nextends = \"default\"\n[prelude]\npython = \"" + python +
                            "\"\nbash = \"" + bash + "\"\n");
  make({"--policy", policy});
  EXPECT_EQ(python_in("print(int(pi))").out(), "3\n");
  EXPECT_EQ(record_in("bash", "echo $name").out(), "value\n");
}

TEST_P(SessionPreludes, AFailingOneSaysSoByNameAndNothingElseRuns) {
  make({"--prelude", write("broken.py", "x = 1\n\nraise KeyError('k')\n")});
  for (int i = 0; i < 2; ++i) {
    const Record record = python_in("open('ran', 'w').close()\nprint('not reached')");
    EXPECT_EQ(record.status(), "exited") << record;
    EXPECT_EQ(record.number("exit_code"), 1);
    EXPECT_TRUE(record.is_null("signal"));
    EXPECT_EQ(record.out(), "");
    EXPECT_EQ(record.text("error"), "prelude 'broken.py' failed: KeyError") << record;
    EXPECT_EQ(record.text("error_type"), "KeyError");
    EXPECT_NE(record.err().find("\"broken.py\", line 3, in <module>"), std::string::npos) << record;
    EXPECT_FALSE(record.has("artifacts.0"));
  }
  EXPECT_EQ(record_in("bash", "echo hi").out(), "hi\n");
}

TEST_P(SessionPreludes, WithAMistakeOrAnEndOfItsOwnSaysSo) {
  make({"--prelude", write("wrong.py", "\ndef f(:\n")});
  const Record wrong = python_in("1");
  EXPECT_EQ(wrong.text("error"), "prelude 'wrong.py' failed: SyntaxError") << wrong;
  end();

  make({"--prelude", write("left.py", "import sys\nsys.exit(6)\n")});
  const Record left = python_in("print('not reached')");
  EXPECT_EQ(left.number("exit_code"), 6) << left;
  EXPECT_EQ(left.text("error"), "prelude 'left.py' failed: exit code 6");
  EXPECT_EQ(left.out(), "");
  end();

  make({"--prelude", write("pre.sh", "echo begun; false\n")});
  const Record failed = record_in("bash", "echo 'not reached'");
  EXPECT_EQ(failed.text("error"), "prelude 'pre.sh' failed: exit code 1") << failed;
  EXPECT_EQ(failed.out(), "begun\n");
}

TEST_P(SessionPreludes, AreHeldToTheTimeOfTheProgramThatWantedThem) {
  make({"--prelude", write("slow.py", "import time\ntime.sleep(60)\n")});
  const Record record = python_in("print('not reached')", {"--timeout", "1s"});
  EXPECT_EQ(record.status(), "timeout") << record;
  EXPECT_EQ(record.out(), "");
}

// The attack: a prelude's interpreter has seen one nonce, which is no good for the program.
TEST_P(SessionPreludes, GiveTheProgramNoWayToTellItsOwnEnd) {
  make({"--prelude", write("pre.py", "x = 1\n")});
  const Record record = python_in(
      "import gc, json, os, struct, time\n"
      "seen = {v for o in gc.get_objects() if type(o) is dict for k, v in o.items()\n"
      "        if k == 'nonce' and type(v) is str} | {'x'}\n"
      "import sys\n"
      "f = sys._getframe()\n"
      "while f:\n"
      "    for v in list(f.f_locals.values()):\n"
      "        if isinstance(v, dict) and isinstance(v.get('id'), str): own = v['id']\n"
      "    f = f.f_back\n"
      "print('armed', flush=True)\n"
      "for nonce in seen:\n"
      "    text = json.dumps({'type': 'done', 'id': own, 'nonce': nonce, 'exit_code': "
      "0}).encode()\n"
      "    for fd in range(3, 1100):\n"
      "        try: os.write(fd, struct.pack('>I', len(text)) + text)\n"
      "        except OSError: pass\n"
      "time.sleep(30)\n",
      {"--timeout", "5s"});
  EXPECT_NE(record.out().find("armed"), std::string::npos) << record;
  EXPECT_NE(record.status(), "exited") << record;
}

TEST_P(SessionPreludes, ThatCantBeHadAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/no/such/file.py", "--prelude /no/such/file.py"},
      {write("main.c", "int main() {}\n"), "don't run in sessions"},
      {write("nul.sh", std::string_view("a\0b\n", 4)), "has a NUL byte at 1"}};
  for (const auto& [prelude, why] : cases) {
    const Outcome outcome = call({"session", "new", "--id", id(), "--prelude", prelude});
    EXPECT_EQ(outcome.exit_code, 125);
    EXPECT_NE(outcome.err().find(why), std::string::npos) << outcome;
  }
}

struct Mistake {
  const char* language;
  const char* code;
  const char* error;  // behind the name
};
constexpr Mistake kMistakes[] = {
    {"python", "open('ran', 'w').close()\ndef f(:\n", ":2:7: invalid syntax"},
    {"javascript", "require('fs').writeFileSync('ran', '');\nlet a b;\n",
     ":2:7: Unexpected identifier"},
    {"javascript", "await 1;\nlet a b;\n", ":2:7: Unexpected identifier"},
    {"javascript", "await 1; let a b;", ":1:16: Unexpected identifier"},
    {"javascript", "} await 1; {", ":1:3: Unexpected "},
    {"bash", ": > ran\nif true; then\n", "syntax error: unexpected end of file"},
};

TEST_P(SessionPreludes, NothingRunsOfWhatIsNoProgram) {
  make();
  for (const Mistake& mistake : kMistakes) {
    const Record record = record_in(mistake.language, mistake.code, {"--validate"});
    EXPECT_EQ(record.status(), "syntax_error") << record;
    EXPECT_NE(record.text("error").find(mistake.error), std::string::npos) << record;
    EXPECT_EQ(record.text("error_type"), "SyntaxError");
    EXPECT_EQ(record.err(), "") << record;
    EXPECT_FALSE(record.is_true("session_ended"));
  }
  const Record python = python_in("x = 1\nif x\n", {"--validate"});
  EXPECT_EQ(python.text("hint"), "line 2: if x") << python;
  EXPECT_EQ(exec("python", "x = (", {"--validate"}).finish().exit_code, 1);
  EXPECT_EQ(record_in("bash", "ls").out(), "");
}

TEST_P(SessionPreludes, WhatIsOnlyLookedAtChangesNothing) {
  make({"--prelude", write("pre.py", "open('prelude', 'w').close()\n")});
  for (const auto& [language, code] : std::vector<std::pair<std::string, std::string>>{
           {"python", "x = 1\nprint('ran')\nawait y"},
           {"javascript", "let x = 1; function f() {}\nconsole.log('ran'); await x"},
           {"javascript", "import fs from 'fs';\nfor await (const x of []) console.log(x)"},
           {"bash", "x=1\necho ran; shopt -s extglob\necho @(a|b)\n"}}) {
    const Record record = record_in(language, code, {"--validate"});
    EXPECT_EQ(record.status(), "exited") << record;
    EXPECT_EQ(record.number("exit_code"), 0) << record;
    EXPECT_EQ(record.out(), "");
  }
  EXPECT_EQ(record_in("bash", "ls; (exit 5)").out(), "");
  EXPECT_EQ(record_in("bash", "false", {"--validate"}).number("exit_code"), 0);
  EXPECT_EQ(record_in("bash", "echo $? ${x-unset}").out(), "5 unset\n");
  EXPECT_EQ(record_in("javascript", "console.log(typeof x, typeof f)").out(),
            "undefined undefined\n");
  EXPECT_EQ(python_in("print('x' in globals())").out(), "False\n");
}

TEST_P(SessionPreludes, RunLooksAtSyntaxInItsSessionAsWell) {
  const Outcome outcome =
      call({"run", "--session", id(), "--validate", "-l", "python", "-c", "await x"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  const Outcome wrong =
      call({"run", "--session", id(), "--validate", "-l", "python", "-c", "x = ("});
  EXPECT_EQ(wrong.exit_code, 1) << wrong;
  EXPECT_NE(wrong.err().find(":1:5: '(' was never closed"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What runs before a program in its own interpreter: seen by the program, and otherwise unseen.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class Preludes : public WithCaller {
 protected:
  Preludes() : files_(caller()) {}

  [[nodiscard]] std::string write(const std::string& name, std::string_view text) const {
    return files_.write(name, text);
  }
  // The record of `wardcase run --prelude PRELUDE FLAGS -l LANGUAGE -c CODE`.
  static Record with(const std::string& prelude, const std::string& language,
                     const std::string& code, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--prelude", prelude, "-l", language, "-c", code});
    return record_of(std::move(flags));
  }
  static void expect_refused(const std::vector<std::string>& arguments, std::string_view because) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find(because), std::string::npos) << outcome;
    EXPECT_EQ(outcome.out(), "");
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Preludes);

TEST_P(Preludes, PythonSeesWhatItDefinesAndNoLineIsShifted) {
  const std::string prelude = write("pre.py",
                                    "\"\"\"Words.\"\"\"\n"
                                    "import sys\n"
                                    "number: int = 5\n"
                                    "def twice(): return number * 2\n"
                                    "print(__name__, sys.argv, __file__.split('/')[-1])\n");
  const std::string program =
      write("mine.py",
            "# -*- coding: latin-1 -*-\n"
            "from __future__ import annotations\n"
            "import sys\n"
            "print(twice(), __doc__, __annotations__, __file__, len('\xe9'))\n"
            "def f(x: no_such): pass\n"
            "raise ValueError(twice())\n");
  const Record record = record_of({"--prelude", prelude, program, "a"});
  EXPECT_EQ(record.out(), "__main__ ['/box/mine.py', 'a'] pre.py\n10 None {} /box/mine.py 1\n")
      << record;
  EXPECT_NE(record.err().find("File \"/box/mine.py\", line 6, in <module>"), std::string::npos);
  EXPECT_EQ(record.text("error_message"), "10");
  EXPECT_EQ(record.text("error"), "");
}

TEST_P(Preludes, PythonsFutureAndEncodingAreEachFilesOwn) {
  const std::string prelude = write("pre.py",
                                    "# -*- coding: latin-1 -*-\n"
                                    "from __future__ import annotations\n"
                                    "text = '\xe9'\n");
  const Record record = with(prelude, "python", "print(text)\ndef f(x: no_such): pass\n");
  EXPECT_EQ(record.out(), "\u00e9\n") << record;
  EXPECT_EQ(record.text("error_message"), "name 'no_such' is not defined");
}

TEST_P(Preludes, PythonFindsAllElseAsWithoutOne) {
  const std::string prelude = write("pre.py", "");
  const std::string program =
      write("mine.py",
            "import os, sys\n"
            "print(sorted(os.environ), sys.argv, sys.path, sys.flags, sorted(globals()))\n"
            "import multiprocessing\n"
            "class Own: pass\n"
            "def work(own): return type(own).__name__\n"
            "if __name__ == '__main__':\n"
            "  with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(work, "
            "[Own()]))\n");
  const Outcome with_one = run({"--prelude", prelude, program, "a"});
  const Outcome without = run({program, "a"});
  EXPECT_EQ(with_one.exit_code, 0) << with_one;
  EXPECT_EQ(with_one.out(), without.out());
  EXPECT_EQ(with_one.err(), without.err());
}

TEST_P(Preludes, AFailingOneSaysSoByName) {
  const std::string broken = write("broken.py", "x = 1\n\nraise KeyError('k')\n");
  const Record thrown = with(broken, "python", "print('not reached')");
  EXPECT_EQ(thrown.status(), "exited");
  EXPECT_EQ(thrown.number("exit_code"), 1);
  EXPECT_EQ(thrown.out(), "");
  EXPECT_EQ(thrown.text("error"), "prelude 'broken.py' failed: KeyError") << thrown;
  EXPECT_EQ(thrown.text("error_type"), "KeyError");
  EXPECT_EQ(thrown.text("error_message"), "'k'");
  EXPECT_EQ(thrown.text("traceback"), thrown.err());
  EXPECT_NE(thrown.err().find("/broken.py\", line 3, in <module>\n    raise KeyError('k')\n"),
            std::string::npos)
      << thrown;
  EXPECT_EQ(thrown.err().find("sitecustomize"), std::string::npos) << thrown;

  const Record wrong = with(write("wrong.py", "\ndef f(:\n"), "python", "1");
  EXPECT_EQ(wrong.text("error"), "prelude 'wrong.py' failed: SyntaxError") << wrong;
  EXPECT_EQ(wrong.text("hint"), "look at line 2 of wrong.py");

  const Record left = with(write("left.py",
                                 "import atexit, sys\n"
                                 "atexit.register(lambda: print('handled'))\n"
                                 "sys.exit(6)\n"),
                           "python", "print('not reached')");
  EXPECT_EQ(left.number("exit_code"), 6);
  EXPECT_EQ(left.out(), "handled\n") << left;
  EXPECT_EQ(left.text("error"), "prelude 'left.py' failed: exit code 6");

  const Record done = with(write("done.py", "raise SystemExit"), "python", "print('not reached')");
  EXPECT_TRUE(done.is_true("success"));
  EXPECT_EQ(done.text("hint"), "prelude 'done.py' ended the run before the program began") << done;
}

TEST_P(Preludes, ItsNameIsSaidOnStderrToo) {
  const Outcome outcome =
      run({"--prelude", write("bad.sh", "exit 3\n"), "-l", "bash", "-c", "echo not reached"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err(), "wardcase: prelude 'bad.sh' failed: exit code 3\n");
}

TEST_P(Preludes, JavascriptSeesWhatItDeclares) {
  const std::string prelude = write("pre.js",
                                    "const os = require('os');\n"
                                    "let number = 5;\n"
                                    "function twice() { return number * 2; }\n");
  const Record record =
      with(prelude, "javascript", "'use strict'; console.log(twice(), os.EOL === '\\n');\nnull.x");
  EXPECT_EQ(record.out(), "10 true\n") << record;
  EXPECT_NE(record.text("traceback").find("main.js:2:6"), std::string::npos) << record;
  const std::string module = write("mine.mjs", "console.log(twice(), import.meta.url);\n");
  EXPECT_EQ(record_of({"--prelude", prelude, module}).out(), "10 file:///box/mine.mjs\n");

  const Record bad =
      with(write("bad.js", "\nnull.x\n"), "javascript", "console.log('not reached')");
  EXPECT_EQ(bad.out(), "");
  EXPECT_EQ(bad.text("error"), "prelude 'bad.js' failed: TypeError") << bad;
  EXPECT_NE(bad.text("traceback").find("/bad.js:2:6"), std::string::npos) << bad;
  EXPECT_EQ(bad.err().find("hook.cjs"), std::string::npos) << bad;
}

TEST_P(Preludes, BashSeesWhatItSetsAndItsChildrenDoNot) {
  const std::string prelude =
      write("pre.sh", "x=3; f() { echo \"f $x $*\"; }; shopt -s extglob; echo \"pre $1 $0\"\n");
  const std::string program = write(
      "mine.sh",
      "f a; bash -c 'echo \"child<$x$BASH_ENV$WARDCASE_PRELUDE>\"; ls /proc/self/fd | wc -l'\n"
      "[[ b == !(a) ]] && env | grep -c WARDCASE\n"
      "no_such_command\n");
  const Record record = record_of({"--prelude", prelude, program, "one"});
  EXPECT_EQ(record.out(), "pre one /box/mine.sh\nf 3 a\nchild<>\n4\n0\n") << record;
  EXPECT_NE(record.err().find("/box/mine.sh: line 3: no_such_command"), std::string::npos);
  EXPECT_EQ(record.text("error"), "");

  const std::string own = "echo own; Y=1";
  const Record kept = with(prelude, "bash", "echo $BASH_ENV $Y; bash -c 'echo $Y'",
                           {"-v", write("own", own) + ":/etc/own", "-e", "BASH_ENV=/etc/own"});
  EXPECT_EQ(kept.out(), "own\npre  /box/main.sh\n/etc/own 1\nown\n1\n") << kept;

  const Record strict =
      with(write("strict.sh", "set -e\nfalse\necho not reached\n"), "bash", "echo not reached");
  EXPECT_EQ(strict.out(), "");
  EXPECT_EQ(strict.text("error"), "prelude 'strict.sh' failed: exit code 1") << strict;
}

TEST_P(Preludes, APolicyHasThemByLanguage) {
  const std::string prelude = write("pre.py", "said = 'by the policy'\n");
  const std::string policy =
      write("p.toml", "schema = 1\n[prelude]\npython = \"" + prelude + "\"\n");
  const std::string code = "print(globals().get('said'))";
  EXPECT_EQ(python(code, {"--policy", policy}).out(), "by the policy\n");
  EXPECT_EQ(python(code).out(), "None\n");  // the control
  EXPECT_EQ(
      with(write("other.py", "said = 'by the flag'\n"), "python", code, {"--policy", policy}).out(),
      "by the flag\n");
  EXPECT_EQ(bash("echo fine", {"--policy", policy}).out(), "fine\n");
  const auto with_policy = [&](std::string_view text) {
    return std::vector<std::string>{"--policy", write("q.toml", "schema = 1\n" + std::string(text)),
                                    "--", "true"};
  };
  expect_refused(with_policy("[prelude]\npython = 'pre.py'\n"),
                 "q.toml:3:10: prelude.python: 'pre.py': not an absolute path of the host");
  expect_refused(with_policy("[prelude]\npyton = '/pre.py'\n"),
                 "q.toml:3: prelude.pyton: no such language");
}

TEST_P(Preludes, WhatCantHaveOneRefusesItByName) {
  const std::string prelude = write("pre.py", "");
  expect_refused({"--prelude", prelude, "--", "true"}, "--prelude: has no meaning with -- COMMAND");
  expect_refused({"--prelude", prelude, "/bin/true"},
                 "pre.py: this program can't have one, only those in bash, ");
  expect_refused({"--prelude", prelude, "-l", "perl", "-c", "1"},
                 "pre.py: a program in perl can't have one");
  expect_refused({"--prelude", "no-such.py", "-l", "python", "-c", "1"},
                 "--prelude no-such.py: open it: No such file or directory");
  expect_refused({"--prelude", "/tmp", "-l", "python", "-c", "1"}, "--prelude /tmp: ");
  expect_refused({"--prelude", "", "-l", "python", "-c", "1"}, "--prelude : ");
}

TEST_P(Preludes, WithoutNamespacesTheyRunTheSame) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  const std::vector<std::string> bare = {"--policy", "landlock-only"};
  EXPECT_EQ(with(write("a.py", "x = 'py'"), "python", "print(x)", bare).out(), "py\n");
  EXPECT_EQ(with(write("a.js", "var x = 'js'"), "javascript", "console.log(x)", bare).out(),
            "js\n");
  EXPECT_EQ(with(write("a.sh", "x=sh"), "bash", "echo $x", bare).out(), "sh\n");
}

}  // namespace
}  // namespace wardcase::test

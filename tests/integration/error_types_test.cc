// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What an interpreter tells of the exception that ended its program: names, texts, and that
// nothing else of the program changes by it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <utility>

#include "tests/support/record_schema.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class ErrorTypes : public WithCaller {
 protected:
  static Record javascript(std::string code, std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"-l", "javascript", "-c", std::move(code)});
    return record_of(std::move(flags));
  }
  static void expect_told(const Record& record, const std::string& type,
                          const std::string& message) {
    EXPECT_EQ(record.text("error_type"), type) << record;
    EXPECT_EQ(record.text("error_message"), message) << record;
  }
  static void expect_nothing(const Record& record) {
    for (const char* field : {"error_type", "error_message", "traceback"}) {
      EXPECT_TRUE(record.is_null(field)) << field << " of " << record;
    }
  }
};
WARDCASE_AS_ROOT_AND_USER(ErrorTypes);

TEST_P(ErrorTypes, AnExceptionIsToldWithTheInterpretersOwnTraceback) {
  const ScratchDirectory files(caller());
  const std::string path = files.write(
      "mine.py", "from __future__ import annotations\nx = 1\nraise ValueError(\"b\")\n");
  const Record record = record_of({path});
  EXPECT_EQ(record.status(), "exited");
  EXPECT_EQ(record.number("exit_code"), 1);
  expect_told(record, "ValueError", "b");
  EXPECT_EQ(record.text("traceback"), record.err());
  EXPECT_EQ(record.err().find("Traceback (most recent call last):\n"
                              "  File \"/box/mine.py\", line 3, in <module>\n"),
            0U)
      << record;
  EXPECT_TRUE(record.err().ends_with("ValueError: b\n"));
}

TEST_P(ErrorTypes, PythonsExceptionsHaveTheirNames) {
  const std::pair<const char*, std::pair<const char*, const char*>> kCases[] = {
      {"x = = 1", {"SyntaxError", "invalid syntax (main.py, line 1)"}},
      {"if 1:\npass",
       {"SyntaxError",
        "expected an indented block after 'if' statement on line 1 (main.py, line 2)"}},
      {"import no_such.part", {"ImportError", "No module named 'no_such'"}},
      {"from os import no_such",
       {"ImportError", "cannot import name 'no_such' from 'os' (unknown location)"}},
      {"import os; os.chroot('/')", {"PermissionError", "[Errno 1] Operation not permitted: '/'"}},
      {"raise MemoryError('m')", {"MemoryError", "m"}},
      {"import json; json.loads('[')",
       {"JSONDecodeError", "Expecting value: line 1 column 2 (char 1)"}},
      {"class Own(Exception): pass\nraise Own('o') from ValueError(1)", {"Own", "o"}},
      {"input()", {"EOFError", "EOF when reading a line"}},
      {"raise KeyError('k')", {"KeyError", "'k'"}},
      {"assert 0", {"AssertionError", ""}},
      {"exec('def f(:')", {"SyntaxError", "invalid syntax (<string>, line 1)"}},
  };
  for (const auto& [code, told] : kCases) {
    const Record record = python(code);
    EXPECT_EQ(record.number("exit_code"), 1) << code;
    EXPECT_EQ(record.text("error_type"), told.first) << code << record;
    // Its words are those of one version of Python.
    const std::string message = record.text("error_message");
    EXPECT_EQ(message.substr(0, 8), std::string(told.second).substr(0, 8)) << code << record;
    EXPECT_EQ(record.text("traceback"), record.err()) << code;
  }
}

TEST_P(ErrorTypes, AnInterruptIsASignalAndAnException) {
  const Record record = python("import os, signal; os.kill(os.getpid(), signal.SIGINT)");
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_EQ(record.text("signal"), "SIGINT");
  expect_told(record, "KeyboardInterrupt", "");
}

TEST_P(ErrorTypes, OddExceptionsAreToldAsFarAsTheyCanBe) {
  const Record mute = python("class E(Exception):\n def __str__(self): raise OSError\nraise E()");
  EXPECT_EQ(mute.text("error_type"), "E") << mute;
  EXPECT_EQ(mute.text("error_message"), "") << mute;
  EXPECT_NE(mute.text("traceback").find("<exception str() failed>"), std::string::npos) << mute;

  const Record huge = python("raise ValueError('a' * 10_000_000 + 'z')");
  EXPECT_EQ(huge.text("error_type"), "ValueError");
  EXPECT_LE(huge.text("error_message").size(), 4200U);
  EXPECT_TRUE(huge.text("error_message").ends_with("z"));
  EXPECT_LE(huge.text("traceback").size(), 60'000U);
  EXPECT_EQ(huge.number("stderr_bytes").value_or(0) / 1'000'000, 10);

  const Record odd = python("raise ValueError('a\\ud800\\0b\\U0001F600')");
  expect_told(odd, "ValueError", "a\\ud800\\x00b\U0001F600");

  const Record deep = python("def f(): g()\ndef g(): f()\nf()");
  EXPECT_EQ(deep.text("error_type"), "RecursionError") << deep;

  const Record loud =
      python("class E(Exception):\n def __str__(self): print('said'); return 's'\nraise E()");
  expect_told(loud, "E", "s");

  const Record many = python(
      "import sys\nif sys.version_info < (3, 11): raise ValueError\n"
      "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])");
  EXPECT_EQ(many.number("exit_code"), 1) << many;
  EXPECT_EQ(many.text("traceback"), many.err());
}

TEST_P(ErrorTypes, MemoryThatPythonItselfMissesIsToldToo) {
  const Record record = python("b = bytearray(1 << 60)");
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.text("error_type"), "MemoryError") << record;
  EXPECT_EQ(record.text("hint"), "raise it with --memory");
}

TEST_P(ErrorTypes, WhatIsNoUncaughtExceptionIsNotTold) {
  for (const char* code : {
           "import sys; sys.exit(3)",
           "import sys; sys.exit('words')",
           "import os; os._exit(4)",
           "import threading, sys\nt = threading.Thread(target=lambda: 1/0); t.start(); t.join()\n"
           "sys.exit(1)",
           "import os, sys\nif os.fork() == 0: raise ValueError\nos.wait(); sys.exit(5)",
           "import sys\ntry: 1/0\nexcept ZeroDivisionError: sys.excepthook(*sys.exc_info())\n"
           "sys.exit(1)",
           "import multiprocessing as m, sys\ndef f(): 1/0\n"
           "p = m.get_context('fork').Process(target=f); p.start(); p.join(); sys.exit(1)",
           "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, '-c', '1/0']))",
           "import sys\nsys.excepthook = lambda *a: print('own')\n1/0",
       }) {
    const Record record = python(code);
    EXPECT_EQ(record.status(), "exited") << code;
    EXPECT_NE(record.number("exit_code"), 0) << code << record;
    expect_nothing(record);
  }
  expect_nothing(python("print('fine')"));
  expect_nothing(bash("exit 3"));
  expect_nothing(record_of({"--", "python3", "-c", "1/0"}));  // the caller's own command
}

TEST_P(ErrorTypes, AnOwnHookThatCallsTheOriginalIsHeard) {
  const Record record = python(
      "import sys\ndef hook(*told):\n print('own'); sys.__excepthook__(*told)\n"
      "sys.excepthook = hook\n1/0");
  EXPECT_EQ(record.out(), "own\n") << record;
  expect_told(record, "ZeroDivisionError", "division by zero");
}

// Where it is the caller's own command, nothing is hooked: that is the control.
TEST_P(ErrorTypes, APythonProgramFindsAllAsIfThereWereNoHook) {
  const ScratchDirectory files(caller());
  (void)files.write(
      "main.py",
      "import gc, os, sys, threading\n"
      "print(sorted(os.environ.items()))\n"
      "print(sys.argv, sys.orig_argv[-3:], sys.flags, sys.path, sys.warnoptions)\n"
      "print(sorted(sys.modules), len(sys.path_hooks))\n"
      "print(sorted(sys.path_importer_cache))\n"
      "print([getattr(f, '__name__', 0) for f in sys.meta_path if type(f).__name__ != 'Figures'])\n"
      "print(sorted(globals()), __name__, __file__, __spec__, __doc__)\n"
      "print(sys.excepthook is sys.__excepthook__, sys.gettrace())\n"
      "print(open('/dev/null').fileno(), 'sitecustomize' in sys.modules)\n"
      "print(os.popen('env | sort').read())\n");
  ASSERT_EQ(::chmod(files.path().c_str(), 0755), 0);
  for (const std::string& variable : {std::string("A=b"), std::string("PYTHONPATH=/tmp:/usr/x")}) {
    const std::string directory = files.path().string();
    const Outcome plain =
        run({"--workspace", directory, "-e", variable, "--", "python3", "/box/main.py", "a", "b"});
    const Outcome hooked =
        run({"--workspace", directory, "-e", variable, directory + "/main.py", "a", "b"});
    EXPECT_EQ(plain.exit_code, 0) << plain;
    EXPECT_EQ(hooked.out(), plain.out());
    EXPECT_EQ(hooked.err(), plain.err());
  }
}

TEST_P(ErrorTypes, ProcessesThatAPythonProgramStartsWorkAndDoNotGetTheChannel) {
  const std::string code =
      "import multiprocessing, os, subprocess, sys\n"
      "class Own:\n  def __init__(self): self.x = 5\n"
      "def work(own): return own.x, sorted(os.listdir('/proc/self/fd'), key=int)[-1] == '63'\n"
      "if __name__ == '__main__':\n"
      "  for method in ('fork', 'spawn', 'forkserver'):\n"
      "    with multiprocessing.get_context(method).Pool(1) as pool:\n"
      "      print(method, pool.map(work, [Own()])[0])\n"
      "  said = subprocess.run(['ls', '/proc/self/fd'], close_fds=False, capture_output=True)\n"
      "  print('63' in said.stdout.decode().split(), '63' in os.listdir('/proc/self/fd'))\n";
  const ScratchDirectory files(caller());
  const Record record = record_of({files.write("own.py", code)});
  EXPECT_EQ(record.out(), "fork (5, True)\nspawn (5, False)\nforkserver (5, False)\nFalse True\n")
      << record;
}

TEST_P(ErrorTypes, FewOpenFilesOrAnotherTablesOfThemAreNoObstacle) {
  expect_told(python("1/0", {"--open-files", "24"}), "ZeroDivisionError", "division by zero");
}

TEST_P(ErrorTypes, NodesErrorsHaveTheirNames) {
  const std::pair<const char*, std::pair<const char*, const char*>> kCases[] = {
      {"null.x", {"TypeError", "Cannot read properties of null (reading 'x')"}},
      {"let x = ;", {"SyntaxError", "Unexpected token ';'"}},
      {"require('no-such')",
       {"ImportError", "Cannot find module 'no-such'\nRequire stack:\n- /box/main.js"}},
      {"import('no-such')",
       {"ImportError", "Cannot find package 'no-such' imported from /box/main.js"}},
      {"class Own extends Error {}; throw new Own('o')", {"Own", "o"}},
      {"throw {a: 1}", {"Object", "{ a: 1 }"}},
      {"throw 'text'", {"String", "text"}},
      {"throw undefined", {"undefined", "undefined"}},
      {"(async () => { throw new RangeError('r') })()", {"RangeError", "r"}},
      {"require('fs').readFileSync('/no/such')",
       {"Error", "ENOENT: no such file or directory, open '/no/such'"}},
      {"require('assert')(false)", {"AssertionError", "The expression evaluated to a falsy"}},
      {"require('fs').writeFileSync('/proc/version', '')",
       {"PermissionError", "EACCES: permission denied"}},
  };
  for (const auto& [code, told] : kCases) {
    const Record record = javascript(code);
    EXPECT_EQ(record.number("exit_code"), 1) << code << record;
    EXPECT_EQ(record.text("error_type"), told.first) << code << record;
    EXPECT_EQ(record.text("error_message").find(told.second), 0U) << code << record;
  }
}

TEST_P(ErrorTypes, AModuleOfNodeTellsAsWell) {
  const ScratchDirectory files(caller());
  const Record record =
      record_of({files.write("own.mjs", "import fs from 'fs';\nawait 1;\nnull.x;\n")});
  EXPECT_EQ(record.text("error_type"), "TypeError") << record;
  EXPECT_NE(record.text("traceback").find("own.mjs:3:6"), std::string::npos) << record;
}

TEST_P(ErrorTypes, WhatNodeCatchesOrExitsWithIsNotTold) {
  for (const char* code : {
           "process.exit(3)",
           "process.exitCode = 4",
           "process.on('uncaughtException', () => process.exit(5)); null.x",
           "process.on('unhandledRejection', () => process.exit(6)); Promise.reject(1)",
           "try { null.x } catch {} process.exit(1)",
       }) {
    const Record record = javascript(code);
    EXPECT_NE(record.number("exit_code"), 0) << code << record;
    expect_nothing(record);
  }
}

TEST_P(ErrorTypes, AJavascriptProgramFindsAllAsIfThereWereNoHook) {
  const ScratchDirectory files(caller());
  (void)files.write(
      "main.js",
      "console.log(process.argv, process.execArgv, process.env);\n"
      "console.log(Object.keys(require.cache), require.main === module, __filename);\n"
      "console.log(Object.getOwnPropertyNames(globalThis).sort());\n"
      "const {Worker} = require('worker_threads');\n"
      "const w = new Worker('console.log(process.execArgv)', {eval: true});\n"
      "w.on('exit', () => require('child_process').fork('/box/child.js'));\n");
  (void)files.write("child.js",
                    "console.log(process.execArgv, require('child_process')"
                    ".execSync('ls /proc/self/fd').toString());\n");
  ASSERT_EQ(::chmod(files.path().c_str(), 0755), 0);
  const std::string directory = files.path().string();
  const Outcome plain = run({"--workspace", directory, "--", "node", "/box/main.js", "a"});
  const Outcome hooked = run({"--workspace", directory, directory + "/main.js", "a"});
  EXPECT_EQ(plain.exit_code, 0) << plain;
  EXPECT_EQ(hooked.out(), plain.out());
  EXPECT_EQ(hooked.err(), plain.err());
}

TEST_P(ErrorTypes, NodesFullHeapIsTold) {
  const Record record = javascript("let a = []; for (;;) a.push(new Array(1e6).fill(1.5))",
                                   {"-e", "NODE_OPTIONS=--max-old-space-size=50"});
  EXPECT_EQ(record.status(), "signaled") << record;
  expect_told(record, "MemoryError", "JavaScript heap out of memory");
  EXPECT_EQ(record.text("hint"), "raise it with --memory");
}

TEST_P(ErrorTypes, ALimitHasATypeAndAHintWithItsMaximum) {
  const Record late = bash("sleep 9", {"--timeout", "200ms", "--grace", "100ms"});
  EXPECT_EQ(late.status(), "timeout");
  expect_told(late, "TimeoutError", late.text("error"));
  EXPECT_EQ(late.text("hint"), "raise it with --timeout, at most 600s");
  const Record idle = bash("sleep 9", {"--idle-timeout", "200ms", "--grace", "100ms"});
  expect_told(idle, "TimeoutError", idle.text("error"));
  const Record full = python("b = []\nwhile True: b.append(bytearray(8 << 20))", {"-m", "96m"});
  EXPECT_EQ(full.status(), "oom");
  expect_told(full, "MemoryError", full.text("error"));
  EXPECT_EQ(full.text("hint"), "raise it with --memory");
}

TEST_P(ErrorTypes, WithoutNamespacesTheHookWorksTheSame) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  const std::vector<std::string> bare = {"--policy", "landlock-only"};
  expect_told(python("1/0", bare), "ZeroDivisionError", "division by zero");
  const Record node = javascript("null.x", bare);
  EXPECT_EQ(node.text("error_type"), "TypeError") << node;
  const Record paths =
      python("import os, sys; print(os.environ.get('PYTHONPATH'), '.hook' in str(sys.path))",
             {"--policy", "landlock-only", "-e", "PYTHONPATH=/usr/x"});
  EXPECT_EQ(paths.out(), "/usr/x False\n") << paths;
}

TEST_P(ErrorTypes, RecordsWithThemAreValidBySchema) {
  std::string lines;
  for (const char* code : {"1/0", "raise ValueError('a\\0\\ud800')", "import no_such"}) {
    lines += run({"--json", "-l", "python", "-c", code}).out();
  }
  lines += run({"--json", "-l", "javascript", "-c", "throw 1"}).out();
  lines += run({"--json", "--timeout", "100ms", "--", "sleep", "9"}).out();
  const Outcome outcome = judge_records(caller(), lines);
  EXPECT_EQ(outcome.out(),
            "checked exited\nchecked exited\nchecked exited\nchecked exited\nchecked timeout\n")
      << outcome.err();
}

}  // namespace
}  // namespace wardcase::test

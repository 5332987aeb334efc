// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Who judges the cases of a batch: comparators, code that tests, checkers; and what the judged
// program knows of it.
#include <gtest/gtest.h>

#include "supervisor/run/json_text.h"
#include "tests/support/batches.h"

namespace wardcase::test {
namespace {

using ServeBatchJudges = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeBatchJudges);

TEST_P(ServeBatchJudges, CodeThatTestsIsPartOfTheProgram) {
  const Service service = start();
  const auto verdict = [&](const std::string& language, const std::string& code,
                           const std::string& test) {
    return run_batch(service, batch_of(code_body(language, code),
                                       "\"test_code\": " + supervisor::json_string(test)));
  };
  EXPECT_EQ(verdict("python", "def f(n): return n * 2", "assert f(2) == 4").text("cases.0.verdict"),
            "passed");
  const Record wrong = verdict("python", "def f(n):\n  return n + n / 0", "assert f(2) == 4");
  EXPECT_EQ(wrong.text("cases.0.verdict"), "wrong_answer");
  EXPECT_EQ(wrong.text("cases.0.reason"), "exited with 1: ZeroDivisionError: division by zero");
  EXPECT_NE(wrong.text("cases.0.record.stderr").find("line 2"), std::string::npos)
      << "lines of the program keep their numbers";
  EXPECT_EQ(verdict("c", "int f(int n) { return n * 2; } // no line break",
                    "int main(void) { return f(2) == 4 ? 0 : 1; }")
                .text("cases.0.verdict"),
            "passed");
}

TEST_P(ServeBatchJudges, ACheckerGetsInputOutputAndWhatIsExpected) {
  const Service service = start();
  const std::string checker =
      code_body("python",
                "import os, sys\n"
                "n = int(open('/box/input').read())\n"
                "a, b = map(int, open('/box/output').read().split())\n"
                "print('hint', open('/box/expected').read(), sorted(os.listdir('/box')))\n"
                "if n == 9: sys.exit(3)\n"
                "sys.exit(0 if a * b == n else 1)");
  const Record batch = run_batch(
      service, batch_of(code_body("bash", "read -r n; [ $n = 8 ] && exit 4; echo 2 $((n / 2))"),
                        "\"checker\": " + checker + R"(, "cases": [
                          {"stdin": "6\n", "expected_stdout": "e"}, {"stdin": "7\n"},
                          {"stdin": "8\n", "expected_stdout": ""},
                          {"stdin": "5\n", "expected_stdout": ""},
                          {"stdin": "9\n", "expected_stdout": ""}])"));
  EXPECT_EQ(verdicts_of(batch),
            (Verdicts{"passed", "run_failed", "run_failed", "wrong_answer", "run_failed"}))
      << batch;
  EXPECT_EQ(batch.text("cases.0.checker_output"),
            "hint e ['expected', 'input', 'main.py', 'output']\n");
  EXPECT_EQ(batch.text("cases.0.record.stdout"), "2 3\n");
  EXPECT_EQ(
      batch.text("cases.1.reason").find("the checker failed: exited with 1: FileNotFoundError"), 0U)
      << batch.text("cases.1.reason");
  EXPECT_EQ(batch.text("cases.2.reason"), "exited with 4") << "nothing is there to be checked";
  EXPECT_TRUE(batch.is_null("cases.2.checker_output"));
  EXPECT_EQ(batch.text("cases.4.reason"), "the checker failed: exited with 3");
}

TEST_P(ServeBatchJudges, ACheckerThatCannotBeCompiledIsNoFaultOfTheProgram) {
  const Service service = start();
  const Record batch =
      run_batch(service, batch_of(R"({"argv": ["true"]})",
                                  "\"checker\": " + code_body("c", "int main(void) { return x; }") +
                                      R"(, "cases": [{}])"));
  EXPECT_EQ(batch.status(), "compile_failed") << batch;
  EXPECT_EQ(batch.text("error").find("checker: main.c:1:"), 0U) << batch.text("error");
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"run_failed"}));
}

TEST_P(ServeBatchJudges, ACheckerSeesAllOfALongOutput) {
  const Service service = start();
  const Record batch =
      run_batch(service, batch_of(code_body("bash", "head -c 10000000 /dev/zero"),
                                  "\"checker\": " + code_body("bash", "stat -c %s /box/output") +
                                      R"(, "cases": [{}])"));
  EXPECT_EQ(batch.text("cases.0.checker_output"), "10000000\n") << batch;
}

// It looks where a program can look, and says so at its end: it reads what its own pipes hold, too.
// The control is given the word, and finds it.
TEST_P(ServeBatchJudges, WhatIsExpectedIsNowhereInTheProgramsBox) {
  const Service service = start();
  const std::string search =
      "import glob, os\n"
      "word = b'aard' + b'vark'\n"
      "places = glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + "
      "glob.glob('/proc/*/fd/*') + glob.glob('/proc/self/fd/*')\n"
      "for top in ('/box', '/tmp', '/run', '/dev/shm', '/home', '/var/tmp'):\n"
      "  for folder, _, names in os.walk(top):\n"
      "    places += [os.path.join(folder, name) for name in names]\n"
      "found = False\n"
      "for place in places:\n"
      "  try:\n"
      "    file = os.open(place, os.O_RDONLY | os.O_NONBLOCK)\n"
      "    found |= word in os.read(file, 1 << 20)\n"
      "  except OSError: pass\n"
      "print('armed', 'found' if found else 'nothing')";
  const Record batch = run_batch(service, batch_of(code_body("python", search),
                                                   R"("cases": [{"expected_stdout": "aardvark"},
                                     {"expected_stdout": "x", "env": {"W": "aardvark"}},
                                     {"expected_stdout": "x", "files": {"w": "aardvark"}}],
                           "comparator": "exact")"));
  EXPECT_EQ(batch.text("cases.0.record.stdout"), "armed nothing\n") << batch;
  EXPECT_EQ(batch.text("cases.1.record.stdout"), "armed found\n");
  EXPECT_EQ(batch.text("cases.2.record.stdout"), "armed found\n");
}

TEST_P(ServeBatchJudges, ACheckerIsStoppedWithItsBatch) {
  const Service service = start();
  HttpClient client = service.client();
  const HttpAnswer accepted = client.post(
      "/v1/batches",
      batch_of(R"({"argv": ["true"]})", R"("checker": {"argv": ["sleep", "60"]}, "cases": [{}])"),
      "Prefer: respond-async\r\n");
  EXPECT_EQ(accepted.status, 202) << accepted;
  ASSERT_TRUE(comes_to_run("sleep"));
  const Record batch = client.remove(accepted.header("Location")).json();
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"skipped"})) << batch;
  EXPECT_TRUE(comes_to_end("sleep"));
}

TEST_P(ServeBatchJudges, ComparatorsReadTheWholeOutput) {
  const Service service = start();
  const Record batch = run_batch(
      service,
      batch_of(code_body("bash", "head -c 10000000 /dev/zero | tr '\\0' x; read -r end; echo $end"),
               R"("comparator": "tokens", "cases": [
                 {"stdin": "a\n", "expected_stdout": ")" +
                   std::string(10'000'000, 'x') + R"(a"},
                 {"stdin": "b\n", "expected_stdout": "x", "comparator": "exact"}])"));
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"passed", "wrong_answer"}));
  EXPECT_EQ(batch.number("cases.0.record.stdout_bytes"), 10'000'002);
  EXPECT_LT(batch.text("cases.0.record.stdout").size(), 20'000U) << "the record's view is cut";
  EXPECT_EQ(batch.text("cases.1.reason").find("line 1, column 2: expected nothing more, got 'xx"),
            0U);
}

}  // namespace
}  // namespace wardcase::test

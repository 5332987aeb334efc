// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// How code and input reach the program.
#include <gtest/gtest.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using Input = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Input);

constexpr const char* kAsk = "print('name?')\nx = input()\nprint('hello', x)";

TEST_P(Input, WithoutStdinAProgramThatAsksEndsAtOnce) {
  const Record record = python(kAsk, {"--timeout", "20s"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("exit_code"), 1);
  EXPECT_NE(record.out().find("name?"), std::string::npos);
  EXPECT_NE(record.err().find("EOFError"), std::string::npos);
}

TEST_P(Input, StdinIsPassedOnlyWhenAskedFor) {
  const Outcome with = run_command({"-i", "-l", "python", "-c", kAsk}).input("Bob\n").finish();
  EXPECT_EQ(with.out(), "name?\nhello Bob\n") << with;
  EXPECT_EQ(with.exit_code, 0);
  const Outcome without = run_command({"-l", "python", "-c", kAsk}).input("Bob\n").finish();
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_NE(without.err().find("add -i"), std::string::npos) << without;
}

TEST_P(Input, AMebibyteOfStdinArrivesUnchanged) {
  std::string text;
  for (int i = 0; text.size() < (1U << 20); ++i) text += std::to_string(i) + "\n";
  const Outcome outcome = run_command({"-i", "--", "cat"}).input(text).finish();
  EXPECT_TRUE(outcome.out() == text);
}

TEST_P(Input, AFileCanBeStdin) {
  const ScratchDirectory files(caller());
  const std::string file = files.write("in", "Ann\n", 0600);
  EXPECT_EQ(run({"--stdin", file, "-l", "python", "-c", kAsk}).out(), "name?\nhello Ann\n");
  EXPECT_EQ(run({"--stdin", file, "--", "bash", "-c", "echo x >> /proc/self/fd/0; true"}).exit_code,
            0);
  EXPECT_EQ(read_file(file), "Ann\n");
}

TEST_P(Input, TheProgramCanComeFromStdin) {
  EXPECT_EQ(run_command({"-l", "python", "-"}).input("print(6 * 7)").finish().out(), "42\n");
}

TEST_P(Input, AMebibyteOfCodeRuns) {
  const std::string code = "x = '" + std::string(1 << 20, 'a') + "'\nprint(len(x))\n";
  EXPECT_EQ(run_command({"-l", "python", "-"}).input(code).finish().out(), "1048576\n");
  const ScratchDirectory files(caller());
  EXPECT_EQ(run({files.write("big.py", code)}).out(), "1048576\n");
}

TEST_P(Input, EmptyCodeIsAProgramThatDoesNothing) {
  EXPECT_EQ(python("").status(), "exited");
  EXPECT_TRUE(bash("").is_true("success"));
}

TEST_P(Input, ANulByteInTheCodeReachesTheInterpreter) {
  using namespace std::string_literals;
  const Outcome python =
      run_command({"-l", "python", "-"}).input("print(1)\n\0print(2)\n"s).finish();
  EXPECT_EQ(python.signal, 0) << python;
  EXPECT_LE(python.exit_code, 1);  // how Python takes it depends on its version
  const Outcome bash = run_command({"-l", "bash", "-"}).input("echo a\n\0echo b\n"s).finish();
  EXPECT_EQ(bash.out(), "a\nb\n") << bash;
}

TEST_P(Input, TracebacksTellTheUsersOwnLines) {
  const std::string code = "from __future__ import annotations\nx = 1\nraise ValueError('b')\n";
  const Record snippet = python(code);
  EXPECT_NE(snippet.err().find("main.py\", line 3"), std::string::npos) << snippet;
  const ScratchDirectory files(caller());
  const Outcome outcome = run({files.write("report.py", code)});
  EXPECT_NE(outcome.err().find("report.py\", line 3"), std::string::npos) << outcome;
}

TEST_P(Input, LanguagesGoBySuffixInterpreterLineOrOption) {
  const ScratchDirectory files(caller());
  EXPECT_EQ(run({files.write("a.py", "print('py')")}).out(), "py\n");
  EXPECT_EQ(run({files.write("a.sh", "echo sh $0")}).out(), "sh /box/a.sh\n");
  EXPECT_EQ(run({files.write("script", "#!/usr/bin/python3\nprint('by line')")}).out(),
            "by line\n");
  EXPECT_EQ(run({"-l", "python", files.write("code.txt", "print('by option')")}).out(),
            "by option\n");
  EXPECT_EQ(run({files.write("unknown.xyz", "?")}).exit_code, 126);
  EXPECT_EQ(record_of({"-l", "py", "-c", "1"}).text("language"), "python");
}

TEST_P(Input, CommandsOfTheBoxRunWithTheirArguments) {
  EXPECT_EQ(run({"--", "printf", "%s|", "a b", "", "-l"}).out(), "a b||-l|");
  EXPECT_TRUE(record_of({"--", "true"}).is_null("language"));
}

TEST_P(Input, AFileOfTheCallerAloneCanRun) {
  const ScratchDirectory files(caller());
  EXPECT_EQ(run({files.write("own.py", "print('mine')", 0600)}).out(), "mine\n");
}

}  // namespace
}  // namespace wardcase::test

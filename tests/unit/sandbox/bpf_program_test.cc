// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/bpf_program.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "tests/support/bpf_interpreter.h"

namespace wardcase::sandbox {
namespace {

constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);

std::optional<std::uint32_t> ask(const std::vector<sock_filter>& program, int number) {
  seccomp_data call = {};
  call.nr = number;
  return test::run_filter(program, call);
}

TEST(BpfProgram, LoadsTestsAndAnswers) {
  BpfProgram program;
  const auto no = program.answer(20);
  const auto yes = program.answer(10);
  const auto start = program.load(kNumber, program.branch(BPF_JGE, 7, yes, no));
  const auto finished = std::move(program).finish(start);
  EXPECT_EQ(finished.size(), 4U);
  EXPECT_EQ(ask(finished, 6), 20U);
  EXPECT_EQ(ask(finished, 7), 10U);
}

TEST(BpfProgram, WritesAnAnswerOnce) {
  BpfProgram program;
  const auto first = program.answer(1);
  (void)program.answer(2);
  EXPECT_EQ(program.answer(1), first);
}

TEST(BpfProgram, LoadsOnTheWayToAnEarlierLabel) {
  BpfProgram program;
  const auto yes = program.answer(1);
  const auto test_of_number = program.branch(BPF_JEQ, 5, yes, program.answer(2));
  (void)program.answer(3);  // stands between
  const auto finished = std::move(program).finish(program.load(kNumber, test_of_number));
  EXPECT_EQ(ask(finished, 5), 1U);
  EXPECT_EQ(ask(finished, 6), 2U);
}

// One chain of tests of every length around the 255 that a conditional jump can
// skip, with an end that is an answer and one that is not.
TEST(BpfProgram, JumpsFartherThanOneInstructionCan) {
  for (int length = 240; length < 270; ++length) {
    BpfProgram program;
    const auto far_answer = program.answer(1000);
    const auto far_test = program.branch(BPF_JEQ, 5000, program.answer(2000), far_answer);
    auto next = program.answer(3000);
    for (int i = length; i > 0; --i) {
      const auto value = static_cast<std::uint32_t>(i);
      next = program.branch(BPF_JEQ, value, i % 2 == 0 ? far_answer : far_test, next);
    }
    next = program.branch(BPF_JEQ, 5000, far_test, next);
    next = program.branch(BPF_JEQ, 6000, far_answer, next);
    const auto start = program.load(kNumber, next);
    const auto finished = std::move(program).finish(start);
    EXPECT_EQ(ask(finished, 0), 3000U) << length;
    EXPECT_EQ(ask(finished, 5000), 2000U) << length;
    EXPECT_EQ(ask(finished, 6000), 1000U) << length;
    for (int i = 1; i <= length; ++i) EXPECT_EQ(ask(finished, i), 1000U) << length << ' ' << i;
  }
}

TEST(BpfInterpreter, TellsBrokenPrograms) {
  const auto run = [](std::vector<sock_filter> program) { return ask(program, 0); };
  EXPECT_EQ(run({}), std::nullopt);
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)}), std::nullopt);
  EXPECT_EQ(
      run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(seccomp_data)), BPF_STMT(BPF_RET | BPF_K, 1)}),
      std::nullopt);
  EXPECT_EQ(run({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), BPF_STMT(BPF_RET | BPF_K, 1)}),
            std::nullopt);
  EXPECT_EQ(run({BPF_STMT(BPF_JMP | BPF_JA, 1), BPF_STMT(BPF_RET | BPF_K, 1)}), std::nullopt);
  EXPECT_EQ(run({BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 1), BPF_STMT(BPF_RET | BPF_K, 1)}),
            std::nullopt);
}

}  // namespace
}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/seccomp_filter.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/bpf_program.h"
#include "sandbox/notified_answers.h"
#include "sandbox/syscall_names.h"

// The program: the architecture must be our own, the number must not carry the
// x32 bit, then a binary search finds the range that the number lies in. Next
// to each other and equal means one range; rules with equal tests share one
// body. libseccomp's own compiler is not used: it can't say "every number above
// the newest that we know", and its search is linear.

namespace wardcase::sandbox {
namespace {

using policies::Answer;
using policies::ArgTest;
using policies::SyscallCase;
using policies::SyscallRule;

static_assert(std::endian::native == std::endian::little,
              "the low half of an argument is taken to come first");

constexpr std::uint32_t kX32Bit = 0x4000'0000;
constexpr std::uint32_t kMinusOne = 0xffff'ffff;  // syscall(-1) asks what an unknown call answers

// All that init's loop needs (init_process.cc), and nothing that starts,
// opens or changes anything.
constexpr long kInitCalls[] = {
    SYS_ppoll,        SYS_read,          SYS_waitid,       SYS_sendmsg,
    SYS_recvfrom,     SYS_recvmsg,       SYS_exit_group,   SYS_restart_syscall,
    SYS_rt_sigreturn, SYS_clock_gettime, SYS_rt_sigaction, SYS_close};

// And to end the processes that no pid namespace ends.
constexpr long kEndingCalls[] = {SYS_kill, SYS_pread64};

std::uint32_t return_value(Answer answer) {
  switch (answer) {
    case Answer::allow:
      return SECCOMP_RET_ALLOW;
    case Answer::enosys:
      return SECCOMP_RET_ERRNO | ENOSYS;
    case Answer::eperm:
      return notified_errno(EPERM);
    case Answer::eafnosupport:
      return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    case Answer::kill:
      break;
  }
  return kNotifiedKill;
}

sys::Status check_tests(const SyscallRule& rule) {
  for (const SyscallCase& one_case : rule.cases) {
    for (const ArgTest& test : one_case.when) {
      if (test.argument > 5) {
        return tl::unexpected(
            sys::plain_error("seccomp rule '" + rule.name + "': arguments are 0 to 5"));
      }
      if (test.kind == ArgTest::Kind::has_any_bit && test.values.size() != 1) {
        return tl::unexpected(
            sys::plain_error("seccomp rule '" + rule.name + "': a test of bits has one mask"));
      }
    }
  }
  return {};
}

// The numbers from `first` up to the next range, and the rule for them.
struct Range {
  std::uint32_t first;
  const SyscallRule* rule;
};

sys::Result<std::vector<Range>> find_rules(std::span<const SyscallRule> rules) {
  std::vector<Range> found;
  found.reserve(rules.size());
  for (const SyscallRule& rule : rules) {
    if (sys::Status status = check_tests(rule); !status) return tl::unexpected(status.error());
    const auto number = syscall_number(rule.name);
    if (!number) {
      return tl::unexpected(
          sys::plain_error("seccomp rule '" + rule.name + "': no such system call"));
    }
    if (*number) found.push_back({**number, &rule});
  }
  std::ranges::sort(found, {}, &Range::first);
  const auto twice = std::ranges::adjacent_find(found, {}, &Range::first);
  if (twice != found.end()) {
    return tl::unexpected(
        sys::plain_error("seccomp rule '" + twice->rule->name + "': stands there twice"));
  }
  return found;
}

bool same_body(const SyscallRule& a, const SyscallRule& b) {
  return a.otherwise == b.otherwise && a.cases == b.cases;
}

// Covers all numbers: the rules, `standard` between them, `unknown` above.
std::vector<Range> cover_numbers(std::span<const Range> rules, const SyscallRule& standard,
                                 const SyscallRule& unknown) {
  std::vector<Range> ranges;
  ranges.reserve(2 * rules.size() + 2);
  const auto add = [&](std::uint32_t first, const SyscallRule& rule) {
    if (ranges.empty() || !same_body(*ranges.back().rule, rule)) ranges.push_back({first, &rule});
  };
  std::uint32_t next = 0;
  for (const Range& range : rules) {
    if (range.first > next) add(next, standard);
    add(range.first, *range.rule);
    next = range.first + 1;
  }
  if (next <= kNewestCall) add(next, standard);
  add(kNewestCall + 1, unknown);
  return ranges;
}

// Writes the ranges' bodies and the search for them.
class SearchWriter {
 public:
  using Label = BpfProgram::Label;

  explicit SearchWriter(BpfProgram& program) : program_(program) {}

  Label write_search(std::span<const Range> ranges) {
    if (ranges.size() == 1) return body_of(*ranges.front().rule);
    const std::size_t middle = ranges.size() / 2;
    const Label above = write_search(ranges.subspan(middle));
    const Label below = write_search(ranges.first(middle));
    return program_.branch(BPF_JGE, ranges[middle].first, above, below);
  }

 private:
  Label body_of(const SyscallRule& rule) {
    if (rule.cases.empty()) return answer(rule.otherwise);
    for (const auto& [written, label] : bodies_) {
      if (same_body(*written, rule)) return label;
    }
    bodies_.emplace_back(&rule, write_body(rule));
    return bodies_.back().second;
  }

  Label write_body(const SyscallRule& rule) {
    Label next = answer(rule.otherwise);
    for (auto one_case = rule.cases.rbegin(); one_case != rule.cases.rend(); ++one_case) {
      Label holds = answer(one_case->answer);
      for (auto test = one_case->when.rbegin(); test != one_case->when.rend(); ++test) {
        holds = write_test(*test, holds, next);
      }
      next = holds;
    }
    return next;
  }

  Label write_test(const ArgTest& test, Label yes, Label no) {
    const std::size_t low_half = offsetof(seccomp_data, args) + 8 * std::size_t{test.argument};
    if (test.kind == ArgTest::Kind::is_null) {
      const Label high = program_.branch(BPF_JEQ, 0, yes, no);
      const Label low = program_.branch(
          BPF_JEQ, 0, program_.load(static_cast<std::uint32_t>(low_half + 4), high), no);
      return program_.load(static_cast<std::uint32_t>(low_half), low);
    }
    const std::uint16_t jump = test.kind == ArgTest::Kind::any_of ? BPF_JEQ : BPF_JSET;
    Label next = no;
    for (auto value = test.values.rbegin(); value != test.values.rend(); ++value) {
      next = program_.branch(jump, *value, yes, next);
    }
    return program_.load(static_cast<std::uint32_t>(low_half), next);
  }

  Label answer(Answer answer) { return program_.answer(return_value(answer)); }

  BpfProgram& program_;
  std::vector<std::pair<const SyscallRule*, Label>> bodies_;
};

// Looks at the architecture before the number: the same number is another call
// elsewhere, and i386 calls can be made from a 64-bit program.
std::vector<sock_filter> finish_with_entry(BpfProgram program, BpfProgram::Label numbers) {
  const auto kill = program.answer(SECCOMP_RET_KILL_PROCESS);
  auto start = program.load(offsetof(seccomp_data, nr), numbers);
  start = program.branch(BPF_JEQ, ::seccomp_arch_native(), start, kill);
  start = program.load(offsetof(seccomp_data, arch), start);
  return std::move(program).finish(start);
}

// x32 calls come with the architecture of x86-64 and a bit in the number.
BpfProgram::Label refuse_x32(BpfProgram& program, BpfProgram::Label numbers) {
  const auto kill = program.answer(SECCOMP_RET_KILL_PROCESS);
  const auto unknown = program.answer(SECCOMP_RET_ERRNO | ENOSYS);
  const auto marked = program.branch(BPF_JEQ, kMinusOne, unknown, kill);
  return program.branch(BPF_JSET, kX32Bit, marked, numbers);
}

}  // namespace

sys::Result<std::vector<sock_filter>> compile_filter(const policies::SyscallPolicy& policy) {
  const auto rules = find_rules(policy.rules);
  if (!rules) return tl::unexpected(rules.error());

  const SyscallRule standard{.name = {}, .cases = {}, .otherwise = policy.standard, .why = {}};
  const SyscallRule unknown{.name = {}, .cases = {}, .otherwise = Answer::enosys, .why = {}};
  BpfProgram program;
  auto numbers = SearchWriter(program).write_search(cover_numbers(*rules, standard, unknown));
  if (::seccomp_arch_native() == SCMP_ARCH_X86_64) numbers = refuse_x32(program, numbers);
  std::vector<sock_filter> filter = finish_with_entry(std::move(program), numbers);
  if (filter.size() > BPF_MAXINSNS) {
    return tl::unexpected(sys::plain_error("seccomp filter: " + std::to_string(filter.size()) +
                                           " instructions, the kernel takes " +
                                           std::to_string(BPF_MAXINSNS)));
  }
  return filter;
}

std::vector<sock_filter> init_filter(EndOfTree end) {
  BpfProgram program;
  auto numbers = program.answer(SECCOMP_RET_KILL_PROCESS);
  const auto allow = program.answer(SECCOMP_RET_ALLOW);
  for (const long call : kInitCalls) {
    numbers = program.branch(BPF_JEQ, static_cast<std::uint32_t>(call), allow, numbers);
  }
  if (end == EndOfTree::by_init) {
    for (const long call : kEndingCalls) {
      numbers = program.branch(BPF_JEQ, static_cast<std::uint32_t>(call), allow, numbers);
    }
  }
  return finish_with_entry(std::move(program), numbers);
}

}  // namespace wardcase::sandbox

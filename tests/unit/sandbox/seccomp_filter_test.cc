// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/seccomp_filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "sandbox/notified_answers.h"
#include "tests/support/bpf_interpreter.h"
#include "tests/support/evaluate_policy.h"

// The compiled program against the policy itself, call by call.

namespace wardcase::sandbox {
namespace {

using policies::Answer;
using policies::ArgTest;
using policies::SyscallPolicy;
using policies::SyscallRule;
using test::Arguments;

constexpr std::uint32_t kRefused = SECCOMP_RET_USER_NOTIF | EPERM;
constexpr std::uint32_t kNewest = 469;  // file_setattr
constexpr int kLastNumber = 600;

std::uint32_t return_value(Answer answer) {
  switch (answer) {
    case Answer::allow:
      return SECCOMP_RET_ALLOW;
    case Answer::enosys:
      return SECCOMP_RET_ERRNO | ENOSYS;
    case Answer::eperm:
      return SECCOMP_RET_USER_NOTIF | EPERM;
    case Answer::eafnosupport:
      return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    default:
      return SECCOMP_RET_USER_NOTIF;
  }
}

std::vector<sock_filter> compile(const SyscallPolicy& policy) {
  auto compiled = compile_filter(policy);
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message());
  return compiled.value_or(std::vector<sock_filter>{});
}

std::optional<std::uint32_t> ask(const std::vector<sock_filter>& filter, std::uint32_t number,
                                 const Arguments& arguments = {},
                                 std::uint32_t architecture = ::seccomp_arch_native()) {
  seccomp_data call = {};
  call.nr = static_cast<int>(number);
  call.arch = architecture;
  std::ranges::copy(arguments, std::begin(call.args));
  return test::run_filter(filter, call);
}

// The rules of a policy by number, found apart from the compiler.
std::map<std::uint32_t, const SyscallRule*> rules_by_number(const SyscallPolicy& policy) {
  const std::map<std::string, int> newer = {{"fchmodat2", 452}, {"open_tree_attr", 467}};
  std::map<std::uint32_t, const SyscallRule*> rules;
  for (const SyscallRule& rule : policy.rules) {
    const auto found = newer.find(rule.name);
    const int number =
        found != newer.end() ? found->second : ::seccomp_syscall_resolve_name(rule.name.c_str());
    if (number >= 0) rules[static_cast<std::uint32_t>(number)] = &rule;
  }
  return rules;
}

// What may make a difference to an argument: the values that a rule tests and
// their neighbours, single bits of a mask, both halves set, nothing.
std::vector<std::uint64_t> telling_values(const SyscallRule& rule, std::size_t argument) {
  std::vector<std::uint64_t> values = {0, 1, UINT32_MAX, UINT64_MAX, std::uint64_t{1} << 32};
  for (const auto& one_case : rule.cases) {
    for (const ArgTest& test : one_case.when) {
      if (test.argument != argument) continue;
      for (const std::uint64_t value : test.values) {
        for (const std::uint64_t near : {value - 1, value, value + 1}) {
          values.push_back(near);
          values.push_back(near | std::uint64_t{0xdead'beef} << 32);
        }
        values.push_back(~value);
        if (test.kind == ArgTest::Kind::any_of) continue;
        for (int bit = 0; bit < 64; ++bit) values.push_back(std::uint64_t{1} << bit);
      }
    }
  }
  return values;
}

// Compares for all combinations of telling values of the arguments that are tested.
void expect_equal_on_rule(const std::vector<sock_filter>& filter, std::uint32_t number,
                          const SyscallRule& rule) {
  std::vector<Arguments> calls = {Arguments{}};
  for (std::size_t argument = 0; argument < 6; ++argument) {
    const auto values = telling_values(rule, argument);
    const bool is_tested = std::ranges::any_of(rule.cases, [&](const auto& one_case) {
      return std::ranges::any_of(one_case.when,
                                 [&](const ArgTest& test) { return test.argument == argument; });
    });
    std::vector<Arguments> more;
    for (Arguments call : calls) {
      for (const std::uint64_t value : values) {
        call[argument] = value;
        more.push_back(call);
        if (!is_tested) break;
      }
    }
    calls = std::move(more);
  }
  for (const Arguments& call : calls) {
    ASSERT_EQ(ask(filter, number, call), return_value(test::evaluate_rule(rule, call)))
        << rule.name << '(' << call[0] << ", " << call[1] << ", " << call[2] << ", " << call[3];
  }
}

void expect_equal(const SyscallPolicy& policy, const std::vector<sock_filter>& filter) {
  const auto rules = rules_by_number(policy);
  for (std::uint32_t number = 0; number <= kLastNumber; ++number) {
    if (const auto found = rules.find(number); found != rules.end()) {
      expect_equal_on_rule(filter, number, *found->second);
    } else {
      const Answer answer = number > kNewest ? Answer::enosys : policy.standard;
      for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX}) {
        ASSERT_EQ(ask(filter, number, {value, value, value, value, value, value}),
                  return_value(answer))
            << number;
      }
    }
  }
}

std::vector<SyscallPolicy> default_policies() {
  std::vector<SyscallPolicy> policies;
  for (const bool setid : {false, true}) {
    for (const bool affinity : {false, true}) {
      policies.push_back(policies::default_syscall_policy(
          {.refuse_setid_modes = setid, .pin_affinity = affinity}));
    }
  }
  return policies;
}

TEST(CompiledFilter, AnswersAsThePolicySays) {
  for (const SyscallPolicy& policy : default_policies()) {
    const auto filter = compile(policy);
    EXPECT_LT(filter.size(), 300U);
    expect_equal(policy, filter);
  }
}

TEST(CompiledFilter, WithoutAListenerAnswersAsItWould) {
  const SyscallPolicy policy = {Answer::allow,
                                {{"mount", {}, Answer::eperm, ""},
                                 {"reboot", {}, Answer::kill, ""},
                                 {"clone3", {}, Answer::enosys, ""},
                                 {"socket", {}, Answer::eafnosupport, ""}}};
  auto filter = compile(policy);
  answer_unasked(filter);
  EXPECT_EQ(ask(filter, SYS_mount), SECCOMP_RET_ERRNO | EPERM);
  EXPECT_EQ(ask(filter, SYS_reboot), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(ask(filter, SYS_clone3), SECCOMP_RET_ERRNO | ENOSYS);
  EXPECT_EQ(ask(filter, SYS_socket), SECCOMP_RET_ERRNO | EAFNOSUPPORT);
  EXPECT_EQ(ask(filter, SYS_read), SECCOMP_RET_ALLOW);
  EXPECT_EQ(ask(filter, kNewest + 1), SECCOMP_RET_ERRNO | ENOSYS);
}

TEST(CompiledFilter, KillsCallsOfOtherArchitectures) {
  const auto filter = compile(policies::default_syscall_policy({}));
  for (const std::uint32_t architecture : std::initializer_list<std::uint32_t>{
           AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64,
           AUDIT_ARCH_RISCV64, AUDIT_ARCH_S390X, AUDIT_ARCH_PPC64LE, 0, 0xffff'ffff}) {
    if (architecture == ::seccomp_arch_native()) continue;
    for (const std::uint32_t number : {0U, 11U, 435U, kNewest + 1, 0xffff'ffffU}) {
      EXPECT_EQ(ask(filter, number, {}, architecture), SECCOMP_RET_KILL_PROCESS) << architecture;
      EXPECT_EQ(ask(init_filter(), number, {}, architecture), SECCOMP_RET_KILL_PROCESS);
    }
  }
}

TEST(CompiledFilter, KnowsNoCallAboveTheNewest) {
  const auto filter = compile(policies::default_syscall_policy({}));
  EXPECT_EQ(ask(filter, kNewest), SECCOMP_RET_ALLOW);
  for (const std::uint32_t number : {kNewest + 1, 512U, 1000U, 0x3fff'ffffU, 0xffff'ffffU}) {
    EXPECT_EQ(ask(filter, number), SECCOMP_RET_ERRNO | ENOSYS) << number;
  }
}

#if defined(__x86_64__)
TEST(CompiledFilter, KillsX32CallsButNotMinusOne) {
  const auto filter = compile(policies::default_syscall_policy({}));
  for (const std::uint32_t number : {0U, 1U, 39U, 435U, 512U, 0x3fff'ffffU}) {
    EXPECT_EQ(ask(filter, number | 0x4000'0000), SECCOMP_RET_KILL_PROCESS) << number;
    EXPECT_EQ(ask(filter, number | 0xc000'0000),
              number == 0x3fff'ffff ? SECCOMP_RET_ERRNO | ENOSYS : SECCOMP_RET_KILL_PROCESS)
        << number;
  }
}

TEST(CompiledFilter, PassesOverCallsOfOtherArchitectures) {
  const auto filter = compile({Answer::allow, {{"umount", {}, Answer::kill, "not on x86-64"}}});
  for (std::uint32_t number = 0; number <= kNewest; ++number) {
    EXPECT_EQ(ask(filter, number), SECCOMP_RET_ALLOW) << number;
  }
}
#endif

TEST(CompiledFilter, CanBeAnAllowList) {
  const auto filter = compile({Answer::kill,
                               {{"read", {}, Answer::allow, ""},
                                {"file_setattr", {}, Answer::allow, ""},
                                {"write", {{{}, Answer::eperm}}, Answer::allow, ""}}});
  EXPECT_EQ(ask(filter, SYS_read), SECCOMP_RET_ALLOW);
  EXPECT_EQ(ask(filter, SYS_write), kRefused);  // no test: always holds
  EXPECT_EQ(ask(filter, SYS_execve), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(ask(filter, kNewest), SECCOMP_RET_ALLOW);
  EXPECT_EQ(ask(filter, kNewest + 1), SECCOMP_RET_ERRNO | ENOSYS);
}

TEST(CompiledFilter, KnowsCallsNewerThanLibseccomp) {
  const std::map<std::string, std::uint32_t> newer = {
      {"cachestat", 451},         {"fchmodat2", 452},        {"map_shadow_stack", 453},
      {"futex_wake", 454},        {"futex_wait", 455},       {"futex_requeue", 456},
      {"statmount", 457},         {"listmount", 458},        {"lsm_get_self_attr", 459},
      {"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
      {"setxattrat", 463},        {"getxattrat", 464},       {"listxattrat", 465},
      {"removexattrat", 466},     {"open_tree_attr", 467},   {"file_getattr", 468},
      {"file_setattr", 469}};
  for (const auto& [name, number] : newer) {
    const auto filter = compile({Answer::allow, {{name, {}, Answer::kill, ""}}});
    for (std::uint32_t other = 440; other <= kNewest; ++other) {
      EXPECT_EQ(ask(filter, other) == SECCOMP_RET_USER_NOTIF, other == number) << name;
    }
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (int number = 0; number < 450; ++number) {
    const std::unique_ptr<char, decltype(&std::free)> name(
        ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), &std::free);
    if (name) names.emplace_back(name.get());
  }
  return names;
}

class RandomPolicy {
 public:
  explicit RandomPolicy(unsigned seed) : random_(seed) {}

  SyscallPolicy make(std::vector<std::string> names) {
    SyscallPolicy policy;
    policy.standard = answer();
    std::ranges::shuffle(names, random_);
    names.resize(below(names.size()));
    for (std::string& name : names) {
      policy.rules.push_back({std::move(name), {}, answer(), ""});
      if (below(12) == 0) {
        for (std::size_t i = below(3); i > 0; --i) policy.rules.back().cases.push_back(one_case());
      }
    }
    return policy;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  Answer answer() { return static_cast<Answer>(below(5)); }
  policies::SyscallCase one_case() {
    policies::SyscallCase made{{}, answer()};
    for (std::size_t i = below(3); i > 0; --i) {
      ArgTest test{static_cast<std::uint8_t>(below(6)),
                   ArgTest::Kind::has_any_bit,
                   {static_cast<std::uint32_t>(random_())}};
      if (below(2) == 0) {
        test.kind = ArgTest::Kind::any_of;
        test.values.resize(below(5));
        for (std::uint32_t& value : test.values) value = static_cast<std::uint32_t>(below(8));
      }
      if (below(4) == 0) test = {test.argument, ArgTest::Kind::is_null, {}};
      made.when.push_back(std::move(test));
    }
    return made;
  }

  std::minstd_rand random_;
};

TEST(CompiledFilter, AnswersAsRandomPoliciesSay) {
  const auto names = all_names();
  ASSERT_GT(names.size(), 200U);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const SyscallPolicy policy = RandomPolicy(seed).make(names);
    const auto rules = rules_by_number(policy);
    const auto filter = compile(policy);
    std::minstd_rand random(seed);
    for (std::uint32_t number = 0; number <= kNewest; ++number) {
      const auto found = rules.find(number);
      for (int i = 0; i < 20; ++i) {
        Arguments call;
        for (auto& argument : call)
          argument = i < 10 ? random() % 8 : random() * std::uint64_t{random()};
        const Answer answer =
            found == rules.end() ? policy.standard : test::evaluate_rule(*found->second, call);
        ASSERT_EQ(ask(filter, number, call), return_value(answer)) << seed << ' ' << number;
      }
    }
  }
}

TEST(CompiledFilter, TakesLongListsOfValues) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t value = 0; value < 1000; ++value) values.push_back(3 * value);
  const auto filter = compile(
      {Answer::allow,
       {{"ioctl", {{{{1, ArgTest::Kind::any_of, values}}, Answer::eperm}}, Answer::enosys, ""}}});
  for (std::uint32_t value = 0; value < 3003; ++value) {
    const bool is_listed = value % 3 == 0 && value < 3000;
    ASSERT_EQ(ask(filter, SYS_ioctl, {0, value}),
              is_listed ? kRefused : SECCOMP_RET_ERRNO | ENOSYS);
  }
  EXPECT_EQ(ask(filter, SYS_read), SECCOMP_RET_ALLOW);
}

std::string refusal(const SyscallRule& rule) {
  const auto compiled = compile_filter({Answer::allow, {{"read", {}, Answer::allow, ""}, rule}});
  return compiled ? "" : compiled.error().message();
}

TEST(CompiledFilter, NamesWhatItCannotCompile) {
  EXPECT_EQ(refusal({"no_such_call", {}, Answer::eperm, ""}),
            "seccomp rule 'no_such_call': no such system call");
  EXPECT_EQ(refusal({"", {}, Answer::eperm, ""}), "seccomp rule '': no such system call");
  EXPECT_EQ(refusal({"read", {}, Answer::eperm, ""}), "seccomp rule 'read': stands there twice");
  EXPECT_EQ(
      refusal({"ioctl", {{{{6, ArgTest::Kind::any_of, {1}}}, Answer::eperm}}, Answer::allow, ""}),
      "seccomp rule 'ioctl': arguments are 0 to 5");
  EXPECT_EQ(
      refusal(
          {"ioctl", {{{{1, ArgTest::Kind::has_any_bit, {}}}, Answer::eperm}}, Answer::allow, ""}),
      "seccomp rule 'ioctl': a test of bits has one mask");
}

TEST(CompiledFilter, RefusesWhatTheKernelWouldNotTake) {
  const std::vector<std::uint32_t> values(5000, 1);
  EXPECT_NE(
      refusal({"ioctl", {{{{1, ArgTest::Kind::any_of, values}}, Answer::eperm}}, Answer::allow, ""})
          .find("instructions, the kernel takes 4096"),
      std::string::npos);
}

TEST(InitFilter, AllowsTheLoopOfInitAndNothingElse) {
  const auto filter = init_filter();
  const std::vector<std::uint32_t> allowed = {
      SYS_ppoll,        SYS_read,          SYS_waitid,       SYS_sendmsg,
      SYS_recvfrom,     SYS_recvmsg,       SYS_exit_group,   SYS_restart_syscall,
      SYS_rt_sigreturn, SYS_clock_gettime, SYS_rt_sigaction, SYS_close};
  for (std::uint32_t number = 0; number <= kLastNumber; ++number) {
    const bool is_allowed = std::ranges::find(allowed, number) != allowed.end();
    EXPECT_EQ(ask(filter, number), is_allowed ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS)
        << number;
  }
  EXPECT_EQ(ask(filter, 0xffff'ffff), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(ask(filter, 0x4000'0000), SECCOMP_RET_KILL_PROCESS);
}

TEST(InitFilter, LetsInitKillWhereNoPidNamespaceDoes) {
  const auto filter = init_filter(EndOfTree::by_init);
  const auto usual = init_filter();
  for (std::uint32_t number = 0; number <= kLastNumber; ++number) {
    const bool is_for_ending = number == SYS_kill || number == SYS_pread64;
    EXPECT_EQ(ask(filter, number), is_for_ending ? SECCOMP_RET_ALLOW : ask(usual, number))
        << number;
  }
}

}  // namespace
}  // namespace wardcase::sandbox

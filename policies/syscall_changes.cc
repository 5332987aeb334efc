// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <algorithm>
#include <iterator>

#include "policies/syscall_policy.h"

// What a policy may change of the built-in rules, and what it may not: rules that
// protect init, hold a limit or keep setuid files from outliving the box always stand.

namespace wardcase::policies {
namespace {

// Between the loading of the filter and the program's own first call: "ready" is
// sent, the open files are limited, exec is tried, a failure told. Without the rest nothing could
// ever end.
constexpr std::string_view kAlwaysAllowed[] = {"execve",        "sendmsg",        "prlimit64",
                                               "clock_gettime", "exit",           "exit_group",
                                               "rt_sigreturn",  "restart_syscall"};

// Rules that look at arguments and may be lifted as a whole, besides the groups.
constexpr std::string_view kLiftable[] = {"unshare", "clone",   "socket",     "socketpair",
                                          "ioctl",   "seccomp", "personality"};

struct NamedAnswer {
  std::string_view name;
  Answer answer;
};
constexpr NamedAnswer kAnswers[] = {{"allow", Answer::allow},
                                    {"errno:ENOSYS", Answer::enosys},
                                    {"errno:EPERM", Answer::eperm},
                                    {"errno:EAFNOSUPPORT", Answer::eafnosupport},
                                    {"kill", Answer::kill}};

template <typename List>
bool has(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

bool lets_through(const SyscallRule& rule) {
  return rule.otherwise == Answer::allow ||
         std::ranges::any_of(rule.cases, [](const SyscallCase& one_case) {
           return one_case.answer == Answer::allow;
         });
}

// `standard` is no longer `allow`: only what is named passes, within its own rule.
void close_what_is_open(SyscallPolicy& policy, const SyscallChanges& changes) {
  const auto is_allowed = [&](std::string_view name) {
    return has(changes.allowed, name) || has(changes.lifted, name) || has(kAlwaysAllowed, name);
  };
  std::erase_if(policy.rules, [&](const SyscallRule& rule) {
    return lets_through(rule) && !is_allowed(rule.name);
  });
  const auto allow = [&](std::string_view name) {
    if (std::ranges::find(policy.rules, name, &SyscallRule::name) != policy.rules.end()) return;
    policy.rules.push_back({std::string(name), {}, Answer::allow, "the policy allows it"});
  };
  for (const std::string_view name : kAlwaysAllowed) allow(name);
  for (const std::string& name : changes.allowed) allow(name);
  for (const std::string& name : changes.lifted) allow(name);
}

}  // namespace

SyscallPolicy change(SyscallPolicy rules, const SyscallChanges& changes) {
  std::erase_if(rules.rules, [&](const SyscallRule& rule) {
    return has(changes.lifted, rule.name) && can_be_lifted(rule.name);
  });
  rules.standard = changes.standard;
  if (changes.standard != Answer::allow) close_what_is_open(rules, changes);
  for (const SyscallRule& denied : changes.denied) {
    std::erase_if(rules.rules, [&](const SyscallRule& rule) { return rule.name == denied.name; });
    rules.rules.push_back(denied);
  }
  return rules;
}

sys::Status open_call(SyscallChanges& changes, const std::string& call, const std::string& policy) {
  const auto refuse = [&](const std::string& why) -> sys::Status {
    return tl::unexpected(sys::plain_error("policy '" + policy + "' " + why));
  };
  if (std::ranges::find(changes.denied, call, &SyscallRule::name) != changes.denied.end()) {
    return refuse("denies it (syscalls.deny)");
  }
  if (has(changes.opened, call)) return {};
  if (has(changes.openable, call)) {
    changes.lifted.push_back(call);
    changes.allowed.push_back(call);
    changes.opened.push_back(call);
    return {};
  }
  const bool is_closed = changes.standard != Answer::allow;
  if (has(changes.lifted, call) || (is_closed && has(changes.allowed, call))) return {};
  if (can_be_lifted(call) || is_closed) {
    return refuse("does not let it be opened; it would have to stand in syscalls.openable there");
  }
  return refuse("has no rule for it that can be lifted");
}

std::optional<std::string_view> why_refused(std::string_view call) {
  for (const SyscallGroup& group : built_in_groups()) {
    if (has(group.calls, call)) return group.why;
  }
  return std::nullopt;
}

bool can_be_lifted(std::string_view call) { return why_refused(call) || has(kLiftable, call); }

bool needs_it_to_start(std::string_view call) {
  return call == "execve" || call == "sendmsg" || call == "prlimit64";
}

std::string_view answer_name(Answer answer) {
  const auto* const found = std::ranges::find(kAnswers, answer, &NamedAnswer::answer);
  return found->name;
}

std::optional<Answer> find_answer(std::string_view name) {
  const auto* const found = std::ranges::find(kAnswers, name, &NamedAnswer::name);
  if (found == std::end(kAnswers)) return std::nullopt;
  return found->answer;
}

}  // namespace wardcase::policies

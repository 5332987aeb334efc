// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/refused_calls.h"

#include <algorithm>
#include <iterator>

#include "sandbox/syscall_names.h"
#include "supervisor/run/call_detail.h"

namespace wardcase::supervisor {
namespace {

using policies::Answer;

// What would let the call through, as a clause.
std::string remedy_for(const std::string& name, const RunSpec& spec) {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  const std::string policy = "policy '" + spec.policy + "'";
  const auto& denied = spec.syscalls.denied;
  if (std::ranges::find(denied, name, &policies::SyscallRule::name) != denied.end()) {
    return policy + " denies it in syscalls.deny";
  }
  if (holds(spec.syscalls.openable)) return "allow it with --allow-syscalls " + name;
  if (policies::can_be_lifted(name)) {
    return "a policy can allow it, by a reason in [dangerous.syscalls] " + name;
  }
  if (spec.syscalls.standard != Answer::allow && !holds(spec.syscalls.allowed)) {
    return policy + " would have to name it in syscalls.allow";
  }
  return "no policy can allow it";
}

}  // namespace

RefusedCalls::Noted RefusedCalls::note(const seccomp_data& call) {
  const auto number = static_cast<std::uint32_t>(call.nr);
  std::string name = sandbox::syscall_name(number);
  if (name.empty()) name = "system call " + std::to_string(number);
  policies::SyscallArguments arguments = {};
  std::ranges::copy(call.args, arguments.begin());
  const policies::SyscallRule* rule = policies::rule_of(rules_, name);
  auto noted = std::ranges::find(calls_, name, &DeniedCall::name);
  if (noted == calls_.end()) {
    calls_.push_back(
        {.name = name,
         .count = 0,
         .detail = describe_arguments(name, arguments),
         .why = rule != nullptr && !rule->why.empty() ? rule->why : "no rule allows it",
         .remedy = remedy_for(name, spec_)});
    noted = std::prev(calls_.end());
  }
  ++noted->count;
  // Whatever else we make of it: it was notified, and so it is not let through.
  const bool kills = policies::answer_to(rules_, rule, arguments) == Answer::kill;
  return {kills ? Answer::kill : Answer::eperm, *noted};
}

std::string hint_of_refusal(const RunRecord& record) {
  const bool has_failed = (record.status == RunStatus::exited && !record.success()) ||
                          record.status == RunStatus::signaled ||
                          record.status == RunStatus::denied;
  if (!has_failed || !record.denied_syscalls || record.denied_syscalls->empty()) return "";
  const DeniedCall& last = record.denied_syscalls->back();
  return "the policy refused " + last.name + "; " + last.remedy;
}

std::string name_with_detail(const DeniedCall& call) {
  return call.detail.empty() ? call.name : call.name + " (" + call.detail + ")";
}

}  // namespace wardcase::supervisor

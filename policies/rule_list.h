// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/syscall_policy.h"

// How the built-in rules are written down (syscall_policy.cc, rules_without_namespaces.cc).
namespace wardcase::policies {

inline ArgTest equals_any(std::uint8_t argument, std::vector<std::uint32_t> values) {
  return {argument, ArgTest::Kind::any_of, std::move(values)};
}

inline ArgTest has_bits(std::uint8_t argument, std::uint32_t mask) {
  return {argument, ArgTest::Kind::has_any_bit, {mask}};
}

// Collects rules, each with its reason.
class RuleList {
 public:
  RuleList() { rules_.reserve(150); }  // on the way to a start: grown in one step

  void add(std::string_view name, std::vector<SyscallCase> cases, Answer otherwise,
           std::string_view why) {
    rules_.push_back({std::string(name), std::move(cases), otherwise, std::string(why)});
  }
  void refuse_all(std::string_view name, Answer answer, std::string_view why) {
    add(name, {}, answer, why);
  }
  void refuse_when(std::string_view name, std::vector<ArgTest> tests, std::string_view why) {
    add(name, {{std::move(tests), Answer::eperm}}, Answer::allow, why);
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(rules_, name, &SyscallRule::name) != rules_.end();
  }
  [[nodiscard]] std::vector<SyscallRule> take() && { return std::move(rules_); }

 private:
  std::vector<SyscallRule> rules_;
};

// For a box that has no namespaces, in place of the rules about sockets and init.
void add_rules_without_namespaces(RuleList& rules, const SyscallOptions& options);

}  // namespace wardcase::policies

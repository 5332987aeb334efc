// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::policies {

// What a program is told when it makes a system call.
//
// enosys        "this kernel has no such call": libraries probe and fall back
// eperm         refused, and worth telling the user of
// eafnosupport  refused socket families
// kill          the process ends with SIGSYS
enum class Answer : std::uint8_t { allow, enosys, eperm, eafnosupport, kill };

// A test of the low 32 bits of one argument. Only the low half is looked at
// because the kernel truncates ioctl commands and modes to 32 bits: a compare of
// all 64 let commands with high bits through (CVE-2019-10063). A pointer is tested whole: one
// whose low half is 0 is no null.
struct ArgTest {
  enum class Kind : std::uint8_t { any_of, has_any_bit, is_null };
  std::uint8_t argument = 0;  // 0-5
  Kind kind = Kind::any_of;
  // any_of: equal to one of them; has_any_bit: one mask; is_null: none
  std::vector<std::uint32_t> values;

  friend bool operator==(const ArgTest&, const ArgTest&) = default;
};

struct SyscallCase {
  std::vector<ArgTest> when;  // all must hold
  Answer answer = Answer::allow;

  friend bool operator==(const SyscallCase&, const SyscallCase&) = default;
};

struct SyscallRule {
  std::string name;
  std::vector<SyscallCase> cases;  // the first that holds answers
  Answer otherwise = Answer::allow;
  std::string why;  // one clause for people
};

struct SyscallPolicy {
  Answer standard = Answer::allow;  // calls that no rule names
  std::vector<SyscallRule> rules;   // one a name
};

struct SyscallOptions {
  // A bind can be written to: files that the program makes outlive the box on
  // the host, so setuid and setgid modes are refused wherever a mode is given,
  // and openat2 (its mode is behind a pointer) answers ENOSYS.
  bool refuse_setid_modes = false;
  // A watcher holds the memory limit, and sees only what is mapped or lies in a
  // file system of the box: memory without a place (memfd_create, System V
  // objects) answers ENOSYS, a shared mapping of no file EPERM.
  bool refuse_uncounted_memory = false;
  // Nothing but the processor affinity holds the cpus limit: it must not be
  // changed from inside.
  bool pin_affinity = false;

  // Without namespaces the host's objects are in reach, and these rules stand in their place.
  bool own_namespaces = true;
  bool own_network = true;       // without namespaces: no socket at all
  bool own_user = true;          // nobody else on the host has the box's user id
  bool truncate_is_held = true;  // by Landlock, which knows it from ABI 3
  // Some of the files that can be opened are only to be read, and may be the user's own: an owner
  // may change what is no content by any descriptor.
  bool keeps_attributes = false;
};

// The deny list for interpreters and compilers. It also names calls that some
// architectures lack.
[[nodiscard]] SyscallPolicy default_syscall_policy(const SyscallOptions& options);

// Calls of the deny list that have one answer whatever their arguments, and
// that a policy names together as "@mount", which is written here without the "@".
struct SyscallGroup {
  std::string_view name;
  std::span<const std::string_view> calls;
  Answer answer;
  std::string_view why;
};
[[nodiscard]] std::span<const SyscallGroup> built_in_groups();

// Groups by name, for lists of allowed calls; groups.toml has the shipped ones.
using SyscallGroups = std::map<std::string, std::vector<std::string>, std::less<>>;

// What a policy makes different. Single names, each may stand there twice.
struct SyscallChanges {
  Answer standard = Answer::allow;   // for calls that nothing names
  std::vector<std::string> allowed;  // let through where `standard` would not
  std::vector<SyscallRule> denied;   // these win over everything
  std::vector<std::string> lifted;   // built-in rules that do not hold
  // What whoever asks for a run may have let through besides, and what he has.
  std::vector<std::string> openable;
  std::vector<std::string> opened;
};

// The rules with the changes. Where `standard` is no longer `allow`, a built-in
// rule that lets a call through for some arguments holds only for a call that is in
// `allowed`, and the few calls that become the program and end it stay allowed.
[[nodiscard]] SyscallPolicy change(SyscallPolicy rules, const SyscallChanges& changes);

using SyscallArguments = std::array<std::uint64_t, 6>;

// The rule for the call; nullptr: none names it, and `standard` answers.
[[nodiscard]] const SyscallRule* rule_of(const SyscallPolicy& policy, std::string_view name);
// What the rule, or without one the policy, answers to these arguments.
[[nodiscard]] Answer answer_to(const SyscallPolicy& policy, const SyscallRule* rule,
                               const SyscallArguments& arguments);

// Has the call let through, which `policy` (its name) must have as openable and not deny.
// The error says what stands against it, and where that can be changed.
[[nodiscard]] sys::Status open_call(SyscallChanges& changes, const std::string& call,
                                    const std::string& policy);

// Why the built-in rules refuse the call outright; nullopt: they do not.
[[nodiscard]] std::optional<std::string_view> why_refused(std::string_view call);
// Whether there is a rule for the call that a policy may lift: not one that
// protects init, holds a limit or keeps setuid files from outliving the box.
[[nodiscard]] bool can_be_lifted(std::string_view call);

// Whether a start makes the call once the filter is loaded.
[[nodiscard]] bool needs_it_to_start(std::string_view call);

// "allow", "errno:ENOSYS", "errno:EPERM", "errno:EAFNOSUPPORT", "kill", as policies write them.
[[nodiscard]] std::string_view answer_name(Answer answer);
[[nodiscard]] std::optional<Answer> find_answer(std::string_view name);

}  // namespace wardcase::policies

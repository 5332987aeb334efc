// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
// all 64 let commands with high bits through (CVE-2019-10063).
struct ArgTest {
  enum class Kind : std::uint8_t { any_of, has_any_bit };
  std::uint8_t argument = 0;  // 0-5
  Kind kind = Kind::any_of;
  std::vector<std::uint32_t> values;  // any_of: equal to one of them; has_any_bit: one mask

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
  // shared memory) answers ENOSYS.
  bool refuse_uncounted_memory = false;
  // Nothing but the processor affinity holds the cpus limit: it must not be
  // changed from inside.
  bool pin_affinity = false;
};

// The deny list for interpreters and compilers. It also names calls that some
// architectures lack.
[[nodiscard]] SyscallPolicy default_syscall_policy(const SyscallOptions& options);

}  // namespace wardcase::policies

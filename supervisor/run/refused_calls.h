// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/seccomp.h>

#include <vector>

#include "policies/syscall_policy.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// What the kernel notified us of, by name of the call. Bounded: a program can't make up
// names, and of each the first call alone is described.
class RefusedCalls {
 public:
  // Both must outlive it. `rules` are those that the loaded filter was compiled from.
  RefusedCalls(const policies::SyscallPolicy& rules, const RunSpec& spec)
      : rules_(rules), spec_(spec) {}

  struct Noted {
    policies::Answer answer;  // the policy's: eperm or kill
    const DeniedCall& call;   // until the next one
  };
  Noted note(const seccomp_data& call);

  // In the order of their first calls.
  [[nodiscard]] const std::vector<DeniedCall>& calls() const { return calls_; }

 private:
  const policies::SyscallPolicy& rules_;
  const RunSpec& spec_;
  std::vector<DeniedCall> calls_;
};

// The next step after a run that failed, by the call that was refused for the first time
// last: nearest to the end. "" where the run did not fail, or nothing was refused.
[[nodiscard]] std::string hint_of_refusal(const RunRecord& record);

// "ptrace (PTRACE_TRACEME)"
[[nodiscard]] std::string name_with_detail(const DeniedCall& call);

}  // namespace wardcase::supervisor

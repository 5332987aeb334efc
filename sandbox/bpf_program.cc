// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/bpf_program.h"

#include <algorithm>

namespace wardcase::sandbox {
namespace {

// A conditional jump skips at most 255 instructions; one less, since a step
// for its other way may yet be written between.
constexpr std::size_t kReach = 254;

}  // namespace

BpfProgram::Label BpfProgram::append(std::uint16_t code, std::uint32_t value, std::uint8_t yes,
                                     std::uint8_t no) {
  reversed_.push_back({code, yes, no, value});
  return Label{reversed_.size() - 1};
}

std::size_t BpfProgram::distance_to(Label target) const {
  return reversed_.size() - 1 - static_cast<std::size_t>(target);
}

BpfProgram::Label BpfProgram::answer(std::uint32_t seccomp_return) {
  const auto known = std::ranges::find_if(
      answers_, [&](const auto& entry) { return entry.first == seccomp_return; });
  if (known != answers_.end() && distance_to(known->second) <= kReach) return known->second;

  const Label label = append(BPF_RET | BPF_K, seccomp_return);
  if (known == answers_.end()) {
    answers_.emplace_back(seccomp_return, label);
  } else {
    known->second = label;
  }
  return label;
}

BpfProgram::Label BpfProgram::within_reach(Label target) {
  if (distance_to(target) <= kReach) return target;
  const sock_filter there = reversed_[static_cast<std::size_t>(target)];
  if (there.code == (BPF_RET | BPF_K)) return answer(there.k);
  return append(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(distance_to(target)));
}

BpfProgram::Label BpfProgram::load(std::uint32_t offset, Label next) {
  if (const std::size_t distance = distance_to(next); distance != 0) {
    (void)append(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(distance));  // falls through to it
  }
  return append(BPF_LD | BPF_W | BPF_ABS, offset);
}

BpfProgram::Label BpfProgram::branch(std::uint16_t test, std::uint32_t value, Label yes, Label no) {
  const Label near_yes = within_reach(yes);
  const Label near_no = within_reach(no);
  return append(static_cast<std::uint16_t>(BPF_JMP | BPF_K | test), value,
                static_cast<std::uint8_t>(distance_to(near_yes)),
                static_cast<std::uint8_t>(distance_to(near_no)));
}

std::vector<sock_filter> BpfProgram::finish(Label start) && {
  reversed_.resize(static_cast<std::size_t>(start) + 1);
  std::ranges::reverse(reversed_);
  return std::move(reversed_);
}

}  // namespace wardcase::sandbox

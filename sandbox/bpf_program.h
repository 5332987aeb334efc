// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wardcase::sandbox {

// A classic BPF program for seccomp, written back to front: BPF jumps only
// forward, so whatever an instruction leads to is there before the instruction
// itself, and every distance is known when it is written. Parts with the same
// end share it.
class BpfProgram {
 public:
  // A place to go to: an instruction, counted from the program's end.
  enum class Label : std::size_t {};

  // Ends the filter with the value that seccomp(2) is to act on.
  [[nodiscard]] Label answer(std::uint32_t seccomp_return);
  // Loads the 32-bit word at `offset` of seccomp_data, then goes on at `next`.
  [[nodiscard]] Label load(std::uint32_t offset, Label next);
  // Tests the loaded word; `test` is BPF_JEQ, BPF_JGE or BPF_JSET.
  [[nodiscard]] Label branch(std::uint16_t test, std::uint32_t value, Label yes, Label no);

  // The program that begins at `start`.
  [[nodiscard]] std::vector<sock_filter> finish(Label start) &&;

 private:
  [[nodiscard]] Label append(std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0,
                             std::uint8_t no = 0);
  // How many instructions one written next would have to skip to get to `target`.
  [[nodiscard]] std::size_t distance_to(Label target) const;
  // `target`, or a step towards it that a conditional jump can reach.
  [[nodiscard]] Label within_reach(Label target);

  std::vector<sock_filter> reversed_;
  std::vector<std::pair<std::uint32_t, Label>> answers_;  // the nearest of each value
};

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/bpf_interpreter.h"

#include <cstddef>
#include <cstring>

namespace wardcase::test {
namespace {

std::optional<std::uint32_t> load_word(const seccomp_data& call, std::uint32_t offset) {
  if (offset % 4 != 0 || offset > sizeof call - 4) return std::nullopt;
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&call) + offset, sizeof word);
  return word;
}

// How many instructions a jump skips.
std::optional<std::size_t> jump(const sock_filter& instruction, std::uint32_t loaded) {
  const std::uint32_t value = instruction.k;
  const auto either = [&](bool holds) -> std::size_t {
    return holds ? instruction.jt : instruction.jf;
  };
  switch (instruction.code) {
    case BPF_JMP | BPF_JA:
      return value;
    case BPF_JMP | BPF_JEQ | BPF_K:
      return either(loaded == value);
    case BPF_JMP | BPF_JGE | BPF_K:
      return either(loaded >= value);
    case BPF_JMP | BPF_JSET | BPF_K:
      return either((loaded & value) != 0);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> run_filter(std::span<const sock_filter> program,
                                        const seccomp_data& call) {
  std::uint32_t loaded = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& instruction = program[at];
    if (instruction.code == (BPF_RET | BPF_K)) return instruction.k;
    if (instruction.code == (BPF_LD | BPF_W | BPF_ABS)) {
      const auto word = load_word(call, instruction.k);
      if (!word) return std::nullopt;
      loaded = *word;
    } else {
      const auto skipped = jump(instruction, loaded);
      if (!skipped) return std::nullopt;
      at += *skipped;
    }
  }
  return std::nullopt;
}

}  // namespace wardcase::test

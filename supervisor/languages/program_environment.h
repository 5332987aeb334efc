// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language.h"
#include "policies/limits.h"
#include "policies/word_template.h"

namespace wardcase::supervisor {

// Whether somebody can answer what the program asks.
enum class Audience : std::uint8_t { nobody, at_terminal };

// The variables a program starts with, and nothing of the caller's own.
// `limits`: resolved; what `languages` need to be told of them they are told by variables, since
// inside the box they can't see any.
[[nodiscard]] std::vector<std::string> standard_environment(
    const policies::Limits& limits, std::span<const policies::Language> languages,
    Audience audience);

// The placeholders of languages' words that stand for limits: {memory_bytes}, {memory_mib},
// {heap_mib} (what a heap may have of them) and {cpus}.
[[nodiscard]] std::vector<policies::Filling> limit_fillings(const policies::Limits& limits);

// Sets "NAME=VALUE" in place of an earlier value of NAME.
void set_variable(std::vector<std::string>& environment, std::string_view variable);

// The same for many, in time that grows with their number alone.
void set_variables(std::vector<std::string>& environment, std::span<const std::string> variables);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/options.h"
#include "supervisor/languages/cache_collection.h"

namespace wardcase::supervisor {

// `wardcase gc`: removes what was kept for later runs and was not used for long.
[[nodiscard]] int gc_command(std::span<const std::string> words);
[[nodiscard]] std::string_view gc_help_head();  // what stands before its options
[[nodiscard]] std::vector<OptionRow> gc_option_table();

// `30d`, or as limits have times; `0` is every age.
[[nodiscard]] sys::Result<std::chrono::seconds> parse_age(std::string_view text);

// One JSON object: what went, and what stayed.
[[nodiscard]] std::string collection_to_json(const Collection& collection, bool dry_run);

}  // namespace wardcase::supervisor

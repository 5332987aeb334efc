// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "supervisor/cli/run_options.h"
#include "supervisor/sessions/session_prelude.h"

namespace wardcase::supervisor {

// What `wardcase session new` was asked for.
struct SessionOptions {
  std::string id;  // chosen where none was given
  std::string language = "python";
  std::chrono::milliseconds ttl;
  std::chrono::milliseconds idle_ttl;  // 0: none
  RunOptions box;                      // its program is nobody's
  std::map<std::string, SessionPrelude> preludes;
  std::vector<Requirement> requirements;  // installed before anybody can use it
  std::string words;                      // as they were written, a line each; without requirements
};

[[nodiscard]] std::vector<OptionRow> session_option_table();

// `words` without the word `new`.
[[nodiscard]] sys::Result<SessionOptions> parse_session_options(std::span<const std::string> words);

// "30s", "1h"; at most a day. Errors name the flag.
[[nodiscard]] sys::Result<std::chrono::milliseconds> parse_ttl(const std::string& flag,
                                                               const std::string& text);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "supervisor/cli/run_options.h"

namespace wardcase::supervisor {

// What hints are found from. The text is the program's, and may be made to mislead: it
// chooses which of our sentences is said, of what exists on the host, and nothing else.
struct HintScene {
  std::string_view errors;  // the end of what the program wrote to stderr
  std::string_view
      missed_module;              // as the interpreter told it: then nothing is guessed from errors
  std::string_view missed_path;   // the same
  std::string program_directory;  // the host's directory of FILE as it was written, or "."
  bool has_own_files = false;     // /box shows a directory of the host
  bool is_python = false;
  bool has_interpreter = false;     // one was named
  bool may_use_network = false;     // it has none, and the policy allows the host's
  bool has_waiting_stdin = false;   // something is there that the program was not given
  std::string virtual_environment;  // VIRTUAL_ENV of the caller
  std::function<bool(const std::string& path)> exists;  // on the host
};

// How much of the end of stderr is looked at; more is cut off at its front.
inline constexpr std::size_t kHintTailBytes = 8192;

[[nodiscard]] HintScene scene_of(const RunOptions& options, const RunRecord& record,
                                 std::string_view errors);

// One next step for a program that failed, or "". No control characters; takes time in
// proportion to the tail, and looks for few files.
[[nodiscard]] std::string find_hint(const HintScene& scene);

}  // namespace wardcase::supervisor

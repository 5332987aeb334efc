// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// How far the prelude of a program came.
enum class PreludeState : std::uint8_t { none, begun, done };

// What an interpreter told of the exception that ended its program. The program has the same
// channel: any of it may be a lie, but it is valid UTF-8 and bounded.
struct ToldError {
  std::string type = {};  // the exception's class; "": nothing was told
  std::string message = {};
  std::string traceback = {};
  std::string code = {};    // Node.js: "ENOENT", "ERR_MODULE_NOT_FOUND"
  std::string module = {};  // the one that was not found
  std::string path = {};    // of the file that an operation was about
  int error_number = 0;
  std::string file = {};  // where the syntax is wrong
  unsigned line = 0;
  unsigned column = 0;
  PreludeState prelude = PreludeState::none;
};

// What of a channel's text is read.
inline constexpr std::size_t kMostTold = 128 * 1024;

// Fields "name=value\0", of which the last of a name counts and unknown ones are left out; or a
// report of Node.js about its heap. For any bytes at all.
[[nodiscard]] ToldError parse_told(std::string_view bytes);

}  // namespace wardcase::supervisor

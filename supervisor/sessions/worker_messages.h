// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "supervisor/languages/told_error.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// What supervisor and live interpreters say to each other, as JSON in frames (agent/README.md).
// An interpreter shares its process with the program: what it says is bounded, and believed of
// that program alone.

inline constexpr std::size_t kMostWorkerFrame = 16 << 20;

// What the interpreter says of a program's end.
struct WorkerDone {
  std::string id;     // the execution's
  std::string nonce;  // what it read once the program had ended
  int exit_code = 0;
  bool ends = false;  // the program asked its interpreter to end; so it will
  bool interrupted = false;
  ToldError error;
  std::optional<Result> result;
};

struct WorkerMessage {
  enum class Kind { ready, begun, done, ok };
  Kind kind = Kind::ok;
  std::string version;  // ready: "3.11.2"
  std::string begun;    // begun: the execution's id
  WorkerDone done;
};

// Bash can't read a frame's head: to it go lines, and code as it is (agent/README.md).
enum class Dialect : std::uint8_t { frames, lines };
// What an interpreter does with code.
enum class Handling : std::uint8_t {
  execute,
  check,  // it says whether that is a program, and executes nothing of it
};
// Code that has no NUL. Of `name` it gets what can stand in a line.
[[nodiscard]] std::string exec_lines(Handling handling, std::string_view id, std::string_view name,
                                     std::string_view code, std::string_view nonce);

[[nodiscard]] std::string exec_message(Handling handling, std::string_view id,
                                       std::string_view name, std::string_view code);
// Where more modules are.
[[nodiscard]] std::string path_message(std::string_view place);
[[nodiscard]] std::string nonce_message(std::string_view nonce);

// The error is what is wrong with it.
[[nodiscard]] sys::Result<WorkerMessage> parse_worker_message(std::string_view text);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

namespace wardcase::supervisor {

// What is told of a program, and of who asked for it, to those who count and note.
struct AskedProgram {
  std::string owner;        // a caller's name
  std::string kind;         // "run", "exec", "case"
  std::string policy;       // its name
  std::string network;      // "none" or "host"
  std::string code_sha256;  // of its text, or of the words of a command with a NUL behind each
  std::string trace;        // the id of a trace, or ""
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// A call of the companion (config/installed.h). Fails where it is not installed.
class CompanionCall {
 public:
  static sys::Result<CompanionCall> make(std::string_view verb, std::span<const std::string> words);

  // This process becomes it; returns only where that fails.
  [[nodiscard]] sys::Error become();
  // Runs it with our stdin and stderr, and its stdout thrown away; 0 is success, all else an error
  // that it has told itself.
  [[nodiscard]] sys::Result<bool> run_quietly();

 private:
  [[nodiscard]] std::vector<char*> argv();
  [[nodiscard]] std::string what() const { return "execute '" + words_.front() + "'"; }

  std::vector<std::string> words_;
};

}  // namespace wardcase::supervisor

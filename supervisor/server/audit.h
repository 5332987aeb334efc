// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "supervisor/config/own_places.h"
#include "supervisor/run/run_record.h"
#include "supervisor/server/asked_program.h"

namespace wardcase::supervisor {

// Who let what run, and what became of it: a line of JSON for each run, appended to audit.log in a
// directory that is closed to others. At 64 MiB it becomes audit.log.1, and so on up to 9, of which
// the oldest goes. No text of programs is in it, and no value of a variable.
class Audit {
 public:
  using Trouble = std::function<void(const sys::Error& error)>;

  // `trouble` is told what could not be written.
  Audit(OwnPlace place, Trouble trouble, std::uint64_t largest = 64 << 20);

  void add(const AskedProgram& asked, const RunRecord& record);

 private:
  [[nodiscard]] sys::Status append(const std::string& line);
  [[nodiscard]] sys::Status open();
  void rotate();

  OwnPlace place_;
  Trouble trouble_;
  std::uint64_t largest_;
  sys::UniqueFd file_;
  std::uint64_t size_ = 0;
};

}  // namespace wardcase::supervisor

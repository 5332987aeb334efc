// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "supervisor/run/run.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// Tells a run as events, one JSON object a line, numbered from 1: `start`, `stdout`
// and `stderr` as output comes, `artifact` for each file that is left, and last `exit`, which has
// the members of the record.
//
// Text goes in `data`; a chunk with bytes that are not UTF-8 in `data_base64`, as it
// came. A character is never divided: its beginning waits for the rest of it.
class EventStream {
 public:
  // `line` ends with its line break.
  using LineSink = std::function<void(std::string_view line)>;

  explicit EventStream(LineSink sink, OutputForm form = OutputForm::text);

  void on_start(std::string_view run_id);
  void on_output(Stream stream, std::string_view bytes);
  void on_end(const RunRecord& record);
  // Another type of the contract's; `members`: of its JSON object, without braces.
  void on_event(std::string_view type, std::string_view members) { write_event(type, members); }

 private:
  void write_event(std::string_view type, std::string_view members);
  void write_bytes(Stream stream, std::string_view bytes);

  LineSink sink_;
  OutputForm form_;
  std::array<std::string, 2> unfinished_;  // by Stream: the beginning of a character
  std::uint64_t sequence_ = 0;
};

}  // namespace wardcase::supervisor

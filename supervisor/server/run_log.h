// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/run/event_stream.h"

namespace wardcase::supervisor {

// What has happened in a run, as lines of JSON (event_stream.h) that are numbered from 1. The
// newest are kept, up to a bound; the last one, `exit` or `error`, always is.
class RunLog {
 public:
  static constexpr std::size_t kMostBytes = 4 << 20;

  explicit RunLog(OutputForm form, std::size_t most_bytes = kMostBytes);
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // What the program does, in its order.
  [[nodiscard]] EventStream& events() { return events_; }
  // The next line as somebody else has made it, in the same form and with its number.
  void keep(std::string_view line);
  // The last event where there can be no record: a code and a sentence.
  void fail(std::string_view code, std::string_view message);
  // In place of all of them: the last line that another log had, under the number that it has.
  void restore(std::string_view last);

  // Of the newest line; 0: there is none yet.
  [[nodiscard]] std::uint64_t newest() const { return newest_; }
  // Of the oldest that is kept; newest() + 1: none is.
  [[nodiscard]] std::uint64_t oldest() const { return newest_ - lines_.size() + 1; }
  // With its line break; only of one that is kept.
  [[nodiscard]] std::string_view line(std::uint64_t sequence) const;
  // Of all lines that are kept and come after that one.
  [[nodiscard]] std::size_t bytes_after(std::uint64_t sequence) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_after(0); }
  // The record, once the last event carries it.
  [[nodiscard]] std::optional<std::string> record() const;

 private:
  struct Line {
    std::string text;
    std::uint64_t end;  // in bytes since the first line
  };

  EventStream events_;
  std::size_t most_bytes_;
  std::deque<Line> lines_;
  std::uint64_t newest_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/config/own_places.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// What past runs of this user came to, so that `wardcase explain` can tell of them: a
// file of mode 0600 for each run in $XDG_STATE_HOME/wardcase/runs, the newest hundred.
// What a program wrote is not kept, nor what it was called with.

// One note as text: the record without output, and the lines that tell of it.
struct RunNote {
  std::string ended_at;            // "2026-11-29 22:40:00 UTC"
  std::vector<std::string> lines;  // for people
  std::string record;              // JSON
};
// "" where it would be too large to keep.
[[nodiscard]] std::string format_note(const RunRecord& record,
                                      const std::vector<std::string>& lines);
// Anything at all may come in: fails on what format_note never wrote.
[[nodiscard]] sys::Result<RunNote> parse_note(std::string_view text);

class RunNotes {
 public:
  // The directory of the environment, if it and those between are the user's own, closed to
  // others and no links.
  static sys::Result<RunNotes> open(Missing missing);

  // Keeps the note, and of all no more than the newest hundred.
  [[nodiscard]] sys::Status add(const std::string& run_id, std::string_view note) const;
  // The note of that run, or of the newest.
  [[nodiscard]] sys::Result<RunNote> find(const std::optional<std::string>& run_id) const;

 private:
  RunNotes(std::string path, sys::UniqueFd directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  [[nodiscard]] std::vector<std::string> names() const;  // oldest first

  std::string path_;
  sys::UniqueFd directory_;
};

}  // namespace wardcase::supervisor

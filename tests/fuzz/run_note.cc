// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <string_view>

#include "supervisor/cli/run_notes.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto note = wardcase::supervisor::parse_note(text);
  if (!note) {
    require(note.error().message() == "damaged note", "a refusal says what it is");
    return 0;
  }
  require(note->record.starts_with('{') && note->record.ends_with('}'), "a record is an object");
  require(note->record.find('\n') == std::string::npos, "a record is one line");
  return 0;
}

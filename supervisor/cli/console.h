// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/cli/color.h"

namespace wardcase::supervisor {

// -q, nothing, --verbose.
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

// Text for a terminal: valid UTF-8, control characters written as \xNN, so that
// a file name or a program's words can't move the cursor or set the title.
[[nodiscard]] std::string printable(std::string_view text);

// Our own words to people: lines on stderr that begin with "wardcase: ". stdout
// and all else on stderr belong to the program.
class Console {
 public:
  explicit Console(Verbosity verbosity, ColorChoice color = ColorChoice::automatic)
      : verbosity_(verbosity), color_(color) {}

  // Unless quiet. Most of what we have to say is what went wrong.
  void say(std::string_view line, Tone tone = Tone::bad) const;
  // Only when verbose.
  void say_more(std::string_view line) const;

 private:
  Verbosity verbosity_;
  ColorChoice color_;
};

// Writes all of it, waiting where it must. False when nobody can read it any more.
bool write_all(int fd, std::string_view text);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/color.h"

#include <unistd.h>

#include <cstdlib>

namespace wardcase::supervisor {

namespace {

// Of the eight colors that every terminal has, those that can be read on dark and light.
std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "1";
    case Tone::good:
      return "32";
    case Tone::doubtful:
      return "33";
    case Tone::bad:
      return "1;31";
    case Tone::hint:
      return "36";
  }
  return "0";  // not reached: the list is closed
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

OptionRow color_option(std::string_view group) {
  return {"color",
          "",
          "WHEN",
          "color our own words: always, never, or auto at a terminal (default auto)",
          group,
          "With auto, NO_COLOR in the environment or TERM=dumb mean never. What the program "
          "writes is not touched.",
          "auto|always|never"};
}

sys::Result<ColorChoice> color_of(const CommandLine& line) {
  const std::string* const word = line.last("color");
  if (word == nullptr || *word == "auto") return ColorChoice::automatic;
  if (*word == "always") return ColorChoice::always;
  if (*word == "never") return ColorChoice::never;
  return tl::unexpected(sys::plain_error("--color " + *word + ": write auto, always or never"));
}

bool has_color(ColorChoice choice, int fd) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  return variable("NO_COLOR").empty() && variable("TERM") != "dumb" && ::isatty(fd) == 1;
}

std::string painted(std::string_view text, Tone tone) {
  return "\x1b[" + std::string(code_of(tone)) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/console.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {

namespace {

std::string valid_utf8(std::string_view bytes) {
  TextDecoder decoder;
  std::string text;
  decoder.decode(bytes, text);
  decoder.finish(text);
  return text;
}

std::string escaped(unsigned char code) {
  char text[8];
  (void)std::snprintf(text, sizeof text, "\\x%02x", code);  // four characters always fit
  return text;
}

// U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069: what follows would be shown in
// another order, or on another line, than it has.
bool is_reordering(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\x81') return last >= 0xa6 && last <= 0xa9;
  return text[1] == '\x80' && (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae));
}

}  // namespace

std::string printable(std::string_view bytes) {
  const std::string text = valid_utf8(bytes);
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f) {
      shown += escaped(byte);
    } else if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009F: terminals obey these too
      shown += escaped(next);
      ++i;
    } else if (is_reordering(std::string_view(text).substr(i))) {
      for (const char part : text.substr(i, 3)) shown += escaped(static_cast<unsigned char>(part));
      i += 2;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // somebody else made the shared description non-blocking
      pollfd room = {fd, POLLOUT, 0};
      (void)::poll(&room, 1, -1);  // whatever comes of it, the next write tells
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void Console::say(std::string_view line, Tone tone) const {
  if (verbosity_ == Verbosity::quiet) return;
  constexpr std::string_view kName = "wardcase:";
  const bool is_colored = has_color(color_, STDERR_FILENO);
  const std::string name = is_colored ? painted(kName, tone) : std::string(kName);
  // A caller who closed stderr does not want to hear us.
  (void)write_all(STDERR_FILENO, name + " " + printable(line) + "\n");
}

void Console::say_more(std::string_view line) const {
  if (verbosity_ == Verbosity::verbose) say(line, Tone::plain);
}

}  // namespace wardcase::supervisor

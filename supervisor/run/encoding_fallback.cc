// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/encoding_fallback.h"

#include <iconv.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

// What iconv_open gives where it fails, as the manual has it.
bool is_open(iconv_t descriptor) { return reinterpret_cast<std::intptr_t>(descriptor) != -1; }

constexpr auto kFailed = static_cast<std::size_t>(-1);  // of iconv(3)

std::string printable_ascii() {
  std::string text = "\t\n\r";
  for (char c = ' '; c < '\x7f'; ++c) text += c;
  return text;
}

// Converters are libraries of the host that are loaded now. Those of another libc than
// the one that is linked into us may end the process, so somebody else tries first.
bool can_be_loaded(const std::string& name) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(is_open(::iconv_open("UTF-8", name.c_str())) ? 0 : 1);
  int status = -1;
  return pid > 0 && sys::retry_eintr([&] { return ::waitpid(pid, &status, 0); }) == pid &&
         status == 0;
}

}  // namespace

void EncodingFallback::Close::operator()(void* descriptor) const {
  (void)::iconv_close(descriptor);
}

sys::Result<EncodingFallback> EncodingFallback::open(const std::string& name) {
  const auto refused = [&](const char* why) {
    return tl::unexpected(sys::plain_error("'" + name + "': " + why));
  };
  constexpr const char* kUnknown =
      "this host can't convert it to UTF-8; 'iconv -l' lists what it knows";
  // A slash begins what is to become of bad bytes: that is ours to say.
  if (name.empty() || name.find('/') != std::string::npos || !can_be_loaded(name)) {
    return refused(kUnknown);
  }
  iconv_t descriptor = ::iconv_open("UTF-8", name.c_str());
  if (!is_open(descriptor)) return refused(kUnknown);
  EncodingFallback fallback(descriptor);
  const std::string ascii = printable_ascii();
  const auto converted = fallback.convert(ascii);
  if (!converted || converted->text != ascii) {
    return refused("ASCII is something else in it; it can't stand in for UTF-8");
  }
  return fallback;
}

std::optional<EncodingFallback::Converted> EncodingFallback::convert(std::string_view bytes) const {
  Converted converted;
  (void)::iconv(descriptor_.get(), nullptr, nullptr, nullptr, nullptr);  // to its first state
  std::array<char, 4096> buffer;
  // iconv(3) takes a pointer to what it may not write to.
  char* from = const_cast<char*>(bytes.data());
  std::size_t left = bytes.size();
  for (;;) {
    char* to = buffer.data();
    std::size_t room = buffer.size();
    const std::size_t result = ::iconv(descriptor_.get(), &from, &left, &to, &room);
    converted.text.append(buffer.data(), buffer.size() - room);
    if (result != kFailed) break;
    if (errno == E2BIG) continue;
    if (errno != EINVAL) return std::nullopt;
    converted.unfinished = left;
    break;
  }
  // Some encodings hold a character back that the next one could change.
  char* to = buffer.data();
  std::size_t room = buffer.size();
  if (::iconv(descriptor_.get(), nullptr, nullptr, &to, &room) == kFailed) return std::nullopt;
  converted.text.append(buffer.data(), buffer.size() - room);
  return converted;
}

}  // namespace wardcase::supervisor

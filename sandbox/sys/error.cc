// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/sys/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace wardcase::sys {

std::string Error::message() const {
  if (code == 0) return what;
  const char* text = ::strerrordesc_np(code);
  const char* name = ::strerrorname_np(code);
  std::string message = what;
  message += ": ";
  message += text != nullptr ? text : "unknown error";
  message += " (";
  message += name != nullptr ? std::string(name) : std::to_string(code);
  message += ")";
  return message;
}

Error errno_error(std::string_view what) {
  const int code = errno;
  return Error{code, std::string(what)};
}

Error plain_error(std::string_view what) { return Error{0, std::string(what)}; }

void check_failed(const char* condition, const char* file, int line) noexcept {
  (void)std::fprintf(stderr, "wardcase: internal error: %s at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace wardcase::sys

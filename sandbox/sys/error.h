// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace wardcase::sys {

// What failed, while doing what, and the kernel's reason.
//
// `what` reads from the outside in, one clause a layer, each naming its object
// in quotes; message() ends it with errno's text and name.
struct Error {
  int code = 0;  // errno; 0 where no system call was at fault
  std::string what;

  [[nodiscard]] Error while_doing(std::string_view context) && {
    what.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }
  [[nodiscard]] std::string message() const;
};

// Takes errno first, so that building `what` cannot overwrite it.
[[nodiscard]] Error errno_error(std::string_view what);

// An error that no system call is to blame for: bad input, a limit, a rule.
[[nodiscard]] Error plain_error(std::string_view what);

template <typename T>
using Result = tl::expected<T, Error>;  // std::expected once C++23 is the floor
using Status = Result<void>;

// Our own mistake, never the program's nor the caller's: says where and aborts,
// in every build.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace wardcase::sys

#define WARDCASE_CHECK(condition) \
  ((condition) ? (void)0 : ::wardcase::sys::check_failed(#condition, __FILE__, __LINE__))

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// The encoding of lines that are not UTF-8, converted by iconv(3).
class EncodingFallback {
 public:
  // `name` as iconv_open(3) knows it ("gbk", "latin1"). Refused where this host does not
  // convert it, and where ASCII does not stand for itself in it (UTF-16): a line could
  // not be told by its line break then. Forks: call from a single-threaded process.
  static sys::Result<EncodingFallback> open(const std::string& name);

  struct Converted {
    std::string text;
    std::size_t unfinished = 0;  // bytes at the end that begin a character
  };
  // nullopt: there are bytes that do not belong to this encoding.
  [[nodiscard]] std::optional<Converted> convert(std::string_view bytes) const;

 private:
  struct Close {
    void operator()(void* descriptor) const;
  };
  explicit EncodingFallback(void* descriptor) : descriptor_(descriptor) {}

  std::unique_ptr<void, Close> descriptor_;  // an iconv_t
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// Descriptors that a client hands over beside what it says (SCM_RIGHTS), for its next request.
class ReceivedFiles {
 public:
  // Of one request.
  static constexpr std::size_t kMost = 16;

  // As recv(2), without waiting.
  [[nodiscard]] ssize_t receive(int socket, std::span<char> bytes);
  // More came than one request may have; all of them are closed.
  [[nodiscard]] bool are_too_many() const { return are_too_many_; }
  [[nodiscard]] std::span<const sys::UniqueFd> all() const { return files_; }
  void close() { files_.clear(); }

 private:
  std::vector<sys::UniqueFd> files_;
  bool are_too_many_ = false;
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace wardcase::sys {

// Owns one file descriptor and closes it exactly once.
//
// Lend it with get(); give it away with release(). A function that takes a
// plain `int fd` borrows it and must not close it; one that takes a UniqueFd
// keeps it.
class [[nodiscard]] UniqueFd {
 public:
  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

  // Closes what is held and takes `fd` instead. Leaves errno alone, so that a
  // destructor on the error path cannot change the error being reported.
  void reset(int fd = -1) noexcept {
    const int old = std::exchange(fd_, fd);
    if (old < 0) return;
    const int saved_errno = errno;
    (void)::close(old);  // Linux frees the number even on EINTR: never retry.
    errno = saved_errno;
  }

 private:
  int fd_ = -1;
};

}  // namespace wardcase::sys

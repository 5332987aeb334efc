// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::test {

struct Pipe {
  sys::UniqueFd read_end;
  sys::UniqueFd write_end;
};

// Both ends blocking and close-on-exec.
[[nodiscard]] inline Pipe make_pipe() {
  std::array<int, 2> ends = {-1, -1};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {sys::UniqueFd(ends[0]), sys::UniqueFd(ends[1])};
}

inline void make_nonblocking(int fd) {
  EXPECT_EQ(::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

[[nodiscard]] inline bool is_nonblocking(int fd) {
  return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

// For the test's process, as main does it.
inline void ignore_sigpipe() { EXPECT_NE(::signal(SIGPIPE, SIG_IGN), SIG_ERR); }

// All of it, waiting where need be.
inline void write_to(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    ASSERT_GT(n, 0) << "errno " << errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// What is there now, without waiting; `fd` is non-blocking.
[[nodiscard]] inline std::string read_available(int fd) {
  std::string all;
  std::array<char, 4096> chunk = {};
  for (;;) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n <= 0) return all;
    all.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

// A regular file without a name, open for reading and writing.
class TemporaryFile {
 public:
  TemporaryFile() : fd_(::open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    EXPECT_TRUE(fd_.is_open());
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::string content() const {
    std::string all(static_cast<std::size_t>(::lseek(fd_.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(fd_.get(), all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  sys::UniqueFd fd_;
};

// No two neighbours alike.
[[nodiscard]] inline std::string long_text(std::size_t size) {
  std::string text;
  text.reserve(size);
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('!' + i % 89);
  return text;
}

}  // namespace wardcase::test

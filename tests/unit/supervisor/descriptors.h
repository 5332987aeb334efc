// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::test {

struct Pipe {
  sys::UniqueFd read_end;
  sys::UniqueFd write_end;
};

// Both ends blocking and close-on-exec.
[[nodiscard]] Pipe make_pipe();
void make_nonblocking(int fd);
[[nodiscard]] bool is_nonblocking(int fd);

// For the test's process, as main does it.
void ignore_sigpipe();

// All of it, waiting where need be.
void write_to(int fd, std::string_view bytes);
// What is there now, without waiting; `fd` is non-blocking.
[[nodiscard]] std::string read_available(int fd);

// A file without a name in the end, open for reading and writing.
class TemporaryFile {
 public:
  TemporaryFile();
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::string content() const;

 private:
  sys::UniqueFd fd_;
};

// As many bytes as a pipe holds and more, no two neighbours alike.
[[nodiscard]] std::string long_text(std::size_t size);

}  // namespace wardcase::test

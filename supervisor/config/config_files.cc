// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/config_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

sys::Result<std::string> read_regular_file(int fd, const std::string& path) {
  constexpr off_t kMostBytes = 1 << 20;
  struct stat info = {};
  if (::fstat(fd, &info) < 0) return tl::unexpected(sys::errno_error("'" + path + "'"));
  if (!S_ISREG(info.st_mode)) {
    return tl::unexpected(sys::plain_error("'" + path + "' is not a regular file"));
  }
  if (info.st_size > kMostBytes) {
    return tl::unexpected(sys::plain_error("'" + path + "' is larger than 1 MiB"));
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::read(fd, text.data() + filled, text.size() - filled); });
    if (n < 0) return tl::unexpected(sys::errno_error("read '" + path + "'"));
    if (n == 0) break;  // cut short meanwhile
    filled += static_cast<std::size_t>(n);
  }
  text.resize(filled);
  return text;
}

sys::Result<std::optional<std::string>> read_config_file(const std::string& path) {
  // O_NONBLOCK: a FIFO would otherwise hold us until somebody writes.
  auto fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd && (fd.error().code == ENOENT || fd.error().code == ENOTDIR)) return std::nullopt;
  if (!fd) return tl::unexpected(std::move(fd).error());
  return read_regular_file(fd->get(), path);
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/sys/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::sys {
namespace {

// Names the object only on the failing path: opens are frequent, errors rare.
tl::unexpected<Error> failed(const char* verb, const char* path) {
  Error error = errno_error(verb);
  error.what.append(" '").append(path).append("'");
  return tl::unexpected(std::move(error));
}

}  // namespace

Result<UniqueFd> open_at(int directory, const char* path, int flags, mode_t mode) {
  UniqueFd fd(retry_eintr([&] { return ::openat(directory, path, flags | O_CLOEXEC, mode); }));
  if (!fd.is_open()) return failed("open", path);
  return fd;
}

Result<std::string> read_file(int directory, const char* path) {
  auto fd = open_at(directory, path, O_RDONLY);
  if (!fd) return tl::unexpected(std::move(fd).error());
  std::string text;
  std::array<char, 4096> chunk;
  while (true) {
    const ssize_t n = retry_eintr([&] { return ::read(fd->get(), chunk.data(), chunk.size()); });
    if (n < 0) return failed("read", path);
    if (n == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
}

Status write_file(int directory, const char* path, std::string_view text) {
  auto fd = open_at(directory, path, O_WRONLY);
  if (!fd) return tl::unexpected(std::move(fd).error());
  const ssize_t n = retry_eintr([&] { return ::write(fd->get(), text.data(), text.size()); });
  if (n < 0) return failed("write", path);
  if (static_cast<std::size_t>(n) != text.size()) {
    Error error = plain_error("write all of '");
    error.what.append(path).append("'");
    return tl::unexpected(std::move(error));
  }
  return {};
}

std::vector<std::string> list_directory(const std::string& path, unsigned char type) {
  std::vector<std::string> names;
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_type == type && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  (void)::closedir(directory);
  return names;
}

}  // namespace wardcase::sys

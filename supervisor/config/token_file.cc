// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/token_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/config/config_files.h"

namespace wardcase::supervisor {
namespace {

constexpr mode_t kWritableByOthers = 022;
constexpr mode_t kOwnersAlone = 0600;

sys::Error failed(const std::string& path, std::string_view what) {
  return sys::errno_error("'" + path + "': " + std::string(what));
}

sys::Result<std::vector<Token>> read_from(int fd, const std::string& path) {
  struct stat info = {};
  if (::fstat(fd, &info) < 0) return tl::unexpected(failed(path, "look at it"));
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return tl::unexpected(sys::plain_error("'" + path + "' belongs to somebody else"));
  }
  if ((info.st_mode & kWritableByOthers) != 0) {
    return tl::unexpected(sys::plain_error(
        "'" + path + "' can be written to by others, who could add tokens; chmod go-w"));
  }
  auto text = read_regular_file(fd, path);
  if (!text) return tl::unexpected(std::move(text).error());
  return parse_tokens(*text, path);
}

// The file, locked: of one that was replaced while we waited for the lock the next one.
sys::Result<sys::UniqueFd> open_locked(const std::string& path, NoFile missing) {
  constexpr int kMostTries = 1000;
  const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | (missing == NoFile::is_made ? O_CREAT : 0);
  for (int tries = 0; tries < kMostTries; ++tries) {
    auto fd = sys::open_at(AT_FDCWD, path.c_str(), flags, kOwnersAlone);
    if (!fd) return fd;
    if (sys::retry_eintr([&] { return ::flock(fd->get(), LOCK_EX); }) < 0) {
      return tl::unexpected(failed(path, "lock it"));
    }
    struct stat ours = {};
    struct stat now = {};
    if (::fstat(fd->get(), &ours) < 0) return tl::unexpected(failed(path, "look at it"));
    if (::lstat(path.c_str(), &now) == 0 && ours.st_dev == now.st_dev &&
        ours.st_ino == now.st_ino) {
      return fd;
    }
  }
  return tl::unexpected(sys::plain_error("'" + path + "' is replaced all the time"));
}

// Its content on the disk, with owner and mode of the one that it is to replace.
sys::Status fill(int fd, const std::string& path, const struct stat& like, std::string_view text) {
  if (::fchown(fd, like.st_uid, like.st_gid) < 0) {
    return tl::unexpected(failed(path, "keep its owner"));
  }
  if (::fchmod(fd, like.st_mode & 0777U) < 0) return tl::unexpected(failed(path, "keep its mode"));
  while (!text.empty()) {
    const ssize_t written = sys::retry_eintr([&] { return ::write(fd, text.data(), text.size()); });
    if (written < 0) return tl::unexpected(failed(path, "write it"));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) < 0) return tl::unexpected(failed(path, "write it"));
  return {};
}

// No other process has that name meanwhile: it is that of who has the lock.
sys::Status replace(int locked, const std::string& path, std::string_view text) {
  struct stat like = {};
  if (::fstat(locked, &like) < 0) return tl::unexpected(failed(path, "look at it"));
  const std::string unfinished = path + ".new";
  (void)::unlink(unfinished.c_str());  // that of one that was killed, if any
  auto fd = sys::open_at(AT_FDCWD, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL, kOwnersAlone);
  if (!fd) return tl::unexpected(std::move(fd).error());
  auto status = fill(fd->get(), unfinished, like, text);
  if (status && ::rename(unfinished.c_str(), path.c_str()) < 0) {
    status = tl::unexpected(failed(path, "replace it"));
  }
  if (!status) (void)::unlink(unfinished.c_str());
  return status;
}

}  // namespace

sys::Result<std::vector<Token>> read_token_file(const std::string& path) {
  const auto fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return tl::unexpected(fd.error());
  return read_from(fd->get(), path);
}

sys::Status change_token_file(const std::string& path, NoFile missing,
                              const std::function<sys::Status(std::vector<Token>&)>& change) {
  const auto fd = open_locked(path, missing);
  if (!fd) return tl::unexpected(fd.error());
  auto tokens = read_from(fd->get(), path);
  if (!tokens) return tl::unexpected(std::move(tokens).error());
  if (auto changed = change(*tokens); !changed) return changed;
  return replace(fd->get(), path, write_tokens(*tokens));
}

}  // namespace wardcase::supervisor

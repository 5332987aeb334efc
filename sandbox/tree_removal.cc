// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// How a tree is removed that a hostile program made: it may be deep, wide, and closed
// to its own owner, but nothing in it moves any more. What is no directory goes at once; a
// directory that is not empty is first moved up to the top, so that no more than two are ever
// open and no path gets longer than one name.
#include "sandbox/tree_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr mode_t kOwnersOnly = 0700;

// What the program closed to its owner is opened to him again. By descriptor: chmod by name
// would follow a link.
bool give_back_rights(int in, const char* name) {
  const sys::UniqueFd place(::openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return place.is_open() &&
         ::chmod(("/proc/self/fd/" + std::to_string(place.get())).c_str(), kOwnersOnly) == 0;
}

}  // namespace

sys::UniqueFd open_tree(int in, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  sys::UniqueFd directory(::openat(in, name, kFlags));
  if (!directory.is_open() && errno == EACCES && give_back_rights(in, name)) {
    directory.reset(::openat(in, name, kFlags));
  }
  return directory;
}

namespace {

// Empties directories into `top` until the time is up.
class Remover {
 public:
  Remover(int top, Clock::time_point until) : top_(top), until_(until) {}

  // True: `top` is empty.
  sys::Result<bool> empty() {
    for (;;) {
      auto more = take_one_level(top_);
      if (!more) return tl::unexpected(std::move(more).error());
      if (is_late_) return false;
      if (!*more) return true;
    }
  }

 private:
  // Removes what can go from `directory`, and what directories hold goes up to the top. True:
  // there was something.
  sys::Result<bool> take_one_level(int directory) {
    const sys::UniqueFd again = open_tree(directory, ".");
    if (!again.is_open() || ::fchmod(again.get(), kOwnersOnly) < 0) return refused();
    bool found = false;
    alignas(dirent64) std::array<char, 16384> entries;
    for (;;) {
      const ssize_t size = ::getdents64(again.get(), entries.data(), entries.size());
      if (size < 0) return refused();
      if (size == 0) return found;
      for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
        at += entry->d_reclen;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        found = true;
        if (auto taken = take(again.get(), entry->d_name); !taken) {
          return tl::unexpected(std::move(taken).error());
        }
        is_late_ = is_late_ || Clock::now() >= until_;
        if (is_late_) return true;
      }
    }
  }

  sys::Status take(int directory, const char* name) {
    if (::unlinkat(directory, name, 0) == 0) return {};
    if (errno != EISDIR && errno != EPERM) return tl::unexpected(refused().value());
    if (::unlinkat(directory, name, AT_REMOVEDIR) == 0) return {};
    if (errno != ENOTEMPTY && errno != EACCES) return tl::unexpected(refused().value());
    const sys::UniqueFd inner = open_tree(directory, name);
    if (!inner.is_open()) return tl::unexpected(refused().value());
    if (auto moved = move_up(inner.get()); !moved) return moved;
    if (::unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY) return {};
    return tl::unexpected(refused().value());
  }

  // Directories only: what else is in there is removed on the spot.
  sys::Status move_up(int from) {
    if (::fchmod(from, kOwnersOnly) < 0) return tl::unexpected(refused().value());
    alignas(dirent64) std::array<char, 16384> entries;
    for (;;) {
      const ssize_t size = ::getdents64(from, entries.data(), entries.size());
      if (size < 0) return tl::unexpected(refused().value());
      if (size == 0) return {};
      for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
        const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
        at += entry->d_reclen;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        if (::unlinkat(from, entry->d_name, 0) == 0) continue;
        if (::unlinkat(from, entry->d_name, AT_REMOVEDIR) == 0) continue;
        const std::string other = ".wardcase-" + std::to_string(next_++);
        if (!move(from, entry->d_name, other.c_str())) return tl::unexpected(refused().value());
        if (Clock::now() >= until_) {
          is_late_ = true;
          return {};
        }
      }
    }
  }

  // A directory that is closed to its owner can't be moved by him: its ".." would change. A name
  // that the program has used already is met again by the next look.
  [[nodiscard]] bool move(int from, const char* name, const char* other) const {
    if (::renameat(from, name, top_, other) == 0) return true;
    if (errno == EACCES && give_back_rights(from, name)) {
      if (::renameat(from, name, top_, other) == 0) return true;
    }
    return errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
  }

  static tl::unexpected<sys::Error> refused() {
    return tl::unexpected(sys::errno_error("remove what the program left"));
  }

  int top_;
  Clock::time_point until_;
  bool is_late_ = false;
  std::uint64_t next_ = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
};

}  // namespace

sys::Result<bool> remove_tree(const std::string& path, int directory, Clock::time_point until) {
  auto emptied = Remover(directory, until).empty();
  if (!emptied) return tl::unexpected(std::move(emptied).error().while_doing("in '" + path + "'"));
  if (!*emptied) return false;
  if (::rmdir(path.c_str()) < 0 && errno != ENOENT) {
    return tl::unexpected(sys::errno_error("remove '" + path + "'"));
  }
  return true;
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// How a tree is removed that a hostile program made: it may be deep, wide, and closed
// to its own owner, but nothing in it moves any more. What is no directory goes at once; a
// directory that is not empty is first moved up to the top, so that no more than two are ever
// open and no path gets longer than one name.
#include "sandbox/private_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "sandbox/state_lock.h"
#include "sandbox/sys/files.h"

namespace wardcase::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kPrefix = "wardcase-";
constexpr mode_t kOwnersOnly = 0700;
// A run waits for it meanwhile. What is not done by then is the next sweep's.
constexpr std::chrono::milliseconds kSweepTime(500);

sys::Error failed(std::string_view verb, const std::string& path) {
  sys::Error error = sys::errno_error(verb);
  error.what.append(" '").append(path).append("'");
  return error;
}

// A box with an id of its own could not reach a directory that is the caller's alone.
std::string place_for(bool is_shared_id) {
  const char* const own = is_shared_id ? ::getenv("TMPDIR") : nullptr;
  return own != nullptr && own[0] == '/' ? own : "/tmp";
}

// What the program closed to its owner is opened to him again. By descriptor: chmod by name
// would follow a link.
bool give_back_rights(int in, const char* name) {
  const sys::UniqueFd place(::openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return place.is_open() &&
         ::chmod(("/proc/self/fd/" + std::to_string(place.get())).c_str(), kOwnersOnly) == 0;
}

sys::UniqueFd open_directory(int in, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  sys::UniqueFd directory(::openat(in, name, kFlags));
  if (!directory.is_open() && errno == EACCES && give_back_rights(in, name)) {
    directory.reset(::openat(in, name, kFlags));
  }
  return directory;
}

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
    const sys::UniqueFd again = open_directory(directory, ".");
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
    const sys::UniqueFd inner = open_directory(directory, name);
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

sys::Result<bool> remove_tree(const std::string& path, int directory, Clock::time_point until) {
  auto emptied = Remover(directory, until).empty();
  if (!emptied) return tl::unexpected(std::move(emptied).error().while_doing("in '" + path + "'"));
  if (!*emptied) return false;
  if (::rmdir(path.c_str()) < 0 && errno != ENOENT) {
    return tl::unexpected(failed("remove", path));
  }
  return true;
}

// Everybody sees the names in /tmp, and so may make a directory that bears a dead one's: only what
// belongs to us, or to an id that root leases to boxes, is ours to remove.
bool is_ours(int directory) {
  struct stat status = {};
  if (::fstat(directory, &status) < 0) return false;
  const uid_t us = ::geteuid();
  if (status.st_uid == us) return true;
  return us == 0 && status.st_uid >= IdLease::kPoolFirst &&
         status.st_uid - IdLease::kPoolFirst < IdLease::kPoolCount;
}

// True: there is nothing left to do.
bool sweep_one(const std::string& path, Clock::time_point until) {
  const sys::UniqueFd directory = open_directory(AT_FDCWD, path.c_str());
  if (!directory.is_open()) return errno == ENOENT;
  if (!is_ours(directory.get())) return true;
  const auto gone = remove_tree(path, directory.get(), until);
  return gone && *gone;
}

}  // namespace

PrivateDirectory::PrivateDirectory(sys::UniqueFd fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)) {}

PrivateDirectory::~PrivateDirectory() {
  if (fd_.is_open()) (void)remove_tree(path_, fd_.get(), Clock::time_point::max());
}

sys::Result<PrivateDirectory> PrivateDirectory::make(const std::string& name, const BoxIds& ids) {
  const std::string path = place_for(!ids.is_leased) + "/" + std::string(kPrefix) + name;
  if (::mkdir(path.c_str(), kOwnersOnly) < 0) return tl::unexpected(failed("make", path));
  auto opened = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened) {
    (void)::rmdir(path.c_str());
    return tl::unexpected(std::move(opened).error());
  }
  PrivateDirectory made(*std::move(opened), path);
  if (ids.is_leased && ::fchown(made.fd(), ids.host_uid, ids.host_gid) < 0) {
    return tl::unexpected(failed("give to the box's user", path));
  }
  return made;
}

sys::Result<bool> PrivateDirectory::remove_for(std::chrono::milliseconds time) {
  auto gone = remove_tree(path_, fd_.get(), Clock::now() + time);
  if (gone && *gone) fd_.reset();
  return gone;
}

void sweep_private_directories(const std::string& lock_directory,
                               std::set<std::string>* unfinished) {
  const Clock::time_point until = Clock::now() + kSweepTime;
  const std::set<std::string> places = {place_for(/*is_shared_id=*/false),
                                        place_for(/*is_shared_id=*/true)};
  for (const std::string& place : places) {
    for (const std::string& entry : sys::list_directory(place, DT_DIR)) {
      if (!entry.starts_with(kPrefix)) continue;
      const std::string lock = entry.substr(kPrefix.size(), entry.find('.') - kPrefix.size());
      auto dead = StateLock::take_over(lock_directory, lock);
      if (!dead) continue;
      dead->leave();  // its control groups are still to be swept
      if (!sweep_one(place + "/" + entry, until)) unfinished->insert(lock);
    }
  }
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// How a lock is taken. open(O_CREAT), then flock(2), then a look whether the
// path still names what was locked: between the first two a former owner may
// have unlinked the file, and a lock on a nameless inode keeps nobody out.
// Owners unlink only while they hold the lock, so the look is final.
#include "sandbox/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "sandbox/leased_user.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/random.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

sys::Error errno_error(std::string_view verb, const std::string& path) {
  sys::Error error = sys::errno_error(verb);
  error.what.append(" '").append(path).append("'");
  return error;
}

// Opens our own directory. Somebody else's could hold planted files, and a
// symlink could lead anywhere.
sys::Result<sys::UniqueFd> open_own_directory(const std::string& path) {
  auto directory = sys::open_at(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!directory) return directory;
  struct stat status = {};
  if (::fstat(directory->get(), &status) < 0) {
    return tl::unexpected(errno_error("look at directory", path));
  }
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return tl::unexpected(
        sys::plain_error("directory '" + path + "' must belong to us and be writable by us alone"));
  }
  return directory;
}

sys::Result<sys::UniqueFd> make_own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) {
    return tl::unexpected(errno_error("make directory", path));
  }
  return open_own_directory(path);
}

sys::Result<sys::UniqueFd> open_locked(int directory, const std::string& name, int flags) {
  while (true) {
    auto file = sys::open_at(directory, name.c_str(), O_RDWR | O_NOFOLLOW | flags, 0600);
    if (!file) return file;
    if (sys::retry_eintr([&] { return ::flock(file->get(), LOCK_EX | LOCK_NB); }) < 0) {
      return tl::unexpected(errno_error("lock", name));
    }
    struct stat locked = {};
    struct stat named = {};
    if (::fstat(file->get(), &locked) < 0) return tl::unexpected(errno_error("look at", name));
    if (::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
      return file;
    }
  }
}

// Empty or relative values are to be ignored (XDG Base Directory Specification).
std::optional<std::string> absolute_from_environment(const char* name) {
  const char* value = ::getenv(name);
  if (value == nullptr || value[0] != '/') return std::nullopt;
  return std::string(value);
}

sys::Status make_parents(const std::string& path) {
  for (auto slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    // Any failure but "it is there" shows again, named, at the last component.
    if (::mkdir(parent.c_str(), 0700) < 0 && errno != EEXIST && errno != EACCES && errno != EROFS) {
      return tl::unexpected(errno_error("make directory", parent));
    }
  }
  return {};
}

}  // namespace

sys::Result<std::string> runtime_directory_name() {
  if (::geteuid() == 0) return "/run/wardcase";
  // Several are separated by colons.
  if (auto own = absolute_from_environment("RUNTIME_DIRECTORY")) {
    return own->substr(0, own->find(':'));
  }
  if (auto base = absolute_from_environment("XDG_RUNTIME_DIR")) return *base + "/wardcase";
  if (auto base = absolute_from_environment("XDG_STATE_HOME")) return *base + "/wardcase";
  if (auto home = absolute_from_environment("HOME")) return *home + "/.local/state/wardcase";
  return tl::unexpected(
      sys::plain_error("no place for locks: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME"));
}

StateLock::StateLock(sys::UniqueFd fd, std::string directory, std::string name)
    : fd_(std::move(fd)), directory_(std::move(directory)), name_(std::move(name)) {}

StateLock& StateLock::operator=(StateLock&& other) noexcept {
  // Swapped, so that what was held goes with `other`, by its destructor.
  std::swap(fd_, other.fd_);
  directory_.swap(other.directory_);
  name_.swap(other.name_);
  std::swap(stays_, other.stays_);
  return *this;
}

StateLock::~StateLock() {
  // A file that can't be removed is swept later: its lock can be taken.
  if (fd_.is_open() && !stays_) (void)::unlink((directory_ + "/" + name_).c_str());
}

sys::Result<StateLock> StateLock::acquire(const std::string& directory, const std::string& name) {
  auto opened = make_own_directory(directory);
  if (!opened) return tl::unexpected(std::move(opened).error());
  auto file = open_locked(opened->get(), name, O_CREAT);
  if (!file) return tl::unexpected(std::move(file).error().while_doing("in '" + directory + "'"));
  return StateLock(std::move(*file), directory, name);
}

sys::Result<StateLock> StateLock::take_over(const std::string& directory, const std::string& name) {
  auto opened = open_own_directory(directory);
  if (!opened) return tl::unexpected(std::move(opened).error());
  auto file = open_locked(opened->get(), name, 0);
  if (!file) return tl::unexpected(std::move(file).error().while_doing("in '" + directory + "'"));
  return StateLock(std::move(*file), directory, name);
}

void sweep_locks(const std::string& directory, const std::set<std::string>& needed) {
  for (const std::string& name : sys::list_directory(directory, DT_REG)) {
    if (needed.contains(name)) continue;
    // Its destructor removes the file; a live owner's can't be had.
    (void)StateLock::take_over(directory, name);
  }
}

sys::Result<IdLease> IdLease::take(const std::string& directory) {
  std::vector<SubordinateIds> given;
  for (const char* path : {"/etc/subuid", "/etc/subgid"}) {
    auto text = sys::read_file(AT_FDCWD, path);
    if (!text && text.error().code == ENOENT) continue;
    if (!text) return tl::unexpected(std::move(text).error());
    const auto ids = parse_subordinate_ids(*text);
    given.insert(given.end(), ids.begin(), ids.end());
  }
  return take(directory, {kPoolFirst, kPoolCount}, given);
}

sys::Result<IdLease> IdLease::take(const std::string& directory, const IdRange& ids) {
  return take(directory, ids, {});
}

sys::Result<IdLease> IdLease::take(const std::string& directory, const IdRange& ids,
                                   std::span<const SubordinateIds> given) {
  // A random start keeps concurrent boxes from probing the same ids in turn.
  std::uint32_t start = 0;
  if (!sys::draw_random(&start, sizeof start)) {
    return tl::unexpected(sys::errno_error("draw a random number"));
  }
  for (std::uint32_t i = 0; i < ids.count; ++i) {
    const std::uint32_t id = ids.first + (start % ids.count + i) % ids.count;
    if (std::ranges::any_of(given, [id](const auto& other) { return other.range.has(id); })) {
      continue;
    }
    // A dead one's that no sweep has met yet: its program may live and have the id.
    const std::string name = std::to_string(id);
    const bool is_roots_own = ::geteuid() == 0 && id - kPoolFirst < kPoolCount;
    const bool was_leased = ::access((directory + "/" + name).c_str(), F_OK) == 0;
    auto lock = StateLock::acquire(directory, name);
    if (lock && was_leased && is_roots_own && !end_all_of(id)) {
      lock->leave();
      continue;
    }
    if (lock) return IdLease(std::move(*lock), id);
    if (lock.error().code != EWOULDBLOCK) {
      return tl::unexpected(std::move(lock).error().while_doing("lease a host id"));
    }
  }
  return tl::unexpected(sys::plain_error("lease a host id: all " + std::to_string(ids.count) +
                                         " of '" + directory + "' are in use"));
}

sys::Result<std::string> runtime_directory() {
  auto path = runtime_directory_name();
  if (!path) return path;
  if (auto made = make_parents(*path); !made) return tl::unexpected(std::move(made).error());
  auto directory = make_own_directory(*path);
  if (!directory) return tl::unexpected(std::move(directory).error());
  return path;
}

}  // namespace wardcase::sandbox

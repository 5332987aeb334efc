// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/held_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "sandbox/process_tree.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

HeldFiles::HeldFiles(pid_t init, std::span<const WorkspaceRoot> roots, timespec began,
                     std::uint64_t most_open)
    : threads_(sandbox::list_tree_threads(init)),
      roots_(roots),
      began_(began),
      most_open_(static_cast<int>(std::min<std::uint64_t>(most_open, 1U << 20))) {}

bool HeldFiles::step(Clock::time_point until, WorkspaceWalk& walk) {
  while (!threads_.empty()) {
    if (Clock::now() >= until) return false;
    ask(threads_.back(), walk);
    threads_.pop_back();
  }
  return true;
}

// Each thread, since one may have descriptors of its own (unshare(2), CLONE_FILES).
// One that ended meanwhile holds nothing any more.
void HeldFiles::ask(pid_t thread, WorkspaceWalk& walk) const {
  const std::string path = "/proc/" + std::to_string(thread) + "/fd";
  const sys::UniqueFd directory(
      sys::retry_eintr([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!directory.is_open()) {
    if (errno == EACCES) ask_one_by_one(thread, walk);
    return;
  }
  alignas(8) std::array<char, 4096> entries;
  while (true) {
    const ssize_t size = ::getdents64(directory.get(), entries.data(), entries.size());
    if (size <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      struct stat link = {};  // its mode tells how the file is open (proc(5))
      if (entry->d_name[0] == '.' ||
          ::fstatat(directory.get(), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) < 0) {
        continue;
      }
      look_at({directory.get(), entry->d_name, 0, (link.st_mode & S_IWUSR) != 0}, walk);
    }
  }
}

// A process that is not dumpable has a /proc of root's. Who made its user namespace
// gets its descriptors all the same.
void HeldFiles::ask_one_by_one(pid_t thread, WorkspaceWalk& walk) const {
  sys::UniqueFd pidfd(sys::pidfd_open(thread, sys::kPidfdThread));
  if (!pidfd.is_open()) pidfd.reset(sys::pidfd_open(thread));  // before 6.9: the first thread
  for (int number = 0; pidfd.is_open() && number < most_open_; ++number) {
    const sys::UniqueFd file(sys::pidfd_getfd(pidfd.get(), number));
    if (file.is_open()) {
      const bool is_writable = (::fcntl(file.get(), F_GETFL) & O_ACCMODE) != O_RDONLY;
      look_at({file.get(), "", AT_EMPTY_PATH, is_writable}, walk);
    } else if (errno != EBADF) {
      return;
    }
  }
}

// Not what the host removes from a read-only mount while the program has it open: a
// library that is upgraded.
void HeldFiles::look_at(const Place& place, WorkspaceWalk& walk) const {
  struct stat file = {};
  if (::fstatat(place.directory, place.name, &file, place.flags) < 0 || !S_ISREG(file.st_mode) ||
      file.st_nlink != 0) {
    return;
  }
  const bool is_on_ours = std::any_of(roots_.begin(), roots_.end(),
                                      [&](const auto& root) { return root.device == file.st_dev; });
  if (is_on_ours && (place.is_writable || was_born_since(place))) walk.add(file);
}

bool HeldFiles::was_born_since(const Place& place) const {
  struct statx born = {};
  if (::statx(place.directory, place.name, place.flags, STATX_BTIME, &born) < 0 ||
      (born.stx_mask & STATX_BTIME) == 0) {
    return false;
  }
  const std::pair<std::int64_t, std::int64_t> birth(born.stx_btime.tv_sec, born.stx_btime.tv_nsec);
  return birth >= std::pair<std::int64_t, std::int64_t>(began_.tv_sec, began_.tv_nsec);
}

}  // namespace wardcase::supervisor

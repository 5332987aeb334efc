// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/held_files.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "sandbox/process_tree.h"
#include "sandbox/sys/kernel.h"

namespace wardcase::supervisor {

HeldFiles::HeldFiles(int proc, std::span<const WorkspaceRoot> roots, timespec began)
    : proc_(proc), processes_(sandbox::list_tree(proc)), roots_(roots), began_(began) {}

bool HeldFiles::step(Clock::time_point until, WorkspaceWalk& walk) {
  while (!processes_.empty()) {
    if (Clock::now() >= until) return false;
    ask(processes_.back(), walk);
    processes_.pop_back();
  }
  return true;
}

// A process that ended meanwhile holds nothing any more.
void HeldFiles::ask(pid_t process, WorkspaceWalk& walk) const {
  const std::string path = std::to_string(process) + "/fd";
  const sys::UniqueFd directory(::openat(proc_, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return;
  alignas(8) std::array<char, 4096> entries;
  while (true) {
    const ssize_t size = ::getdents64(directory.get(), entries.data(), entries.size());
    if (size <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      struct stat file = {};
      if (::fstatat(directory.get(), entry->d_name, &file, 0) == 0 && S_ISREG(file.st_mode) &&
          file.st_nlink == 0 && is_of_the_run(file, directory.get(), entry->d_name)) {
        walk.add(file);
      }
    }
  }
}

// Not what the host removes from a read-only mount while the program has it open: a
// library that is upgraded. The link's own mode tells whether it is open for writing (proc(5)).
bool HeldFiles::is_of_the_run(const struct stat& file, int directory, const char* name) const {
  const bool is_on_ours = std::any_of(roots_.begin(), roots_.end(),
                                      [&](const auto& root) { return root.device == file.st_dev; });
  if (!is_on_ours) return false;
  struct stat link = {};
  if (::fstatat(directory, name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
      (link.st_mode & S_IWUSR) != 0) {
    return true;
  }
  struct statx born = {};
  if (::statx(directory, name, 0, STATX_BTIME, &born) < 0 || (born.stx_mask & STATX_BTIME) == 0) {
    return false;
  }
  return std::pair(born.stx_btime.tv_sec, static_cast<long>(born.stx_btime.tv_nsec)) >=
         std::pair(static_cast<decltype(born.stx_btime.tv_sec)>(began_.tv_sec), began_.tv_nsec);
}

}  // namespace wardcase::supervisor

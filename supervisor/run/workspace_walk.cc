// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/workspace_walk.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/sys/kernel.h"

namespace wardcase::supervisor {
namespace {

constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks, whatever the file system (stat(2))
constexpr int kEntriesBetweenClocks = 32;

bool is_same(const struct stat& info, dev_t device, ino_t inode) {
  return info.st_dev == device && info.st_ino == inode;
}

}  // namespace

WorkspaceWalk::WorkspaceWalk(std::span<const WorkspaceRoot> roots, const WalkRules& rules)
    : roots_(roots), rules_(rules) {}

bool WorkspaceWalk::step(Clock::time_point until) {
  do {
    for (int i = 0; i < kEntriesBetweenClocks; ++i) {
      if (saw_too_many() || !advance()) return true;
    }
  } while (Clock::now() < until);
  return false;
}

void WorkspaceWalk::add(const struct stat& info) {
  if (!seen_.insert({info.st_dev, info.st_ino}).second) return;
  use_.bytes += static_cast<std::uint64_t>(info.st_blocks) * kBlockBytes;
  use_.inodes += 1;
}

// One entry, or one directory in or out; false: there is nothing left.
bool WorkspaceWalk::advance() {
  if (levels_.empty()) {
    if (next_root_ == roots_.size()) return false;
    begin_root();
    return true;
  }
  if (is_reading_) {
    if (entries_at_ == entries_size_ && !fill()) {
      is_reading_ = false;
      return true;
    }
    const auto* entry = reinterpret_cast<const dirent64*>(entries_.data() + entries_at_);
    entries_at_ += entry->d_reclen;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") look_at(entry->d_name);
    return true;
  }
  auto& waiting = levels_.back().waiting;
  if (waiting.empty()) {
    climb();
    return true;
  }
  std::string name = std::move(waiting.back());
  waiting.pop_back();
  enter(std::move(name));
  return true;
}

void WorkspaceWalk::begin_root() {
  root_ = &roots_[next_root_++];
  struct stat info = {};
  if (::fstat(root_->place.get(), &info) < 0) return;
  add(info);
  if (S_ISDIR(info.st_mode)) enter("");
}

bool WorkspaceWalk::fill() {
  const ssize_t size = ::getdents64(here_.get(), entries_.data(), entries_.size());
  entries_at_ = 0;
  entries_size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  return entries_size_ > 0;
}

void WorkspaceWalk::look_at(const char* name) {
  struct stat info = {};
  const auto look = [&] { return ::fstatat(here_.get(), name, &info, AT_SYMLINK_NOFOLLOW) == 0; };
  if (!look() && (errno != EACCES || !give_back_rights(here_.get()) || !look())) return;
  if (info.st_dev != root_->device || seen_.contains({info.st_dev, info.st_ino})) return;
  add(info);
  if (S_ISDIR(info.st_mode)) levels_.back().waiting.emplace_back(name);
}

// "" is the root itself. A directory that was put in the place of another since it
// was listed is as good: what it holds counts once all the same.
void WorkspaceWalk::enter(std::string name) {
  sys::UniqueFd opened = levels_.empty() ? open_directory(root_->place.get(), ".")
                                         : open_directory(here_.get(), name.c_str());
  struct stat info = {};
  if (!opened.is_open() || ::fstat(opened.get(), &info) < 0) return;
  add(info);
  here_ = std::move(opened);
  levels_.push_back({std::move(name), info.st_ino, {}});
  is_reading_ = true;
  entries_at_ = entries_size_ = 0;
}

// By "..", as a path could be too long and a descriptor a level too many. It must
// lead to where we came from.
void WorkspaceWalk::climb() {
  levels_.pop_back();
  if (levels_.empty()) return here_.reset();
  sys::UniqueFd up(::openat(here_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info = {};
  if (up.is_open() && ::fstat(up.get(), &info) == 0 &&
      is_same(info, root_->device, levels_.back().inode)) {
    here_ = std::move(up);
    return;
  }
  reopen_path();
}

// Somebody moved a directory that we were in: down again from the root, as far as it
// still leads where it did.
void WorkspaceWalk::reopen_path() {
  here_ = open_directory(root_->place.get(), ".");
  if (!here_.is_open()) return levels_.clear();
  for (std::size_t depth = 1; depth < levels_.size(); ++depth) {
    sys::UniqueFd next = open_directory(here_.get(), levels_[depth].name.c_str());
    struct stat info = {};
    if (!next.is_open() || ::fstat(next.get(), &info) < 0 ||
        !is_same(info, root_->device, levels_[depth].inode)) {
      levels_.resize(depth);
      return;
    }
    here_ = std::move(next);
  }
}

sys::UniqueFd WorkspaceWalk::open_directory(int in, const char* name) {
  open_how how = {};
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const auto open_now = [&] { return sys::UniqueFd(sys::openat2(in, name, how)); };
  sys::UniqueFd opened = open_now();
  if (opened.is_open()) {
    if (rules_.reopen == Reopen::all) (void)give_back_rights(opened.get());
    return opened;
  }
  if (errno != EACCES || rules_.reopen == Reopen::never) return opened;
  how.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const sys::UniqueFd place = open_now();
  if (!place.is_open() || !give_back_rights(place.get())) return {};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  return open_now();
}

bool WorkspaceWalk::is_closed_to_owner(const struct stat& info) const {
  const bool is_touched = std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec) >=
                          std::pair(rules_.began.tv_sec, rules_.began.tv_nsec);
  return info.st_uid == root_->owner && (info.st_mode & S_IRWXU) != S_IRWXU && is_touched;
}

// Through /proc/self/fd: fchmod() refuses a descriptor that was opened by O_PATH.
bool WorkspaceWalk::give_back_rights(int place) const {
  struct stat info = {};
  if (rules_.reopen == Reopen::never || ::fstat(place, &info) < 0 || !is_closed_to_owner(info)) {
    return false;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(place);
  return ::chmod(path.c_str(), (info.st_mode & 07777U) | S_IRWXU) == 0;
}

}  // namespace wardcase::supervisor

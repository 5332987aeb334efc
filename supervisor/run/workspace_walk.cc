// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/workspace_walk.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks, whatever the file system (stat(2))
constexpr int kEntriesBetweenClocks = 32;
constexpr const char* kCapabilities = "security.capability";

bool is_same(const struct stat& info, dev_t device, ino_t inode) {
  return info.st_dev == device && info.st_ino == inode;
}

}  // namespace

WorkspaceWalk::WorkspaceWalk(std::span<const WorkspaceRoot> roots, const WalkRules& rules)
    : roots_(roots), rules_(rules) {}

bool WorkspaceWalk::step(Clock::time_point until) {
  do {
    for (int i = 0; i < kEntriesBetweenClocks; ++i) {
      if (saw_too_many() || !privileged_.empty() || !advance()) return true;
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
  if (S_ISDIR(info.st_mode)) return enter("");
  check_privileged(info, nullptr);
}

bool WorkspaceWalk::fill() {
  const ssize_t size = ::getdents64(here_.get(), entries_.data(), entries_.size());
  entries_at_ = 0;
  entries_size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  return entries_size_ > 0;
}

void WorkspaceWalk::look_at(const char* name) {
  ++names_;
  struct stat info = {};
  const auto look = [&] { return ::fstatat(here_.get(), name, &info, AT_SYMLINK_NOFOLLOW) == 0; };
  if (!look() && (errno != EACCES || !give_back_rights(here_.get()) || !look())) return;
  if (info.st_dev != root_->device || seen_.contains({info.st_dev, info.st_ino})) return;
  add(info);
  if (S_ISDIR(info.st_mode)) levels_.back().waiting.emplace_back(name);
  check_privileged(info, name);
}

// `name` is in the directory that we are in; nullptr: the root itself.
void WorkspaceWalk::check_privileged(const struct stat& info, const char* name) {
  constexpr mode_t kAnyExecute = S_IXUSR | S_IXGRP | S_IXOTH;
  constexpr mode_t kGroupRuns = S_ISGID | S_IXGRP;  // without the second it means locks
  if (!rules_.refuse_privileged || !S_ISREG(info.st_mode) || info.st_uid != root_->owner) return;
  bool is_privileged = (info.st_mode & S_ISUID) != 0 || (info.st_mode & kGroupRuns) == kGroupRuns;
  if (!is_privileged && (info.st_mode & kAnyExecute) != 0) {
    std::string place = "/proc/self/fd/" + std::to_string(name ? here_.get() : root_->place.get());
    if (name != nullptr) place.append("/").append(name);
    // The last link of a path is not followed, but the root's own name is one.
    is_privileged = (name != nullptr ? ::lgetxattr(place.c_str(), kCapabilities, nullptr, 0)
                                     : ::getxattr(place.c_str(), kCapabilities, nullptr, 0)) > 0;
  }
  if (!is_privileged) return;
  privileged_ = root_->path;
  for (std::size_t depth = 1; depth < levels_.size(); ++depth) {
    privileged_.append("/").append(levels_[depth].name);
  }
  if (name != nullptr) privileged_.append("/").append(name);
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
  sys::UniqueFd up(sys::retry_eintr(
      [&] { return ::openat(here_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
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

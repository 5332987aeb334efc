// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/tree_listing.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "sandbox/sys/kernel.h"

namespace wardcase::supervisor {
namespace {

constexpr int kEntriesBetweenClocks = 32;
// Of the paths of directories that wait: names may be long, and directories many.
constexpr std::size_t kMostWaitingBytes = 4 << 20;

}  // namespace

sys::UniqueFd open_beneath(int root, const char* path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC | O_NOFOLLOW);
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return sys::UniqueFd(sys::openat2(root, path, how));
}

TreeListing::TreeListing(int root, ClosedDirectories closed, std::uint64_t most_names, Visit visit)
    : root_(root), closed_(closed), names_left_(most_names), visit_(std::move(visit)) {
  waiting_.emplace_back("");
}

bool TreeListing::step(Clock::time_point until) {
  do {
    for (int i = 0; i < kEntriesBetweenClocks; ++i) {
      if (!advance()) return true;
    }
  } while (Clock::now() < until);
  return false;
}

// One entry, or one more directory; false: there is nothing left.
bool TreeListing::advance() {
  if (!here_.is_open()) {
    if (waiting_.empty()) return false;
    std::string path = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= path.size();
    enter(std::move(path));
    return true;
  }
  if (entries_at_ == entries_size_ && !fill()) {
    here_.reset();
    return true;
  }
  const auto* entry = reinterpret_cast<const dirent64*>(entries_.data() + entries_at_);
  entries_at_ += entry->d_reclen;
  const std::string_view name(entry->d_name);
  if (name == "." || name == "..") return true;
  if (names_left_ == 0) {
    saw_too_many_ = true;
    return false;
  }
  --names_left_;
  look_at(entry->d_name);
  return true;
}

// From the root each time: by "..", a directory that is moved meanwhile would lead elsewhere.
void TreeListing::enter(std::string path) {
  here_ = open_directory(path);
  entries_at_ = entries_size_ = 0;
  if (!here_.is_open()) {
    // One that went away since is none.
    if (errno != ENOENT && unread_.empty()) unread_ = path.empty() ? "." : std::move(path);
    return;
  }
  path_ = std::move(path);
  if (!path_.empty()) path_ += '/';
}

bool TreeListing::fill() {
  const ssize_t size = ::getdents64(here_.get(), entries_.data(), entries_.size());
  entries_at_ = 0;
  entries_size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  return entries_size_ > 0;
}

void TreeListing::look_at(const char* name) {
  std::string path = path_ + name;
  struct stat info = {};
  if (::fstatat(here_.get(), name, &info, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno != ENOENT && unread_.empty()) unread_ = std::move(path);
    return;
  }
  if (!S_ISDIR(info.st_mode)) return visit_(path, info);
  if (path.size() >= PATH_MAX) {
    if (unread_.empty()) unread_ = std::move(path);
    return;
  }
  if (waiting_bytes_ + path.size() > kMostWaitingBytes) {
    saw_too_many_ = true;
    return;
  }
  waiting_bytes_ += path.size();
  waiting_.push_back(std::move(path));
}

sys::UniqueFd TreeListing::open_directory(const std::string& path) {
  const char* const name = path.empty() ? "." : path.c_str();
  if (closed_ == ClosedDirectories::open) {
    if (path.empty()) give_back_rights(root_);  // without them not even its "." is found
    const sys::UniqueFd place = open_beneath(root_, name, O_PATH | O_DIRECTORY);
    if (place.is_open()) give_back_rights(place.get());
  }
  return open_beneath(root_, name, O_RDONLY | O_DIRECTORY);
}

// Through /proc/self/fd: fchmod() refuses a descriptor that was opened by O_PATH.
void TreeListing::give_back_rights(int directory) const {
  struct stat info = {};
  if (::fstat(directory, &info) < 0 || (info.st_mode & S_IRWXU) == S_IRWXU) return;
  const std::string path = "/proc/self/fd/" + std::to_string(directory);
  (void)::chmod(path.c_str(), (info.st_mode & 07777U) | S_IRWXU);  // opening it will tell
}

}  // namespace wardcase::supervisor

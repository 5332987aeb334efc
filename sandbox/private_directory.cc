// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
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
#include "sandbox/tree_removal.h"

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
  const sys::UniqueFd directory = open_tree(AT_FDCWD, path.c_str());
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

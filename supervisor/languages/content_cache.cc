// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/content_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "sandbox/tree_removal.h"
#include "supervisor/config/own_places.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kBuilding = ".building-";
constexpr std::string_view kLock = ".lock";
// Runs wait for it. What is not removed by then is the next build's.
constexpr std::chrono::milliseconds kSweepTime = 200ms;
// Between two looks at what somebody else makes: soon at first, as most of it is quick.
constexpr Clock::duration kFirstPause = 5ms;
constexpr Clock::duration kLongestPause = 200ms;

sys::Error failed(std::string_view verb, const std::string& path) {
  return sys::errno_error(std::string(verb) + " '" + path + "'");
}

// A file, or a directory with all that is in it. False: the time was up, or it can't be removed.
bool remove_all(const std::string& path, Clock::time_point until) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  const sys::UniqueFd tree = sandbox::open_tree(AT_FDCWD, path.c_str());
  if (!tree.is_open()) return errno == ENOENT;
  return sandbox::remove_tree(path, tree.get(), until).value_or(false);
}

// What is in `directory` and bears our prefix: list_directory passes over hidden names.
std::vector<std::string> builds_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const listing = ::opendir(directory.c_str());
  if (listing == nullptr) return names;
  while (const dirent* entry = ::readdir(listing)) {
    if (std::string_view(entry->d_name).starts_with(kBuilding)) names.emplace_back(entry->d_name);
  }
  (void)::closedir(listing);
  return names;
}

std::string hash_of_build(std::string_view name) {
  name.remove_prefix(kBuilding.size());
  return std::string(name.substr(0, name.find('.')));
}

bool is_named(int fd, const std::string& path) {
  struct stat held = {};
  struct stat named = {};
  return ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

// What we made ourselves, and nobody has had his hands on since.
bool is_sound(int fd) {
  struct stat info = {};
  if (::fstat(fd, &info) < 0 || info.st_uid != ::geteuid() || (info.st_mode & 022) != 0) {
    return false;
  }
  return S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && info.st_nlink == 1);
}

}  // namespace

CacheBuild::CacheBuild(sandbox::StateLock lock, std::string directory, std::string hash)
    : lock_(std::move(lock)),
      directory_(std::move(directory)),
      hash_(std::move(hash)),
      path_(directory_ + "/" + std::string(kBuilding) + hash_ + make_id(".")) {}

CacheBuild& CacheBuild::operator=(CacheBuild&& other) noexcept {
  // Swapped, so that what was held goes with `other`, by its destructor.
  lock_.swap(other.lock_);
  directory_.swap(other.directory_);
  hash_.swap(other.hash_);
  path_.swap(other.path_);
  return *this;
}

CacheBuild::~CacheBuild() {
  if (lock_ && !path_.empty()) (void)remove_all(path_, Clock::time_point::max());
}

sys::Result<CacheEntry> CacheBuild::publish() {
  const std::string entry = directory_ + "/" + hash_;
  if (::rename(path_.c_str(), entry.c_str()) < 0) return tl::unexpected(failed("make", entry));
  path_.clear();
  auto fd = sys::open_at(AT_FDCWD, entry.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd) return tl::unexpected(std::move(fd).error());
  // Nobody can be collecting it yet who would not find it too new.
  (void)::flock(fd->get(), LOCK_SH | LOCK_NB);
  return CacheEntry{entry, *std::move(fd)};
}

sys::Result<ContentCache> ContentCache::open(const std::string& kind) {
  auto place = open_cache(kind, Missing::is_made);
  if (!place) return tl::unexpected(std::move(place).error().while_doing("cache"));
  return ContentCache(std::move(place->path));
}

sys::Result<std::optional<CacheEntry>> ContentCache::find(const std::string& hash) const {
  const std::string path = path_ + "/" + hash;
  auto fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd && fd.error().code == ENOENT) return std::nullopt;
  if (!fd) return tl::unexpected(std::move(fd).error());
  if (::flock(fd->get(), LOCK_SH | LOCK_NB) < 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;  // it is being removed
    return tl::unexpected(failed("lock", path));
  }
  if (!is_named(fd->get(), path)) return std::nullopt;  // it was removed meanwhile
  if (!is_sound(fd->get())) {
    return tl::unexpected(
        sys::plain_error("'" + path + "' is not as it was made (owner, rights, links); remove it"));
  }
  (void)::futimens(fd->get(), nullptr);  // a file system that is read-only keeps the time it has
  return CacheEntry{path, *std::move(fd)};
}

sys::Result<std::optional<CacheBuild>> ContentCache::build(const std::string& hash) const {
  auto lock = sandbox::StateLock::acquire(path_, hash + std::string(kLock));
  if (!lock && lock.error().code == EWOULDBLOCK) return std::nullopt;
  if (!lock) return tl::unexpected(std::move(lock).error());
  sweep(hash);
  return CacheBuild(*std::move(lock), path_, hash);
}

// Removes what dead builds left; `held` is locked by us.
void ContentCache::sweep(const std::string& held) const {
  const Clock::time_point until = Clock::now() + kSweepTime;
  for (const std::string& name : builds_in(path_)) {
    const std::string hash = hash_of_build(name);
    if (hash == held) {
      (void)remove_all(path_ + "/" + name, until);
      continue;
    }
    const auto lock = sandbox::StateLock::acquire(path_, hash + std::string(kLock));
    if (lock) (void)remove_all(path_ + "/" + name, until);
  }
}

sys::Result<std::optional<ContentCache>> ContentCache::open_existing(const std::string& kind) {
  auto place = open_cache(kind, Missing::is_error);
  if (!place && place.error().code == ENOENT) return std::nullopt;
  if (!place) return tl::unexpected(std::move(place).error().while_doing("cache"));
  return ContentCache(std::move(place->path));
}

std::vector<std::string> ContentCache::entries() const {
  std::vector<std::string> names;
  for (const unsigned char type : {DT_REG, DT_DIR}) {
    for (std::string& name : sys::list_directory(path_, type)) {
      if (!name.ends_with(kLock)) names.push_back(std::move(name));
    }
  }
  return names;
}

// Whoever uses it has it locked as shared; whoever looks for it now takes it for gone.
sys::Result<sys::UniqueFd> ContentCache::lock_alone(const std::string& hash) const {
  const std::string path = path_ + "/" + hash;
  auto fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!fd && fd.error().code == ENOENT) return sys::UniqueFd();
  if (!fd) return fd;
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) == 0 && is_named(fd->get(), path)) return fd;
  return sys::UniqueFd();
}

sys::Result<bool> ContentCache::is_free(const std::string& hash) const {
  return lock_alone(hash).map([](const sys::UniqueFd& fd) { return fd.is_open(); });
}

// Under a name of what is being made, so that if we are killed the next build removes the rest.
sys::Result<bool> ContentCache::remove(const std::string& hash) const {
  const auto locked = lock_alone(hash);
  if (!locked) return tl::unexpected(locked.error());
  if (!locked->is_open()) return false;
  const std::string away = path_ + "/" + std::string(kBuilding) + hash + make_id(".");
  if (::rename((path_ + "/" + hash).c_str(), away.c_str()) < 0) {
    return tl::unexpected(failed("remove", path_ + "/" + hash));
  }
  if (remove_all(away, Clock::time_point::max())) return true;
  return tl::unexpected(sys::plain_error("'" + away + "' can't be removed"));
}

std::vector<std::string> ContentCache::leftovers() const {
  std::vector<std::string> names;
  for (std::string& name : builds_in(path_)) {
    const auto lock = sandbox::StateLock::acquire(path_, hash_of_build(name) + std::string(kLock));
    if (lock) names.push_back(std::move(name));
  }
  for (std::string& name : sys::list_directory(path_, DT_REG)) {
    if (!name.ends_with(kLock)) continue;
    auto lock = sandbox::StateLock::take_over(path_, name);
    if (!lock) continue;
    lock->leave();
    names.push_back(std::move(name));
  }
  return names;
}

bool ContentCache::remove_leftover(const std::string& name) const {
  if (name.ends_with(kLock)) return sandbox::StateLock::take_over(path_, name).has_value();
  const auto lock = sandbox::StateLock::acquire(path_, hash_of_build(name) + std::string(kLock));
  return lock && remove_all(path_ + "/" + name, Clock::time_point::max());
}

CacheClaim::CacheClaim(EventLoop& loop, ContentCache cache, std::string hash)
    : loop_(loop), cache_(std::move(cache)), hash_(std::move(hash)), pause_(kFirstPause) {}

CacheClaim::~CacheClaim() { loop_.cancel(timer_); }

void CacheClaim::start(Done done) {
  done_ = std::move(done);
  ask();
}

void CacheClaim::ask() {
  timer_ = 0;
  auto answer = look();
  if (answer && !answer->entry && !answer->build) {
    timer_ = loop_.at(Clock::now() + pause_, [this] { ask(); });
    pause_ = std::min(2 * pause_, kLongestPause);
    return;
  }
  const Done done = std::move(done_);
  done(std::move(answer));
}

// Its maker may have finished between the first look and the lock.
sys::Result<CacheAnswer> CacheClaim::look() const {
  CacheAnswer answer;
  auto entry = cache_.find(hash_);
  if (!entry) return tl::unexpected(std::move(entry).error());
  answer.entry = *std::move(entry);
  if (answer.entry) return answer;
  auto build = cache_.build(hash_);
  if (!build) return tl::unexpected(std::move(build).error());
  if (!*build) return answer;
  entry = cache_.find(hash_);
  if (!entry) return tl::unexpected(std::move(entry).error());
  answer.entry = *std::move(entry);
  if (!answer.entry) answer.build.emplace(**std::move(build));
  return answer;
}

}  // namespace wardcase::supervisor

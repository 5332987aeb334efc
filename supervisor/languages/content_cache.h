// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/state_lock.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

namespace wardcase::supervisor {

// An entry that is there. While `fd` is open it is marked as in use (flock(2), shared), so that
// whoever collects old entries leaves it alone.
struct CacheEntry {
  std::string path;
  sys::UniqueFd fd;  // for reading: a regular file, or a directory
};

// The right to make one entry, which nobody else has meanwhile. Without publish() whatever is at
// path() goes with this.
class CacheBuild {
 public:
  CacheBuild(CacheBuild&& other) noexcept = default;
  CacheBuild& operator=(CacheBuild&& other) noexcept;
  ~CacheBuild();

  // Where the file or directory is to be made; nothing is there yet.
  [[nodiscard]] const std::string& path() const { return path_; }
  // What is at path() becomes the entry, in one step.
  [[nodiscard]] sys::Result<CacheEntry> publish();

 private:
  friend class ContentCache;
  CacheBuild(sandbox::StateLock lock, std::string directory, std::string hash);

  std::optional<sandbox::StateLock> lock_;
  std::string directory_;
  std::string hash_;
  std::string path_;
};

// Things that take long to make and are the same for all who need them, each named by a hash of
// all that went into it. In $XDG_CACHE_HOME/wardcase/KIND (own_places.h):
//
//   HASH                   an entry, complete: a regular file or a directory
//   HASH.lock              held by whoever makes that entry (StateLock)
//   .building-HASH.RANDOM  what is being made; nobody's once HASH.lock can be taken
//
// A build that is killed half-way leaves the latter two, which the next one removes.
class ContentCache {
 public:
  // Makes the directory where it is missing. Fails where it, or one above, is not the caller's
  // own or is open to others: what lies in it is run.
  static sys::Result<ContentCache> open(const std::string& kind);
  // Makes nothing; nullopt: nothing was ever kept there.
  static sys::Result<std::optional<ContentCache>> open_existing(const std::string& kind);

  // nullopt: there is none. It is noted as used now (its time of modification).
  [[nodiscard]] sys::Result<std::optional<CacheEntry>> find(const std::string& hash) const;
  // nullopt: somebody else makes it right now.
  [[nodiscard]] sys::Result<std::optional<CacheBuild>> build(const std::string& hash) const;

  [[nodiscard]] const std::string& path() const { return path_; }

  // For whoever collects what is old (cache_collection.h): the hashes of all entries.
  [[nodiscard]] std::vector<std::string> entries() const;
  // False: somebody uses it.
  [[nodiscard]] sys::Result<bool> is_free(const std::string& hash) const;
  // Removes an entry, if it is free; false: it is not.
  [[nodiscard]] sys::Result<bool> remove(const std::string& hash) const;
  // The names of what builds left that were killed, and of their locks.
  [[nodiscard]] std::vector<std::string> leftovers() const;
  // Removes one of them. False: somebody builds there again, or it can't be removed.
  [[nodiscard]] bool remove_leftover(const std::string& name) const;

 private:
  explicit ContentCache(std::string path) : path_(std::move(path)) {}
  void sweep(const std::string& held) const;
  [[nodiscard]] sys::Result<sys::UniqueFd> lock_alone(const std::string& hash) const;

  std::string path_;
};

// What is to be had of an entry: itself, or the right to make it. One of them is set.
struct CacheAnswer {
  std::optional<CacheEntry> entry;
  std::optional<CacheBuild> build;
};

// Asks for an entry; where somebody makes it right now, waits until it is there or its maker has
// given up, without holding up the loop.
class CacheClaim {
 public:
  using Done = std::function<void(sys::Result<CacheAnswer>)>;

  CacheClaim(EventLoop& loop, ContentCache cache, std::string hash);
  CacheClaim(const CacheClaim&) = delete;
  CacheClaim& operator=(const CacheClaim&) = delete;
  ~CacheClaim();  // a wait is over, without an answer

  // `done` is called once, at once or in a later turn of the loop, and may destroy this.
  void start(Done done);
  [[nodiscard]] bool is_waiting() const { return timer_ != 0; }

 private:
  void ask();
  [[nodiscard]] sys::Result<CacheAnswer> look() const;

  EventLoop& loop_;
  ContentCache cache_;
  std::string hash_;
  Done done_;
  EventLoop::TimerId timer_ = 0;
  Clock::duration pause_;
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/subordinate_ids.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// A locked file that says "its owner lives". Leaves, directories and id leases
// carry its name; when the lock can be taken, its owner is dead and what it
// left may be swept: never a guess by pid.
class StateLock {
 public:
  // Makes and locks `directory`/`name` (the directory is made, mode 0700, if
  // missing). Fails with EWOULDBLOCK if somebody holds it.
  static sys::Result<StateLock> acquire(const std::string& directory, const std::string& name);

  // Takes the lock that a dead owner left, making nothing. Fails with ENOENT if
  // there is no such file, with EWOULDBLOCK if its owner lives.
  static sys::Result<StateLock> take_over(const std::string& directory, const std::string& name);

  StateLock(StateLock&&) noexcept = default;
  StateLock& operator=(StateLock&&) noexcept;
  ~StateLock();  // removes the file, then lets the lock go

  [[nodiscard]] const std::string& name() const { return name_; }
  // The file stays when the lock goes: what bears its name could not be removed, and is
  // a later sweep's.
  void leave() { stays_ = true; }

 private:
  StateLock(sys::UniqueFd fd, std::string directory, std::string name);
  sys::UniqueFd fd_;
  std::string directory_;
  std::string name_;
  bool stays_ = false;
};

// Removes the locks in `directory` whose owners are dead, and nothing else. What
// they named must be gone already, save for those in `needed`.
void sweep_locks(const std::string& directory, const std::set<std::string>& needed = {});

// One host id (used as uid and gid) that no other box has while it is held.
class IdLease {
 public:
  static constexpr std::uint32_t kPoolFirst =
      1'900'000'000;  // outside what systemd and shadow hand out
  static constexpr std::uint32_t kPoolCount = 4096;

  // Takes a free id of root's pool; ids that /etc/subuid or /etc/subgid gave to
  // somebody are passed over. Fails when all are in use.
  static sys::Result<IdLease> take(const std::string& directory);
  // The same of a range that was given to us.
  static sys::Result<IdLease> take(const std::string& directory, const IdRange& ids);

  [[nodiscard]] std::uint32_t id() const { return id_; }

 private:
  static sys::Result<IdLease> take(const std::string& directory, const IdRange& ids,
                                   std::span<const SubordinateIds> given);
  IdLease(StateLock lock, std::uint32_t id) : lock_(std::move(lock)), id_(id) {}
  StateLock lock_;
  std::uint32_t id_;
};

// Where locks and leases live; made, mode 0700, if missing. /run/wardcase as root; else a
// service's own ($RUNTIME_DIRECTORY, systemd.exec(5)), else $XDG_RUNTIME_DIR/wardcase, else
// $XDG_STATE_HOME/wardcase, else ~/.local/state/wardcase.
[[nodiscard]] sys::Result<std::string> runtime_directory();
// Which one that is; nothing is made.
[[nodiscard]] sys::Result<std::string> runtime_directory_name();

}  // namespace wardcase::sandbox

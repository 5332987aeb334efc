// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "sandbox/id_maps.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// A directory of the host that stands for /box, /tmp and HOME where there is no mount
// namespace: made for one run, closed to everybody but its box, and removed after it. Its name
// begins with that of the supervisor's lock (state_lock.h), so that a later one can tell whose
// it was.
class PrivateDirectory {
 public:
  // Below /tmp, or, where the ids are the caller's own, what TMPDIR says. `name` is the lock's,
  // with a number of the run after a dot.
  static sys::Result<PrivateDirectory> make(const std::string& name, const BoxIds& ids);
  PrivateDirectory(PrivateDirectory&&) noexcept = default;
  PrivateDirectory& operator=(PrivateDirectory&&) noexcept = delete;
  ~PrivateDirectory();  // removes it, however long that takes

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

  // Removes what is in it and then itself, once no process of the box lives. False: the time was
  // up, there is more to do.
  [[nodiscard]] sys::Result<bool> remove_for(std::chrono::milliseconds time);

 private:
  PrivateDirectory(sys::UniqueFd fd, std::string path);
  sys::UniqueFd fd_;
  std::string path_;  // "": it is gone
};

// Removes those whose lock in `lock_directory` can be taken: their supervisor is dead.
// `unfinished` gets the locks of those that could not be removed.
void sweep_private_directories(const std::string& lock_directory,
                               std::set<std::string>* unfinished);

}  // namespace wardcase::sandbox

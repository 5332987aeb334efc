// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <string>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// This thread reaches files as the box's user while it lives; setfsuid(2), which also takes root's
// capabilities over files away.
class AsBoxUser {
 public:
  explicit AsBoxUser(const BoxUser& user);
  AsBoxUser(const AsBoxUser&) = delete;
  AsBoxUser& operator=(const AsBoxUser&) = delete;
  ~AsBoxUser();
  [[nodiscard]] sys::Status status() const;

 private:
  bool is_other_;
  bool is_failed_ = false;
};

// `path` below /box ("": that itself), by the descriptor of which no link, no other file system
// and no ".." leads away. Never waits.
[[nodiscard]] sys::Result<sys::UniqueFd> open_inside(int box, const std::string& path, int flags,
                                                     mode_t mode);

}  // namespace wardcase::supervisor

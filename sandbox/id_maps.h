// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// The box's one user and group, seen from inside and from the host.
struct BoxIds {
  std::uint32_t inside_uid = 1000;
  std::uint32_t inside_gid = 1000;
  std::uint32_t host_uid = 0;
  std::uint32_t host_gid = 0;
  // An id that no other box has, as root or a pool (id_pool.h) can give; else the caller's own.
  bool is_leased = false;
  // There is no user namespace: inside and host are the same.
  bool is_unmapped = false;
  // The pool's user namespace, borrowed: the box is made from inside it. -1: without one.
  int pool = -1;

  // Only root can show the files of one user as another's.
  [[nodiscard]] bool can_map_files() const { return is_leased && pool < 0; }
};

// Writes the id maps of `pid`, a process in a new user namespace, and reads them
// back: what the kernel says is what counts. user_namespaces(7).
[[nodiscard]] sys::Status write_id_maps(pid_t pid, const BoxIds& ids);

// A user namespace in which files of `owner_uid` and `owner_gid` belong to
// `box`, for id-mapped mounts (mount_setattr(2)). Nothing lives in it.
[[nodiscard]] sys::Result<sys::UniqueFd> make_mount_namespace_ids(std::uint32_t owner_uid,
                                                                  std::uint32_t owner_gid,
                                                                  const BoxIds& box);

}  // namespace wardcase::sandbox

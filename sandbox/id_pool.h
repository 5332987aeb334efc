// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "sandbox/subordinate_ids.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

// Host ids for the boxes of somebody who is not root: a user namespace that is his, and in
// which root, or newuidmap with what /etc/subuid gives him, has mapped a range of ids to
// themselves. Boxes made in it have an id of the range; nothing else lives in it.
class IdPool {
 public:
  // Where root keeps them, a file by each user's number (make_id_pool).
  static constexpr const char* kDirectory = "/run/wardcase-ids";

  // The pool that was made for `user`; nullopt where there is none.
  static sys::Result<std::optional<IdPool>> find(uid_t user);

  // One of our own that lasts as long as it is held. `map` has ids mapped, to themselves, in
  // the user namespace of a process, by somebody who may (newuidmap(1)).
  static sys::Result<IdPool> make(const std::function<sys::Status(pid_t)>& map);

  [[nodiscard]] int user_namespace() const { return space_.get(); }
  // Ids that are mapped for users and for groups alike.
  [[nodiscard]] const IdRange& ids() const { return ids_; }

 private:
  IdPool(sys::UniqueFd space, IdRange ids) : space_(std::move(space)), ids_(ids) {}
  sys::UniqueFd space_;
  IdRange ids_;
};

// As root: makes a pool of `ids` for `user` and `group` and pins it in `directory`, in place
// of one that is there. Boxes of that one keep what they have.
[[nodiscard]] sys::Status make_id_pool(uid_t user, gid_t group, const IdRange& ids,
                                       const std::string& directory = IdPool::kDirectory);
// Lets it go; fine where there is none.
[[nodiscard]] sys::Status drop_id_pool(uid_t user,
                                       const std::string& directory = IdPool::kDirectory);

}  // namespace wardcase::sandbox

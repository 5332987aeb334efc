// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/id_pools.h"

#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "sandbox/id_pool.h"
#include "sandbox/sys/files.h"

namespace wardcase::supervisor {
namespace {

struct User {
  uid_t id = 0;
  gid_t group = 0;
};

// By name, or by a number, which need not have one: its group is the same then.
sys::Result<User> find_user(const std::string& who) {
  uid_t id = 0;
  const auto [end, error] = std::from_chars(who.data(), who.data() + who.size(), id);
  const bool is_number = !who.empty() && error == std::errc() && end == who.data() + who.size();
  const passwd* const entry = is_number ? ::getpwuid(id) : ::getpwnam(who.c_str());
  if (entry != nullptr) return User{entry->pw_uid, entry->pw_gid};
  if (is_number) return User{id, id};
  return tl::unexpected(sys::plain_error("there is no user '" + who + "'"));
}

// Ids that root names: another's boxes, or his containers, would be the same users of the host.
sys::Status refuse_ids_of_others(uid_t user, const sandbox::IdRange& ids) {
  const auto passwd = sys::read_file(AT_FDCWD, "/etc/passwd");
  const std::string name = sandbox::find_user_name(passwd.value_or(""), user);
  for (const char* path : {"/etc/subuid", "/etc/subgid"}) {
    auto text = sys::read_file(AT_FDCWD, path);
    if (!text && text.error().code == ENOENT) continue;
    if (!text) return tl::unexpected(std::move(text).error());
    for (const auto& given : sandbox::parse_subordinate_ids(*text)) {
      const bool is_own = given.owner == name || given.owner == std::to_string(user);
      if (is_own || !given.range.overlaps(ids)) continue;
      return tl::unexpected(sys::plain_error(std::string(path) + " gives some of these ids to '" +
                                             given.owner + "'"));
    }
  }
  return {};
}

// systemd gives even a privileged step of a unit with such settings a mount namespace of its
// own: a mount made there is gone with it. Where process 1 has more rights than we it can't
// be looked at; what we make then is seen from where we are.
sys::Status enter_mounts_of_all() {
  struct stat ours = {};
  struct stat first = {};
  auto space = sys::open_at(AT_FDCWD, "/proc/1/ns/mnt", O_RDONLY);
  if (!space && space.error().code == EACCES) return {};
  if (!space) return tl::unexpected(std::move(space).error());
  if (::fstat(space->get(), &first) < 0 || ::stat("/proc/self/ns/mnt", &ours) < 0) {
    return tl::unexpected(sys::errno_error("look at the mount namespaces"));
  }
  if (ours.st_ino == first.st_ino && ours.st_dev == first.st_dev) return {};
  if (::setns(space->get(), CLONE_NEWNS) == 0) return {};
  return tl::unexpected(sys::errno_error("enter the mount namespace of process 1"));
}

}  // namespace

sys::Status make_ids(const std::string& who, const std::optional<sandbox::IdRange>& ids) {
  const auto user = find_user(who);
  if (!user) return tl::unexpected(user.error());
  if (user->id == 0) {
    return tl::unexpected(sys::plain_error("root needs none: its boxes have ids of their own"));
  }
  const auto range =
      ids ? sys::Result<sandbox::IdRange>(*ids) : sandbox::read_subordinate_ids(user->id);
  if (!range) return tl::unexpected(range.error());
  if (auto free = refuse_ids_of_others(user->id, *range); !free) return free;
  if (auto entered = enter_mounts_of_all(); !entered) return entered;
  return sandbox::make_id_pool(user->id, user->group, *range);
}

sys::Status drop_ids(const std::string& who) {
  const auto user = find_user(who);
  if (!user) return tl::unexpected(user.error());
  if (auto entered = enter_mounts_of_all(); !entered) return entered;
  return sandbox::drop_id_pool(user->id);
}

}  // namespace wardcase::supervisor

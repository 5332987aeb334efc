// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/bind_sources.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "sandbox/id_maps.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/paths.h"

namespace wardcase::sandbox {
namespace {

constexpr std::uint64_t kPrivate = 1U << 18;  // MS_PRIVATE: later host mounts must not appear

// Also where it is read-only, and the program can write to it by another mount.
bool is_writable(const LayoutBind& bind, const std::vector<LayoutBind>& all) {
  return std::ranges::any_of(all, [&](const LayoutBind& other) {
    return other.mode == policies::MountMode::read_write && other.kind == LayoutKind::user &&
           (sys::is_at_or_below(bind.source, other.source) ||
            sys::is_at_or_below(other.source, bind.source));
  });
}

std::uint64_t attributes_of(const LayoutBind& bind, bool can_execute) {
  std::uint64_t attributes = MOUNT_ATTR_NOSUID;
  attributes |= bind.kind == LayoutKind::device ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV;
  if (bind.mode == policies::MountMode::read_only) attributes |= MOUNT_ATTR_RDONLY;
  if (!can_execute) attributes |= MOUNT_ATTR_NOEXEC;
  return attributes;
}

// Makes one id-mapping user namespace an owner, however many binds it has.
class OwnerNamespaces {
 public:
  explicit OwnerNamespaces(const BoxIds& ids) : ids_(ids) {}

  sys::Result<int> of(uid_t uid, gid_t gid) {
    auto& space = spaces_[{uid, gid}];
    if (!space.is_open()) {
      auto made = make_mount_namespace_ids(uid, gid, ids_);
      if (!made) return tl::unexpected(made.error());
      space = std::move(*made);
    }
    return space.get();
  }

 private:
  const BoxIds& ids_;
  std::map<std::pair<uid_t, gid_t>, sys::UniqueFd> spaces_;
};

// Devices and the system's own read-only trees are shown as they are; what a
// user asked for by name is shown as the box's user's.
bool needs_id_map(const LayoutBind& bind, const struct stat& source) {
  if (bind.kind == LayoutKind::device) return false;
  return bind.kind == LayoutKind::user || source.st_uid != 0;
}

sys::Result<sys::UniqueFd> prepare_tree(int source, const LayoutBind& bind,
                                        std::uint64_t attributes, const struct stat& seen,
                                        OwnerNamespaces& owners) {
  const unsigned recursive = bind.is_directory ? AT_RECURSIVE : 0U;
  sys::UniqueFd tree(
      sys::open_tree(source, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | recursive));
  if (!tree.is_open()) return tl::unexpected(sys::errno_error("clone the mount"));
  mount_attr attr = {};
  attr.attr_set = attributes;
  attr.propagation = kPrivate;
  if (needs_id_map(bind, seen)) {
    auto owner = owners.of(seen.st_uid, seen.st_gid);
    if (!owner) return tl::unexpected(owner.error());
    attr.attr_set |= MOUNT_ATTR_IDMAP;
    attr.userns_fd = static_cast<unsigned>(*owner);
  }
  if (sys::mount_setattr(tree.get(), "", AT_EMPTY_PATH | recursive, attr) < 0) {
    const bool mapped = (attr.attr_set & MOUNT_ATTR_IDMAP) != 0 && errno == EINVAL;
    return tl::unexpected(sys::errno_error(
        mapped ? "map ids (its file system, or one mounted in it, can't be id-mapped)"
               : "set mount flags"));
  }
  return tree;
}

}  // namespace

FdIndex FdTable::own(sys::UniqueFd fd) {
  owned_.push_back(std::move(fd));
  return borrow(owned_.back().get());
}

FdIndex FdTable::borrow(int fd) {
  fds_.push_back(fd);
  return static_cast<FdIndex>(fds_.size() - 1);
}

void FdTable::replace(FdIndex index, sys::UniqueFd fd) {
  fds_[static_cast<std::size_t>(index)] = fd.get();
  owned_.push_back(std::move(fd));
}

sys::Status put_binds_into(PlanBuilder& plan, FdTable& fds, const std::vector<LayoutBind>& binds,
                           const BoxIds& ids, bool execute_writable) {
  OwnerNamespaces owners(ids);
  std::vector<PlanBind> early;
  std::vector<PlanBind> late;
  for (const LayoutBind& bind : binds) {
    const auto failed = [&](sys::Error error) {
      return tl::unexpected(std::move(error).while_doing("bind '" + bind.source + "'"));
    };
    open_how how = {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_MAGICLINKS;
    const sys::UniqueFd source(sys::openat2(AT_FDCWD, bind.source.c_str(), how));
    if (!source.is_open()) return failed(sys::errno_error("open it"));
    struct stat seen = {};
    if (::fstat(source.get(), &seen) < 0) return failed(sys::errno_error("look at it"));
    if (bind.looked_at &&
        (seen.st_dev != bind.looked_at->device || seen.st_ino != bind.looked_at->inode)) {
      return failed(sys::plain_error("somebody put another in its place while it was looked at"));
    }
    PlanBind entry = {};
    entry.source = plan.text(bind.source);
    entry.target = plan.text(bind.target.substr(1));
    entry.tree = -1;
    entry.recursive = bind.is_directory ? 1 : 0;
    entry.attributes = attributes_of(bind, execute_writable || !is_writable(bind, binds));
    entry.device = seen.st_dev;
    entry.inode = seen.st_ino;
    if (ids.can_map_files()) {
      auto tree = prepare_tree(source.get(), bind, entry.attributes, seen, owners);
      if (!tree) return failed(tree.error());
      entry.tree = fds.own(std::move(*tree));
    }
    (bind.on_scratch ? late : early).push_back(entry);
  }
  plan.header.binds = plan.list(early);
  plan.header.late_binds = plan.list(late);
  return {};
}

}  // namespace wardcase::sandbox

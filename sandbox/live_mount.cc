// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/live_mount.h"

#include <sched.h>

#include <cerrno>

#include "sandbox/sys/kernel.h"
#include "sandbox/user_namespace.h"

// Everything happens in a process of its own that no process of the box can see: it is in their
// user and mount namespace, but not in that of their processes.
namespace wardcase::sandbox {
namespace {

constexpr std::uint64_t kPrivate = 1U << 18;  // MS_PRIVATE

struct Showing {
  int process;
  const BoxIds& ids;
  const char* directory;
  const char* place;  // relative to the box's root
  int error = 0;
  const char* step = "";
};

struct Descriptor {
  int fd;
  explicit Descriptor(int opened) noexcept : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) (void)::close(fd);
  }
};

int failed(Showing& showing, const char* step) noexcept {
  showing.error = errno;
  showing.step = step;
  return -1;
}

// The host's mounts as the box's user namespace may clone them: a copy of ours, which is its own.
// What is cloned from ours itself would be refused there.
int clone_directory(Showing& showing) noexcept {
  if (::unshare(CLONE_NEWNS) < 0) return failed(showing, "copy our mounts");
  const int tree = sys::open_tree(AT_FDCWD, showing.directory,
                                  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
  if (tree < 0) return failed(showing, "clone the mount");
  mount_attr attr = {};
  attr.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  attr.propagation = kPrivate;
  if (sys::mount_setattr(tree, "", AT_EMPTY_PATH, attr) == 0) return tree;
  (void)failed(showing, "set mount flags");
  (void)::close(tree);
  return -1;
}

// Below the working directory.
int open_place(const char* path) noexcept {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_DIRECTORY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return sys::openat2(AT_FDCWD, path, how);
}

// The box's root is mounted read-only; a clone of that mount which nobody else reaches need not
// be.
int make_place(Showing& showing) noexcept {
  const Descriptor root(sys::open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (root.fd < 0) return failed(showing, "clone the box's root");
  mount_attr attr = {};
  attr.attr_clr = MOUNT_ATTR_RDONLY;
  if (sys::mount_setattr(root.fd, "", AT_EMPTY_PATH, attr) < 0) {
    return failed(showing, "make the box's root writable for us");
  }
  char path[256];
  for (std::size_t i = 0; i < sizeof path; ++i) {
    path[i] = showing.place[i];
    if (path[i] != '/' && path[i] != '\0') continue;
    path[i] = '\0';
    if (sys::call(SYS_mkdirat, root.fd, path, 0755) < 0 && errno != EEXIST) {
      return failed(showing, "make its place");
    }
    if (showing.place[i] == '\0') return 0;
    path[i] = '/';
  }
  errno = ENAMETOOLONG;
  return failed(showing, "make its place");
}

void show(Showing& showing) noexcept {
  const Descriptor tree(clone_directory(showing));
  if (tree.fd < 0) return;
  if (::setns(showing.process, CLONE_NEWNS) < 0) {  // now in the box's root directory
    return (void)failed(showing, "enter the box's mounts");
  }
  if (sys::setresgid(showing.ids.inside_gid) < 0 || sys::setresuid(showing.ids.inside_uid) < 0) {
    return (void)failed(showing, "become the box's user");
  }
  if (make_place(showing) < 0) return;
  const Descriptor place(open_place(showing.place));
  if (place.fd < 0) return (void)failed(showing, "open its place");
  if (sys::move_mount_onto(tree.fd, place.fd) < 0) (void)failed(showing, "mount it");
}

}  // namespace

sys::Status show_in_box(int process, const BoxIds& ids, const std::string& directory,
                        const std::string& place) {
  Showing showing = {process, ids, directory.c_str(), place.c_str() + 1};
  const std::string doing = "show '" + directory + "' in the box at '" + place + "'";
  auto entered = in_user_namespace(process, [&showing] { show(showing); });
  if (!entered) return tl::unexpected(std::move(entered).error().while_doing(doing));
  if (showing.error == 0) return {};
  return tl::unexpected(sys::Error{showing.error, doing + ": " + showing.step});
}

}  // namespace wardcase::sandbox

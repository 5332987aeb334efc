// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <cerrno>

#include "sandbox/child.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

// The box's file system, built on a detached tmpfs and entered by pivot_root.
// Only file descriptors and the new mount calls (kernel 5.14): no path of the
// host is ever written to.
namespace wardcase::sandbox {
namespace {

// A mounted, not yet placed tmpfs. mode 0755: the root of a tmpfs is 01777 otherwise.
int make_tmpfs(const char* size, const char* inodes, unsigned attributes, int* mount) noexcept {
  const int fs = sys::fsopen("tmpfs");
  if (fs < 0) return errno;
  if (sys::fsconfig_string(fs, "size", size) < 0) return errno;
  if (sys::fsconfig_string(fs, "nr_inodes", inodes) < 0) return errno;
  if (sys::fsconfig_string(fs, "mode", "0755") < 0) return errno;
  if (sys::fsconfig_create(fs) < 0) return errno;
  *mount = sys::fsmount(fs, attributes | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  const int error = *mount < 0 ? errno : 0;
  (void)::close(fs);
  return error;
}

int make_directories(Child& child, int base, Slice slice) noexcept {
  for (const PlanDirectory& directory : plan_list<PlanDirectory>(child.plan, slice)) {
    child.object = directory.path;
    if (sys::call(SYS_mkdirat, base, plan_text(child.plan, directory.path), directory.mode) < 0) {
      return errno;
    }
  }
  child.object = 0;
  return 0;
}

int clone_tree(int dir, const char* path, unsigned flags, int* tree) noexcept {
  *tree = sys::open_tree(dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);
  return *tree < 0 ? errno : 0;
}

// Moves `tree` to its place and lets the descriptor go. The place is below `dir`
// and no link leads there: a link in a bound directory may be the program's of an
// earlier run, and would take the mount elsewhere, out of the box even.
int place(int tree, int dir, const char* path) noexcept {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const int target = sys::openat2(dir, path, how);
  if (target < 0) return errno;
  const int error = sys::move_mount_onto(tree, target) < 0 ? errno : 0;
  (void)::close(target);
  (void)::close(tree);
  return error;
}

int set_attributes(int tree, std::uint64_t attributes, unsigned flags) noexcept {
  mount_attr attr = {};
  attr.attr_set = attributes;  // only set, never cleared: locked flags do not hurt then
  return sys::mount_setattr(tree, "", AT_EMPTY_PATH | flags, attr) < 0 ? errno : 0;
}

// Without privilege the source is opened again in our own mount namespace (a
// tree cloned in the parent's is refused here) and must still be what the parent saw.
int open_source(Child& child, const PlanBind& bind, int* tree) noexcept {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  const int fd = sys::openat2(AT_FDCWD, plan_text(child.plan, bind.source), how);
  if (fd < 0) return errno;
  struct stat seen = {};
  if (sys::call(SYS_newfstatat, fd, "", &seen, AT_EMPTY_PATH) < 0) return errno;
  if (seen.st_dev != bind.device || seen.st_ino != bind.inode) return ESTALE;
  const unsigned recursive = bind.recursive != 0 ? AT_RECURSIVE : 0U;
  if (const int error = clone_tree(fd, "", AT_EMPTY_PATH | recursive, tree); error != 0) {
    return error;
  }
  (void)::close(fd);
  mount_attr attr = {};
  attr.attr_set = bind.attributes;
  attr.propagation = 1U << 18;  // MS_PRIVATE
  return sys::mount_setattr(*tree, "", AT_EMPTY_PATH | recursive, attr) < 0 ? errno : 0;
}

int place_bind_list(Child& child, Slice slice) noexcept {
  for (const PlanBind& bind : plan_list<PlanBind>(child.plan, slice)) {
    child.object = bind.source;
    int tree = child.fd(bind.tree);
    if (tree < 0) {
      if (const int error = open_source(child, bind, &tree); error != 0) return error;
    }
    if (const int error = place(tree, child.root, plan_text(child.plan, bind.target)); error != 0) {
      child.object = bind.target;
      return error;
    }
  }
  child.object = 0;
  return 0;
}

int write_all(int fd, const char* bytes, std::size_t size) noexcept {
  while (size > 0) {
    const auto written = sys::retry_eintr([&]() noexcept { return ::write(fd, bytes, size); });
    if (written < 0) return errno;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

int make_file(int base, const char* path, mode_t mode, int* fd) noexcept {
  *fd = static_cast<int>(sys::call(SYS_openat, base, path,
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  return *fd < 0 ? errno : 0;
}

// By offset: the source's own position may be shared with somebody.
int copy_content(int from, int to) noexcept {
  char chunk[32 * 1024];
  for (off_t at = 0;;) {
    const auto got = sys::retry_eintr([&]() noexcept {
      return static_cast<ssize_t>(sys::call(SYS_pread64, from, chunk, sizeof chunk, at));
    });
    if (got < 0) return errno;
    if (got == 0) return 0;
    if (const int error = write_all(to, chunk, static_cast<std::size_t>(got)); error != 0) {
      return error;
    }
    at += got;
  }
}

// For names in /proc that this kernel may not have. 0, or an errno: ENOENT is the only one that
// means that there is nothing to protect.
int look_at(int dir, const char* name, struct stat* info) noexcept {
  return sys::call(SYS_newfstatat, dir, name, info, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
}

int make_read_only(Child& child, const char* path) noexcept {
  struct stat info = {};
  if (const int error = look_at(child.proc, path, &info); error != 0) {
    return error == ENOENT ? 0 : error;
  }
  int tree = -1;
  int error = clone_tree(child.proc, path, AT_RECURSIVE, &tree);
  if (error == 0) error = set_attributes(tree, MOUNT_ATTR_RDONLY, AT_RECURSIVE);
  return error == 0 ? place(tree, child.proc, path) : error;
}

int mask(Child& child, const char* path) noexcept {
  struct stat info = {};
  if (const int error = look_at(child.proc, path, &info); error != 0) {
    return error == ENOENT ? 0 : error;
  }
  int tree = -1;
  int error = S_ISDIR(info.st_mode) ? clone_tree(child.scratch, "none", 0, &tree)
                                    : clone_tree(child.root, "dev/null", 0, &tree);
  if (error == 0) error = set_attributes(tree, MOUNT_ATTR_RDONLY, 0);
  return error == 0 ? place(tree, child.proc, path) : error;
}

int write_setting(int dir, const char* path, const char* value) noexcept {
  const auto fd =
      static_cast<int>(sys::call(SYS_openat, dir, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0));
  if (fd < 0) return errno;
  const int error = write_all(fd, value, std::strlen(value));
  (void)::close(fd);
  return error;
}

// What the kernel counts for the caller's uid as well, and of which the host may have few:
// 128 inotify instances by default. No user namespaces below ours (unshare gives ENOSPC).
int lower_counts(int proc) noexcept {
  constexpr struct {
    const char* name;
    const char* most;
    bool is_optional;  // not in each kernel
  } kCounts[] = {{"sys/user/max_user_namespaces", "0", false},
                 {"sys/user/max_inotify_instances", "16", true},
                 {"sys/user/max_inotify_watches", "4096", true}};
  for (const auto& count : kCounts) {
    const int error = write_setting(proc, count.name, count.most);
    if (error != 0 && !(error == ENOENT && count.is_optional)) return error;
  }
  return 0;
}

}  // namespace

int private_mounts(Child&) noexcept {
  mount_attr attr = {};
  attr.propagation = 1U << 18;  // MS_PRIVATE
  return sys::mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, attr) < 0 ? errno : 0;
}

// Attached on / as the only mount there: with a second one the detach in
// enter_root would pop that one alone, and /.. would be the host.
int make_root(Child& child) noexcept {
  (void)sys::call(SYS_umask, 0);  // else 01777 directories would become 01755
  const LaunchPlan& plan = child.plan;
  if (const int error = make_tmpfs(plan_text(plan, plan.root_size),
                                   plan_text(plan, plan.root_inodes), 0, &child.root);
      error != 0) {
    return error;
  }
  return sys::move_mount(child.root, AT_FDCWD, "/") < 0 ? errno : 0;
}

int make_scratch(Child& child) noexcept {
  const LaunchPlan& plan = child.plan;
  // Landlock stops the exec of a written file, this its mapping by a loader as well. What
  // is cloned from it later has the same.
  const unsigned attributes = plan.execute_scratch ? 0 : MOUNT_ATTR_NOEXEC;
  if (const int error =
          make_tmpfs(plan_text(plan, plan.scratch_size), plan_text(plan, plan.scratch_inodes),
                     attributes, &child.scratch);
      error != 0) {
    return error;
  }
  // It has to be attached somewhere before parts of it can be cloned; its own
  // place is covered by the bind of its `box` directory later.
  if (sys::call(SYS_mkdirat, child.root, "box", 0755) < 0) return errno;
  if (sys::move_mount(child.scratch, child.root, "box") < 0) return errno;
  return make_directories(child, child.scratch, plan.scratch_directories);
}

int make_skeleton(Child& child) noexcept {
  LaunchPlan& plan = child.plan;
  if (const int error = make_directories(child, child.root, plan.root_directories); error != 0) {
    return error;
  }
  for (const PlanSymlink& link : plan_list<PlanSymlink>(plan, plan.symlinks)) {
    child.object = link.path;
    if (sys::call(SYS_symlinkat, plan_text(plan, link.target), child.root,
                  plan_text(plan, link.path)) < 0) {
      return errno;
    }
  }
  for (const PlanText& file : plan_list<PlanText>(plan, plan.texts)) {
    child.object = file.path;
    int fd = -1;
    const int base = file.on_scratch != 0 ? child.scratch : child.root;
    int error = make_file(base, plan_text(plan, file.path), 0644, &fd);
    if (error == 0) error = write_all(fd, plan_text(plan, file.text), file.size);
    if (error != 0) return error;
    (void)::close(fd);
  }
  return 0;
}

int place_files(Child& child) noexcept {
  for (const PlanFile& file : plan_list<PlanFile>(child.plan, child.plan.files)) {
    child.object = file.path;
    int fd = -1;
    int error = make_file(child.scratch, plan_text(child.plan, file.path), file.mode, &fd);
    if (error == 0) error = copy_content(child.fd(file.content), fd);
    if (error != 0) return error;
    (void)::close(fd);
  }
  return 0;
}

int place_binds(Child& child) noexcept { return place_bind_list(child, child.plan.binds); }

int place_scratch(Child& child) noexcept {
  LaunchPlan& plan = child.plan;
  for (const PlanSubBind& sub : plan_list<PlanSubBind>(plan, plan.sub_binds)) {
    child.object = sub.target;
    int tree = -1;
    int error = clone_tree(child.scratch, plan_text(plan, sub.name), 0, &tree);
    if (error == 0) error = place(tree, child.root, plan_text(plan, sub.target));
    if (error != 0) return error;
  }
  return place_bind_list(child, plan.late_binds);
}

int mount_proc(Child& child) noexcept {
  const int fs = sys::fsopen("proc");
  if (fs < 0) return errno;
  if (sys::fsconfig_string(fs, "hidepid", "invisible") < 0) return errno;
  if (sys::fsconfig_create(fs) < 0) return errno;
  child.proc = sys::fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (child.proc < 0) return errno;  // EPERM: the outer /proc is partly covered
  (void)::close(fs);
  return sys::move_mount(child.proc, child.root, "proc") < 0 ? errno : 0;
}

int protect_proc(Child& child) noexcept {
  LaunchPlan& plan = child.plan;
  // Before sys turns read-only.
  if (const int error = lower_counts(child.proc); error != 0) return error;
  for (const Offset name : plan_list<Offset>(plan, plan.proc_read_only)) {
    child.object = name;
    if (const int error = make_read_only(child, plan_text(plan, name)); error != 0) return error;
  }
  for (const Offset name : plan_list<Offset>(plan, plan.proc_masks)) {
    child.object = name;
    if (const int error = mask(child, plan_text(plan, name)); error != 0) return error;
  }
  return 0;
}

// What the supervisor looks at from outside. /box stays readable after the box is
// gone: results are collected through it.
int send_box(Child& child) noexcept {
  const auto box = static_cast<int>(
      sys::call(SYS_openat, child.scratch, "box", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (box < 0) return errno;
  const int error = send_report(child, SetupMessage::Kind::box_directory, box);
  (void)::close(box);
  return error != 0 ? error : send_report(child, SetupMessage::Kind::proc, child.proc);
}

// Where the host's root is a rootfs or a chroot, pivot_root gives EINVAL; the
// new root lies on / already, so that chroot reaches it, and verify_root judges
// both alike.
int enter_root(Child& child) noexcept {
  if (sys::call(SYS_fchdir, child.root) < 0) return errno;
  if (sys::pivot_root(".", ".") == 0) {
    if (sys::umount2(".", sys::kMountDetach) < 0) return errno;
  } else if (errno == EINVAL) {
    if (sys::call(SYS_chroot, ".") < 0) return errno;
    child.report.root_by_chroot = true;
  } else {
    return errno;
  }
  return sys::call(SYS_chdir, "/") < 0 ? errno : 0;
}

int verify_root(Child& child) noexcept {
  std::uint64_t root = 0;
  std::uint64_t above = 0;
  std::uint64_t made = 0;
  if (sys::statx_mount_id(AT_FDCWD, "/", 0, &root) < 0) return errno;
  if (sys::statx_mount_id(AT_FDCWD, "/..", 0, &above) < 0) return errno;
  if (sys::statx_mount_id(child.root, "", AT_EMPTY_PATH, &made) < 0) return errno;
  return root == above && root == made ? 0 : EXDEV;
}

// Not recursive: /box and /tmp stay writable.
int seal_root(Child& child) noexcept { return set_attributes(child.root, MOUNT_ATTR_RDONLY, 0); }

}  // namespace wardcase::sandbox

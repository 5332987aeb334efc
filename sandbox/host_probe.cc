// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The probe's child is cloned as a box's first process is, waits for its id maps,
// then takes one step after another and writes down how each went. It goes on
// after a failure wherever the next step does not need the one that failed, since
// a host often has more than one fault.
#include "sandbox/host_probe.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <utility>

#include "sandbox/id_maps.h"
#include "sandbox/state_lock.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {

namespace {

constexpr int kPatienceMs = 10'000;           // a healthy host takes some 5 ms
constexpr std::uint64_t kPrivate = 1U << 18;  // MS_PRIVATE of <sys/mount.h>, which can't be here

struct StepReport {
  ProbeStep step;
  int error;
};

// ---- The child: raw calls alone; it was cloned behind the C library's back.

void report(int to, ProbeStep step, int error) noexcept {
  const StepReport text = {step, error};
  (void)sys::retry_eintr([&] { return ::write(to, &text, sizeof text); });  // told by its absence
}

int make_private() noexcept {
  mount_attr attr = {};
  attr.propagation = kPrivate;
  return sys::mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, attr) < 0 ? errno : 0;
}

// The result stays open in `mount`.
int make_mount(const char* type, int* mount) noexcept {
  const int fs = sys::fsopen(type);
  if (fs < 0 || sys::fsconfig_create(fs) < 0) return errno;
  *mount = sys::fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  return *mount < 0 ? errno : 0;
}

int enter_root(int root) noexcept {
  if (::fchdir(root) < 0 || sys::pivot_root(".", ".") < 0) return errno;
  return sys::umount2(".", sys::kMountDetach) < 0 ? errno : 0;
}

int load_filter(unsigned flags) noexcept {
  sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program = {1, &allow};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return errno;
  return sys::seccomp_set_filter(flags, program) < 0 ? errno : 0;
}

void take_mount_steps(int to) noexcept {
  const int is_private = make_private();
  report(to, ProbeStep::private_mounts, is_private);
  int tmpfs = -1;
  const int has_tmpfs = make_mount("tmpfs", &tmpfs);
  report(to, ProbeStep::make_tmpfs, has_tmpfs);
  int proc = -1;
  report(to, ProbeStep::make_proc, make_mount("proc", &proc));
  if (is_private != 0 || has_tmpfs != 0) return;
  const int is_attached = sys::move_mount(tmpfs, AT_FDCWD, "/") < 0 ? errno : 0;
  report(to, ProbeStep::attach_tmpfs, is_attached);
  if (is_attached == 0) report(to, ProbeStep::pivot_root, enter_root(tmpfs));
}

[[noreturn]] void be_probed(int go, int to) noexcept {
  char released = 0;
  if (sys::retry_eintr([&] { return ::read(go, &released, 1); }) == 1) {
    take_mount_steps(to);
    const int is_filtered = load_filter(0);
    report(to, ProbeStep::load_filter, is_filtered);
    if (is_filtered == 0) {
      report(to, ProbeStep::make_listener, load_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER));
    }
  }
  ::_exit(0);
}

// ---- The parent.

struct Pipe {
  sys::UniqueFd read_end;
  sys::UniqueFd write_end;
};

sys::Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  return Pipe{sys::UniqueFd(ends[0]), sys::UniqueFd(ends[1])};
}

// Until the child has ended, or patience has.
void read_reports(int from, ProbeErrors& errors) {
  while (true) {
    pollfd readable = {from, POLLIN, 0};
    const int ready = sys::retry_eintr([&] { return ::poll(&readable, 1, kPatienceMs); });
    StepReport text = {};
    if (ready <= 0 ||
        sys::retry_eintr([&] { return ::read(from, &text, sizeof text); }) != sizeof text) {
      return;
    }
    errors.set(text.step, text.error);
  }
}

// As root, whether the files of one user can be shown as another's.
int map_mount_ids() {
  const BoxIds box = {.host_uid = IdLease::kPoolFirst, .host_gid = IdLease::kPoolFirst};
  const auto space = make_mount_namespace_ids(::geteuid(), ::getegid(), box);
  if (!space) return space.error().code;
  const sys::UniqueFd tree(
      sys::open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | static_cast<unsigned>(OPEN_TREE_CLOEXEC)));
  if (!tree.is_open()) return errno;
  mount_attr attr = {};
  attr.attr_set = MOUNT_ATTR_IDMAP;
  attr.userns_fd = static_cast<decltype(attr.userns_fd)>(space->get());
  return sys::mount_setattr(tree.get(), "", AT_EMPTY_PATH, attr) < 0 ? errno : 0;
}

int map_child_ids(pid_t child) {
  const BoxIds ids = {.host_uid = ::geteuid(), .host_gid = ::getegid()};
  const auto mapped = write_id_maps(child, ids);
  if (mapped) return 0;
  return mapped.error().code != 0 ? mapped.error().code : EPERM;  // read back as something else
}

}  // namespace

sys::Result<ProbeErrors> probe_box() {
  auto go = make_pipe();
  if (!go) return tl::unexpected(std::move(go).error());
  auto reports = make_pipe();
  if (!reports) return tl::unexpected(std::move(reports).error());

  ProbeErrors errors;
  clone_args args = {};
  args.flags =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  args.exit_signal = SIGCHLD;
  const int child = sys::clone3(args);
  if (child == 0) {
    (void)::close(go->write_end.get());  // else the end of the parent would not be seen
    be_probed(go->read_end.get(), reports->write_end.get());
  }
  errors.set(ProbeStep::create_namespaces, child < 0 ? errno : 0);
  if (child > 0) {
    const int has_ids = map_child_ids(child);
    errors.set(ProbeStep::map_ids, has_ids);
    reports->write_end.reset();
    // Without ids the child is let go by the end of the pipe, and does nothing.
    if (has_ids == 0) (void)!::write(go->write_end.get(), "", 1);
    go->write_end.reset();
    read_reports(reports->read_end.get(), errors);
    (void)::kill(child, SIGKILL);  // not reaped yet, so the number is still its own
    (void)sys::retry_eintr([&] { return ::waitpid(child, nullptr, 0); });
  }
  if (::geteuid() == 0 && errors.of(ProbeStep::map_ids) == 0) {
    errors.set(ProbeStep::map_mount_ids, map_mount_ids());
  }
  return errors;
}

}  // namespace wardcase::sandbox

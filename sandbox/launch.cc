// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/launch.h"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "sandbox/bind_sources.h"
#include "sandbox/box_layout.h"
#include "sandbox/capabilities.h"
#include "sandbox/cgroup.h"
#include "sandbox/child.h"
#include "sandbox/landlock.h"
#include "sandbox/private_box.h"
#include "sandbox/seccomp_filter.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "sandbox/user_namespace.h"

// The parent's half of a launch:
//
//   plan --> channels and binds --> clone3 --> id maps --> "go"
//                                     |
//                                     +--> the child's table of steps (child.cc)
//
// Everything is worked out before clone3, so that the child only makes system calls.
namespace wardcase::sandbox {
namespace {

constexpr std::string_view kRootSize = "1048576";  // small files and mount points only
constexpr std::string_view kRootInodes = "2048";

struct Channels {
  sys::UniqueFd setup_child;
  sys::UniqueFd life_child;
  sys::UniqueFd stdin_read;
  sys::UniqueFd stdout_write;
  sys::UniqueFd stderr_write;
};

sys::Status make_socket_pair(sys::UniqueFd& ours, sys::UniqueFd& childs) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    return tl::unexpected(sys::errno_error("make a socket pair"));
  }
  ours.reset(ends[0]);
  childs.reset(ends[1]);
  return {};
}

// Our end does not block.
sys::Status make_pipe(sys::UniqueFd& read, sys::UniqueFd& write, const sys::UniqueFd& ours) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  read.reset(ends[0]);
  write.reset(ends[1]);
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) < 0) {
    return tl::unexpected(sys::errno_error("make a pipe non-blocking"));
  }
  return {};
}

sys::Status make_channels(const LaunchRequest& request, Box& box, Channels& channels) {
  auto made = make_socket_pair(box.setup, channels.setup_child);
  if (made) made = make_socket_pair(box.life, channels.life_child);
  if (request.terminal) return made;  // the child makes it
  if (made) made = make_pipe(box.stdout_read, channels.stdout_write, box.stdout_read);
  if (made && !request.merge_stderr) {
    made = make_pipe(box.stderr_read, channels.stderr_write, box.stderr_read);
  }
  if (made && request.with_stdin) {
    made = make_pipe(channels.stdin_read, box.stdin_write, box.stdin_write);
  }
  return made;
}

// The program's ends belong to the box's user: else opening /dev/stderr inside would be refused.
sys::Status give_pipes(const Channels& channels, const BoxIds& ids) {
  if (!ids.is_leased) return {};
  for (const auto* end : {&channels.stdin_read, &channels.stdout_write, &channels.stderr_write}) {
    if (end->is_open() && ::fchown(end->get(), ids.host_uid, ids.host_gid) < 0) {
      return tl::unexpected(sys::errno_error("give a pipe to the box's user"));
    }
  }
  return {};
}

Slice put_pointers(PlanBuilder& plan, const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> offsets;
  offsets.reserve(texts.size() + 1);
  for (const std::string& text : texts) offsets.push_back(plan.text(text));
  offsets.push_back(0);
  return plan.list(offsets);
}

Slice put_offsets(PlanBuilder& plan, std::initializer_list<std::string_view> names) {
  std::vector<Offset> offsets;
  for (const std::string_view name : names) offsets.push_back(plan.text(name));
  return plan.list(offsets);
}

void put_program(PlanBuilder& plan, const LaunchRequest& request) {
  LaunchPlan& header = plan.header;
  header.argv = put_pointers(plan, request.argv);
  header.environment = put_pointers(plan, request.environment);
  std::vector<Offset> paths;
  for (const std::string& path : request.exec_paths) paths.push_back(plan.text(path));
  header.exec_paths = plan.list(paths);
  header.directory = plan.text(request.directory);
  header.hostname = plan.text("box");
  header.own_terminal = request.terminal.has_value();
  header.terminal_size = request.terminal.value_or(winsize{});
  std::vector<PlanRlimit> rlimits;
  for (const RlimitRequest& limit : request.rlimits) {
    rlimits.push_back({static_cast<std::uint32_t>(limit.resource), 0, limit.soft, limit.hard});
  }
  header.rlimits = plan.list(rlimits);
  header.pin_cpus = request.pin_cpus;
  for (const unsigned cpu : request.cpus) CPU_SET(cpu, &header.cpus);
  header.capability_count = capability_count();
  header.filter = plan.list(request.filter);
  header.init_filter =
      plan.list(init_filter(request.has_namespaces() ? EndOfTree::by_kernel : EndOfTree::by_init));
  header.backstop_ms = static_cast<std::uint64_t>(request.backstop.count());
}

void put_file_system(PlanBuilder& plan, const LaunchRequest& request, const BoxLayout& layout) {
  LaunchPlan& header = plan.header;
  header.inside_uid = request.ids.inside_uid;
  header.inside_gid = request.ids.inside_gid;
  header.keep_groups = !request.ids.is_leased;
  header.own_network = request.network == policies::Network::none;
  header.root_size = plan.text(kRootSize);
  header.root_inodes = plan.text(kRootInodes);
  header.scratch_size = plan.text(std::to_string(request.scratch_bytes));
  header.scratch_inodes = plan.text(std::to_string(request.scratch_inodes));
  layout.put_into(plan);
  header.proc_read_only =
      put_offsets(plan, {"sys", "fs", "sysrq-trigger", "irq", "bus", "pressure"});
  header.proc_masks =
      put_offsets(plan, {"kcore", "keys", "timer_list", "sched_debug", "acpi", "scsi"});
  put_landlock_into(plan, request, layout.binds(), layout.has_program_directory());
}

sys::Status put_descriptors(PlanBuilder& plan, FdTable& fds, const LaunchRequest& request,
                            const Box& box, const Channels& channels) {
  LaunchPlan& header = plan.header;
  header.setup = fds.borrow(channels.setup_child.get());
  header.life = fds.borrow(channels.life_child.get());
  header.parent_setup = fds.borrow(box.setup.get());
  header.parent_life = fds.borrow(box.life.get());
  if (request.with_stdin) header.stdio[0] = fds.borrow(channels.stdin_read.get());
  header.stdio[1] = fds.borrow(channels.stdout_write.get());
  header.stdio[2] =
      request.merge_stderr ? header.stdio[1] : fds.borrow(channels.stderr_write.get());
  if (request.program_channel >= 0) header.program_channel = fds.borrow(request.program_channel);
  std::vector<PlanFile> files;
  for (const FileRequest& file : request.files) {
    auto path = BoxLayout::scratch_path(file.path);
    if (!path) return tl::unexpected(path.error());
    files.push_back({plan.text(*path), fds.borrow(file.content), file.mode});
  }
  header.files = plan.list(files);
  // The first is kept free for the v2 leaf, should it have to be joined like the v1 ones.
  std::vector<FdIndex> tasks = {fds.borrow(-1)};
  if (request.cgroup != nullptr) {
    for (const int fd : request.cgroup->tasks_fds()) tasks.push_back(fds.borrow(fd));
  }
  header.tasks = plan.list(tasks);
  return {};
}

// The supervisor's argv and environment, as they lie at the top of the stack:
// argv, environment and the file name of the binary one after another (execve(2)).
MemoryRange own_arguments() {
  char* begin = ::program_invocation_name;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the auxiliary vector holds integers only
  auto* name = reinterpret_cast<char*>(::getauxval(AT_EXECFN));
  if (begin == nullptr || name == nullptr || name < begin) return {};
  return {begin, static_cast<std::size_t>(name - begin) + std::strlen(name)};
}

bool is_cgroup_refusal(int error) {
  return error == ENOSYS || error == EOPNOTSUPP || error == EBUSY || error == EACCES;
}

std::uint64_t namespaces_of(const LaunchRequest& request) {
  if (!request.has_namespaces()) return 0;
  const std::uint64_t network = request.network == policies::Network::none ? CLONE_NEWNET : 0;
  return network | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
}

// clone3, with what to do where the kernel or a filter does not have it.
pid_t clone_child(const LaunchRequest& request, FdTable& fds, FdIndex v2_leaf, Box& box,
                  int* pidfd) {
  clone_args args = {};
  args.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | namespaces_of(request);
  args.pidfd = reinterpret_cast<std::uint64_t>(pidfd);
  if (request.ids.pool < 0) {
    args.exit_signal = SIGCHLD;
  } else {
    args.flags |= CLONE_PARENT;  // which brings the caller's exit signal with it
  }
  const int leaf = request.cgroup != nullptr ? request.cgroup->clone_into_fd() : -1;
  if (leaf >= 0) {
    clone_args into = args;
    into.flags |= CLONE_INTO_CGROUP;
    into.cgroup = static_cast<unsigned>(leaf);
    // So that the child already knows: it can't be told afterwards.
    box.joined_cgroup_at_birth = true;
    const pid_t pid = sys::clone3(into);
    if (pid >= 0 || !is_cgroup_refusal(errno)) return pid;
    box.joined_cgroup_at_birth = false;
    sys::UniqueFd procs(
        sys::retry_eintr([&] { return ::openat(leaf, "cgroup.procs", O_WRONLY | O_CLOEXEC); }));
    if (!procs.is_open()) return -1;
    fds.replace(v2_leaf, std::move(procs));
  }
  const pid_t pid = sys::clone3(args);
  if (pid >= 0 || errno != ENOSYS) return pid;
  // Filters of containers and tools that do not know clone3: the older call,
  // with the flags that it can carry.
  const std::uint64_t old_flags = (args.flags & ~CLONE_CLEAR_SIGHAND) | args.exit_signal;
  return static_cast<pid_t>(::syscall(SYS_clone, old_flags, nullptr, pidfd, nullptr, nullptr));
}

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    (void)::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { (void)::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

using Mark = std::function<void(std::string_view)>;

// A Box whose child has its ids and waits to be let go.
sys::Status start_child(const LaunchRequest& request, const Channels& channels, FdTable& fds,
                        Box& box, const Mark& mark) {
  auto& plan = *reinterpret_cast<LaunchPlan*>(box.plan.data());
  const FdIndex v2_leaf = plan_list<FdIndex>(plan, plan.tasks).front();
  const MemoryRange arguments = own_arguments();
  if (auto given = give_pipes(channels, request.ids); !given) return given;
  int pidfd = -1;
  box.init = clone_child(request, fds, v2_leaf, box, &pidfd);
  if (box.init < 0) {
    return tl::unexpected(sys::errno_error(
        request.has_namespaces() ? "clone a process with its own namespaces" : "clone a process"));
  }
  if (box.init == 0) run_child(plan, fds.data(), arguments);
  box.init_pidfd.reset(pidfd);
  mark("clone");
  if (auto mapped = write_id_maps(box.init, request.ids); !mapped) {
    box.release_error = std::move(mapped).error();
  }
  return {};
}

// With a pool from inside it, where alone its ids can be given away.
sys::Status start_where_ids_are(const LaunchRequest& request, const Channels& channels,
                                FdTable& fds, Box& box, const Mark& mark) {
  // A handler must not run in the child, and an interrupted clone must not be
  // restarted for ever by a ticking timer.
  const BlockedSignals blocked;
  if (request.ids.pool < 0) return start_child(request, channels, fds, box, mark);
  sys::Status started;
  auto entered = in_user_namespace(
      request.ids.pool, [&] { started = start_child(request, channels, fds, box, mark); });
  return entered ? started : entered;
}

// The memory of the kernel's own that a program holds is in no process' size: when the host
// has none left, its killer would take others first. All of the box has this score, and
// init, whose death ends the box, can't be given another from inside.
sys::Status offer_to_oom_killer(pid_t init) {
  const std::string path = "/proc/" + std::to_string(init) + "/oom_score_adj";
  return sys::write_file(AT_FDCWD, path.c_str(), "1000");
}

sys::Status release(Box& box, const BoxIds& ids) {
  // Without a pid namespace init must outlive the others: the program sees to itself.
  if (!ids.is_unmapped) {
    if (auto offered = offer_to_oom_killer(box.init); !offered) return offered;
  }
  const auto sent =
      sys::retry_eintr([&]() noexcept { return ::send(box.setup.get(), "g", 1, MSG_NOSIGNAL); });
  if (sent != 1) {
    return tl::unexpected(sys::errno_error("release the child"));
  }
  return {};
}

}  // namespace

sys::Result<Box> launch(const LaunchRequest& request, std::vector<LaunchMark>* marks) {
  const Mark mark = [&](std::string_view name) {
    marks->push_back({name, std::chrono::steady_clock::now()});
  };
  Box box;
  Channels channels;
  if (auto made = make_channels(request, box, channels); !made) return tl::unexpected(made.error());
  mark("channels");
  auto layout = BoxLayout::make(request);
  if (!layout) return tl::unexpected(layout.error());
  PlanBuilder plan;
  plan.header.hold_at_exec = request.hold_at_exec;
  plan.header.execute_scratch = request.execute_writable;
  plan.header.fault_step = request.fault_step;
  plan.header.fault_error = request.fault_error;
  put_program(plan, request);
  FdTable fds;
  auto put = put_descriptors(plan, fds, request, box, channels);
  if (request.has_namespaces()) {
    put_file_system(plan, request, *layout);
    mark("plan");
    if (put) {
      put = put_binds_into(plan, fds, layout->binds(), request.ids, request.execute_writable);
    }
  } else {
    box.ends_by_itself = true;
    if (request.ids.is_leased) box.only_user = request.ids.host_uid;
    if (put) put = put_private_box_into(plan, fds, request, layout->binds());
    mark("plan");
  }
  if (!put) return tl::unexpected(put.error());
  box.plan = plan.finish();
  mark("binds");
  if (auto started = start_where_ids_are(request, channels, fds, box, mark); !started) {
    return tl::unexpected(started.error());
  }
  if (!box.release_error) {
    auto released = release(box, request.ids);
    if (!released) box.release_error = std::move(released).error();
  }
  if (box.release_error) (void)::shutdown(box.setup.get(), SHUT_WR);  // await_go ends
  mark("id_maps");
  return box;
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/sys/kernel.h"
#include "supervisor/run/run_state.h"

// Directories of the host that the program may write to have the budget of the
// disk limit, all together, besides that of the box's own file system.
namespace wardcase::supervisor {
namespace {

using policies::LimitId;
using sandbox::Enforcement;

std::vector<std::string> writable_sources(const RunSpec& spec, const Preparation& made) {
  std::vector<std::string> sources;
  if (made.directory) sources.push_back(made.directory->path());
  for (const policies::Mount& mount : spec.mounts) {
    if (mount.mode == policies::MountMode::read_write) sources.push_back(mount.source);
  }
  return sources;
}

constexpr const char* kWorkName = "box";  // of sandbox::kPrivatePlaces

// Looking at them takes a while, in which a path can come to mean another directory: one
// that nobody has looked at, or watches.
sys::Status bind_only_what_is_watched(const std::vector<WorkspaceRoot>& roots,
                                      std::vector<sandbox::BindRequest>& binds) {
  for (sandbox::BindRequest& bind : binds) {
    const auto root = std::ranges::find(roots, bind.source, &WorkspaceRoot::path);
    if (root == roots.end() || bind.mode != policies::MountMode::read_write) continue;
    const sandbox::FileIdentity watched = {root->device, root->inode};
    if (bind.looked_at && bind.looked_at != watched) {
      return tl::unexpected(sys::plain_error("bind '" + bind.source +
                                             "': somebody put another in its place while it was "
                                             "looked at"));
    }
    bind.looked_at = watched;
  }
  return {};
}

}  // namespace

// What is there does not count against the program, and so is counted before it starts.
void Run::Impl::measure_workspaces(const std::function<void()>& next) {
  const std::vector<std::string> sources = writable_sources(spec, made);
  if (sources.empty()) return next();
  WorkspaceQuota::Rules rules;
  rules.most = {limit(LimitId::disk), limit(LimitId::disk_inodes)};
  rules.countable_files = host.countable_files();
  rules.open_files = limit(LimitId::open_files);
  const sandbox::BoxIds& ids = made.request.ids;
  if (!ids.is_leased || ids.is_unmapped) rules.owner = ids.host_uid;
  auto opened = WorkspaceQuota::open(loop, sources, rules);
  if (!opened) return fail_before_launch(RunStatus::setup_failed, opened.error().message());
  quota = *std::move(opened);
  if (auto bound = bind_only_what_is_watched(quota->roots(), made.request.binds); !bound) {
    return fail_before_launch(RunStatus::setup_failed, bound.error().message());
  }
  quota->measure_first([this, next](const WorkspaceQuota::FirstLook& found) {
    if (!found.refused.empty()) return fail_before_launch(RunStatus::setup_failed, found.refused);
    marks.push_back({"counted_workspaces", Clock::now()});
    if (found.uncountable.empty()) return next();
    if (made.limits.is_required(LimitId::disk)) {
      return fail_before_launch(RunStatus::setup_failed,
                                "--disk: " + found.uncountable + "; mount a smaller directory");
    }
    record.isolation.degraded.push_back({"workspace_quota", found.uncountable,
                                         "single files are limited, their sum is not",
                                         "mount a smaller directory"});
    for (const LimitId id : {LimitId::disk, LimitId::disk_inodes}) {
      record.enforced_by[static_cast<std::size_t>(id)] = Enforcement::none;
    }
    quota.reset();
    next();
  });
}

// It has to be what the box gets: the path may come to mean another directory.
void Run::Impl::open_workspace() {
  const policies::Mount* const workspace = find_workspace(spec);
  if (workspace == nullptr) return;
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  work_place.reset(sys::openat2(AT_FDCWD, workspace->source.c_str(), how));
  struct stat info = {};
  if (!work_place.is_open() || ::fstat(work_place.get(), &info) < 0) return work_place.reset();
  for (sandbox::BindRequest& bind : made.request.binds) {
    if (bind.target != workspace->target) continue;
    const sandbox::FileIdentity opened = {info.st_dev, info.st_ino};
    if (!bind.looked_at) bind.looked_at = opened;
    if (bind.looked_at != opened) return work_place.reset();  // the launch will fail by it
  }
}

// What the program has as /box; -1: there is nothing yet, or nothing that we may read.
int Run::Impl::work_directory() {
  if (find_workspace(spec) != nullptr) return work_place.get();
  if (made.directory && !work_place.is_open()) {
    open_how how = {};
    how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    work_place.reset(sys::openat2(made.directory->fd(), kWorkName, how));
  }
  return made.directory ? work_place.get() : box_directory.get();
}

// No grace: each moment of it would be spent on filling the host's disk.
void Run::Impl::watch_workspaces() {
  if (quota == nullptr) return;
  quota->watch(box.init, [this] {
    if (phase != Phase::running && phase != Phase::terminating) return;
    note_limit(LimitId::disk);
    set_cause(RunStatus::disk_limit, describe_disk_limit());
    kill_tree();
  });
}

// A program that passed the limit and ended before we looked again did so by its
// own fault: the limit came first.
void Run::Impl::measure_workspaces_last() {
  quota->measure_last([this] {
    if (quota->is_over()) {
      note_limit(LimitId::disk);
      if (record.status == RunStatus::exited || record.status == RunStatus::signaled) {
        record.status = RunStatus::disk_limit;
        record.error = describe_disk_limit();
      }
    }
    finish();
  });
}

std::string Run::Impl::describe_disk_limit() const {
  return "files in writable mounts passed their limit of " +
         policies::format_size(limit(LimitId::disk)) + " or " +
         std::to_string(limit(LimitId::disk_inodes)) + " files";
}

}  // namespace wardcase::supervisor

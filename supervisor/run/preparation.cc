// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/preparation.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "policies/syscall_policy.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp_filter.h"
#include "supervisor/run/without_namespaces.h"

namespace wardcase::supervisor {
namespace {

using policies::LimitId;
using policies::MountMode;
using policies::Network;
using sandbox::Enforcement;

constexpr std::string_view kCpuCgroup = "cpu_cgroup";
constexpr std::uint64_t kMilli = 1000;
constexpr std::uint64_t kUnlimited = ~0ULL;
constexpr std::uint64_t kStackBytes = 8ULL << 20;
constexpr std::uint64_t kPendingSignals = 1024;  // and timers: counted for the caller's uid, too
constexpr std::uint64_t kFastGrowth = 1ULL << 30;
constexpr std::chrono::seconds kBackstopSlack{60};

Enforcement& enforcement(Preparation& made, LimitId id) {
  return made.enforced_by[static_cast<std::size_t>(id)];
}

std::uint64_t value(const Preparation& made, LimitId id) { return made.limits.get(id).value_or(0); }

bool is_demanded(const RunSpec& spec, std::string_view feature) {
  return std::find(spec.require.begin(), spec.require.end(), feature) != spec.require.end();
}

// Limits first of all: everything else reads them.
sys::Status settle_limits(const RunSpec& spec, Host& host, Preparation& made) {
  made.limits = spec.limits;
  auto resolved =
      made.limits.resolve(static_cast<unsigned>(host.cpus().size()), spec.capture == Capture::keep);
  if (!resolved) return resolved;
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 &&
      files.rlim_max < value(made, LimitId::open_files)) {
    made.limits.set_default(LimitId::open_files, files.rlim_max);
  }
  return {};
}

void share_ids(const RunSpec& spec, Host& host, Preparation& made) {
  made.request.ids.host_uid = ::geteuid();
  made.request.ids.host_gid = ::getegid();
  const std::string reason = spec.keeps_id
                                 ? "what was installed lies in a directory that is yours alone"
                                 : host.no_pool_because();
  made.isolation.degraded.push_back(
      {"shared_host_uid",
       reason.empty() ? "not root: the box's processes have your own id on the host" : reason,
       "the caller's id",
       "run as root, or have root give you ids: wardcase-server make-ids " +
           std::to_string(::geteuid())});
  if (const int groups = ::getgroups(0, nullptr); groups > 0) {
    made.isolation.degraded.push_back({"supplementary_groups",
                                       "an ordinary user may not drop them in a user namespace",
                                       "the caller's groups stay", "run as root"});
  }
}

sys::Status settle_ids(const RunSpec& spec, Host& host, Preparation& made) {
  const sandbox::IdPool* const pool = host.can_choose_ids() || spec.keeps_id
                                          ? nullptr
                                          : host.id_pool(is_demanded(spec, "own_host_uid"));
  if (!host.can_choose_ids() && pool == nullptr) {
    share_ids(spec, host, made);
    return {};
  }
  auto lease = host.lease_id();
  if (!lease) return tl::unexpected(std::move(lease).error());
  sandbox::BoxIds& ids = made.request.ids;
  ids.host_uid = ids.host_gid = lease->id();
  ids.is_leased = true;
  if (pool != nullptr) ids.pool = pool->user_namespace();
  made.lease.emplace(*std::move(lease));
  return {};
}

bool is_writable(const policies::Mount& mount) { return mount.mode == MountMode::read_write; }

// The tmpfs, the rlimits and our own timers need no control group. A directory of
// the host has no size of its own: there we look.
void settle_own_enforcement(const RunSpec& spec, Preparation& made) {
  for (const LimitId id : {LimitId::timeout, LimitId::cpu_time, LimitId::idle_timeout,
                           LimitId::grace, LimitId::capture, LimitId::output}) {
    enforcement(made, id) = Enforcement::watcher;
  }
  for (const LimitId id :
       {LimitId::disk, LimitId::disk_inodes, LimitId::file_size, LimitId::open_files}) {
    enforcement(made, id) = Enforcement::rlimit;
  }
  if (!has_namespaces(spec) || std::ranges::any_of(spec.mounts, is_writable)) {
    enforcement(made, LimitId::disk) = Enforcement::watcher;
    enforcement(made, LimitId::disk_inodes) = Enforcement::watcher;
  }
}

// Of the reasons that sandbox::CgroupHost::create lists ("memory: ...; pids: ..."),
// the one for this controller.
std::string reason_for(std::string_view controller, std::string_view why) {
  if (why.empty()) return "no control group may be made here";
  std::size_t begin = why.find(std::string(controller) + ": ");
  if (begin == std::string_view::npos) begin = 0;
  return std::string(why.substr(begin, why.find("; ", begin) - begin));
}

void settle_fallbacks(const RunSpec& spec, Host& host, const std::string& why, Preparation& made) {
  const std::string fix = host.cgroup_fix();
  if (enforcement(made, LimitId::memory) == Enforcement::none) {
    enforcement(made, LimitId::memory) = Enforcement::watcher;
    made.isolation.degraded.push_back(
        {"memory_cgroup", reason_for("memory", why),
         "a watcher, RLIMIT_DATA, no memfd_create, no System V objects, no shared mapping of "
         "no file or of /dev/zero",
         fix});
    if (spec.oom == policies::OomAnswer::go_on) {
      made.isolation.degraded.push_back({"oom_continue", "a watcher can't choose what to end",
                                         "the run ends when its memory is spent", fix});
    }
  }
  if (made.cgroup == nullptr) {
    made.isolation.degraded.push_back(
        {"cpu_accounting", reason_for("cpuacct", why),
         "processor time is added up from living processes and those that were waited for", fix});
  }
  if (enforcement(made, LimitId::pids) == Enforcement::none) {
    enforcement(made, LimitId::pids) = Enforcement::rlimit;
    made.isolation.degraded.push_back(
        {"pids_cgroup", reason_for("pids", why),
         "RLIMIT_NPROC in the box's user namespace; limits_hit tells it where all were seen in use",
         fix});
  }
  if (enforcement(made, LimitId::cpus) != Enforcement::none) return;
  const std::uint64_t millicpus = value(made, LimitId::cpus);
  // Whole processors can be held by an affinity that the filter pins; parts of one can't.
  const bool is_held = millicpus % kMilli == 0 || millicpus >= host.cpus().size() * kMilli;
  if (is_held) enforcement(made, LimitId::cpus) = Enforcement::rlimit;
  if (!is_held || is_demanded(spec, kCpuCgroup)) {
    made.isolation.degraded.push_back(
        {std::string(kCpuCgroup), reason_for("cpu", why),
         is_held ? "processor affinity" : "processor affinity, rounded up", fix});
  }
}

sys::Status settle_cgroup(const RunSpec& spec, Host& host, Preparation& made) {
  sandbox::CgroupLimits limits;
  limits.memory_bytes = made.limits.get(LimitId::memory);
  limits.pids = made.limits.get(LimitId::pids);
  // A quota of all that there is would hold nobody back.
  if (value(made, LimitId::cpus) < host.cpus().size() * kMilli || is_demanded(spec, kCpuCgroup)) {
    limits.millicpus = made.limits.get(LimitId::cpus);
  }
  limits.oom_kills_all = spec.oom == policies::OomAnswer::end_run;
  std::string why;
  auto cgroup = host.make_cgroup(limits, &why);
  if (!cgroup) return tl::unexpected(std::move(cgroup).error().while_doing("make a control group"));
  made.cgroup = *std::move(cgroup);
  if (made.cgroup != nullptr) {
    enforcement(made, LimitId::memory) = made.cgroup->memory();
    enforcement(made, LimitId::pids) = made.cgroup->pids();
    enforcement(made, LimitId::cpus) = made.cgroup->cpus();
    made.goes_on_after_oom = !limits.oom_kills_all && made.cgroup->memory() != Enforcement::none;
  }
  made.request.cgroup = made.cgroup.get();
  settle_fallbacks(spec, host, why, made);
  for (const policies::LimitRow& row : policies::limit_table()) {
    if (made.limits.is_required(row.id) && enforcement(made, row.id) == Enforcement::none) {
      return tl::unexpected(
          sys::plain_error("--" + std::string(row.flag) +
                           ": nothing on this host can enforce it: " + reason_for("cpu", why)));
    }
  }
  return {};
}

void settle_rlimits(Preparation& made) {
  std::vector<sandbox::RlimitRequest>& rlimits = made.request.rlimits;
  const auto both = [&](int resource, std::uint64_t limit) {
    rlimits.push_back({resource, limit, limit});
  };
  // With 0 the host's handler of core files still runs, as root; 1 stands for none (core(5)).
  both(RLIMIT_CORE, 1);
  both(RLIMIT_MEMLOCK, 0);
  both(RLIMIT_MSGQUEUE, 0);
  both(RLIMIT_SIGPENDING, kPendingSignals);
  both(RLIMIT_NICE, 0);
  both(RLIMIT_RTPRIO, 0);
  both(RLIMIT_NOFILE, value(made, LimitId::open_files));
  both(RLIMIT_FSIZE, value(made, LimitId::file_size));
  rlimits.push_back({RLIMIT_STACK, kStackBytes, kUnlimited});
  if (const auto cpu = made.limits.get(LimitId::cpu_time); cpu) {
    both(RLIMIT_CPU, *cpu / kMilli + 2);  // for each process: behind our own timer
  }
  // No RLIMIT_AS: V8, Go and the JVM reserve tens of gigabytes that they never touch.
  if (enforcement(made, LimitId::memory) == Enforcement::watcher) {
    // Loose, so that the watcher tells the cause; it catches what grows faster than we look.
    const std::uint64_t memory = value(made, LimitId::memory);
    both(RLIMIT_DATA, std::max(2 * memory, memory + kFastGrowth));
  }
  if (enforcement(made, LimitId::pids) == Enforcement::rlimit) {
    both(RLIMIT_NPROC, value(made, LimitId::pids) + 1);  // init counts
  }
}

// What belongs to root a program of the caller's can't change anyway, as most of /etc.
bool is_of_root(const policies::Mount& mount) {
  struct stat info = {};
  return ::stat(mount.source.c_str(), &info) == 0 && info.st_uid == 0;
}

sys::Status settle_filter(const RunSpec& spec, Host& host, Preparation& made) {
  policies::SyscallOptions options;
  options.refuse_setid_modes =
      !has_namespaces(spec) || std::ranges::any_of(spec.mounts, is_writable);
  options.own_namespaces = has_namespaces(spec);
  options.own_network = spec.network == Network::none;
  options.own_user = made.request.ids.is_leased;
  options.truncate_is_held = host.landlock_abi() >= sandbox::kLandlockTruncateAbi;
  options.keeps_attributes = !std::ranges::all_of(spec.mounts, is_writable) ||
                             !std::ranges::all_of(spec.system_mounts, is_of_root);
  made.request.cpus = host.choose_cpus(value(made, LimitId::cpus));
  made.request.pin_cpus = made.request.cpus.size() < host.cpus().size();
  options.pin_affinity =
      enforcement(made, LimitId::cpus) == Enforcement::rlimit && made.request.pin_cpus;
  options.refuse_uncounted_memory = enforcement(made, LimitId::memory) == Enforcement::watcher;
  made.syscalls = policies::change(policies::default_syscall_policy(options), spec.syscalls);
  auto filter = sandbox::compile_filter(made.syscalls);
  if (!filter) return tl::unexpected(filter.error());
  made.request.filter = *std::move(filter);
  return {};
}

void settle_program(const RunSpec& spec, Preparation& made) {
  sandbox::LaunchRequest& request = made.request;
  request.argv = spec.argv;
  request.environment = spec.environment;
  request.directory = spec.cwd;
  std::vector<std::string> names = spec.program_names;
  if (names.empty()) names = {spec.argv.front()};
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      request.exec_paths.push_back(name);
      continue;
    }
    for (const std::string& directory : path_directories(spec.environment)) {
      request.exec_paths.emplace_back(directory).append("/").append(name);
    }
  }
  request.binds = binds_of(spec);
  for (const PlacedFile& file : spec.files) {
    request.files.push_back({file.path, file.content.get(), file.mode});
  }
  request.scratch_bytes = value(made, LimitId::disk);
  request.scratch_inodes = value(made, LimitId::disk_inodes);
  request.network = spec.network;
  request.execute_writable = spec.execute_writable;
  request.unmappable_zero = enforcement(made, LimitId::memory) == Enforcement::watcher;
  request.program_channel = spec.channel.get();
  request.with_stdin = spec.stdin_source.is_open();
  request.merge_stderr = spec.merge_stderr;
  request.terminal = spec.terminal;
  request.backstop = made.limits.timeout() + made.limits.grace() + kBackstopSlack;
  request.hold_at_exec = spec.rehearsal;
  request.fault_step = spec.fault_step;
  request.fault_error = spec.fault_error;
}

// Features by the name under which they are asked for, and under which their
// absence is told.
struct Feature {
  std::string_view requested;
  std::string_view degraded;
  // Asked for only where the policy requires it: affinity mostly holds as well.
  bool on_demand = false;
};
constexpr std::array kFeatures = {
    Feature{"user_namespace", "user_namespace"},
    Feature{"mount_namespace", "mount_namespace"},
    Feature{"pid_namespace", "pid_namespace"},
    Feature{"ipc_namespace", "ipc_namespace"},
    Feature{"uts_namespace", "uts_namespace"},
    Feature{"cgroup_namespace", "cgroup_namespace"},
    Feature{"seccomp", ""},
    Feature{"no_new_privs", ""},
    Feature{"capabilities", ""},
    Feature{"landlock", "landlock"},
    Feature{"memory_cgroup", "memory_cgroup"},
    Feature{"pids_cgroup", "pids_cgroup"},
    Feature{kCpuCgroup, kCpuCgroup, /*on_demand=*/true},
    Feature{"own_host_uid", "shared_host_uid"},
    Feature{"no_supplementary_groups", "supplementary_groups"},
};

// What a finished launch has in force, every step of it being required.
void list_isolation(const RunSpec& spec, Host& host, Preparation& made) {
  Isolation& isolation = made.isolation;
  if (host.landlock_abi() >= sandbox::kLowestLandlockAbi) {
    made.request.landlock_abi = host.landlock_abi();
  } else {
    isolation.degraded.push_back({"landlock", "the kernel has no Landlock of ABI 2 or later",
                                  "the mounts alone", "a kernel from 5.19 with Landlock enabled"});
  }
  if (!has_namespaces(spec)) list_missing_namespaces(spec, made);
  const std::string network = spec.network == Network::none ? "network_namespace" : "network=host";
  isolation.requested = {network};
  if (has_namespaces(spec) || spec.network == Network::host) isolation.effective = {network};
  for (const std::string& call : spec.syscalls.opened) {
    isolation.requested.push_back("allow_syscalls=" + call);
    isolation.effective.push_back("allow_syscalls=" + call);
  }
  for (const Feature& feature : kFeatures) {
    if (feature.on_demand && !is_demanded(spec, feature.requested)) continue;
    isolation.requested.emplace_back(feature.requested);
    const bool is_degraded = std::any_of(
        isolation.degraded.begin(), isolation.degraded.end(), [&](const Degraded& entry) {
          return !feature.degraded.empty() && entry.feature == feature.degraded;
        });
    if (!is_degraded) isolation.effective.emplace_back(feature.requested);
  }
}

// What the policy demands is there, or nothing runs.
sys::Status check_demands(const RunSpec& spec, const Preparation& made) {
  const Isolation& isolation = made.isolation;
  std::string missing;
  for (const std::string& name : spec.require) {
    if (std::find(isolation.effective.begin(), isolation.effective.end(), name) !=
        isolation.effective.end()) {
      continue;
    }
    missing += (missing.empty() ? "" : "; ") + name + ": ";
    const auto* const feature =
        std::find_if(kFeatures.begin(), kFeatures.end(),
                     [&](const Feature& candidate) { return candidate.requested == name; });
    const auto why = std::find_if(
        isolation.degraded.begin(), isolation.degraded.end(), [&](const Degraded& entry) {
          return feature != kFeatures.end() && entry.feature == feature->degraded;
        });
    missing += why == isolation.degraded.end() ? "this run does without it"
                                               : why->because + "; fix: " + why->fix;
  }
  if (missing.empty()) return {};
  return tl::unexpected(sys::plain_error("policy '" + spec.policy +
                                         "' requires what this run can't have: " + missing));
}

}  // namespace

sys::Status prepare(const RunSpec& spec, Host& host, Preparation& made) {
  auto settled = host.check() ? settle_limits(spec, host, made) : host.check();
  settle_own_enforcement(spec, made);
  const bool is_bare = !has_namespaces(spec);
  if (settled && is_bare) settled = check_without_namespaces(spec, host);
  if (settled) settled = is_bare ? settle_host_ids(host, made) : settle_ids(spec, host, made);
  if (settled) settled = settle_cgroup(spec, host, made);
  if (settled) settled = settle_filter(spec, host, made);
  if (!settled) return settled;
  settle_rlimits(made);
  settle_program(spec, made);
  if (is_bare) {
    settle_process_limit(made);
    settled = settle_host_paths(spec, host, made);
    if (!settled) return settled;
  }
  list_isolation(spec, host, made);
  return check_demands(spec, made);
}

}  // namespace wardcase::supervisor

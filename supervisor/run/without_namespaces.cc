// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/without_namespaces.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/process_tree.h"
#include "sandbox/sys/paths.h"

namespace wardcase::supervisor {
namespace {

using policies::Network;

// A path of the box, and what it is on the host.
using Places = std::vector<std::pair<std::string, std::string>>;

Places places_of(const RunSpec& spec, const std::string& directory) {
  Places places;
  const policies::Mount* const workspace = find_workspace(spec);
  for (const sandbox::PrivatePlace& place : sandbox::kPrivatePlaces) {
    const bool is_workspace = workspace != nullptr && place.target == sandbox::kWorkDirectory;
    places.emplace_back(
        place.target, is_workspace ? workspace->source : directory + "/" + std::string(place.name));
  }
  return places;
}

bool is_mounted(const RunSpec& spec, std::string_view path) {
  return std::ranges::any_of(spec.mounts, [&](const policies::Mount& mount) {
    return mount.target != sandbox::kWorkDirectory && sys::is_at_or_below(path, mount.target);
  });
}

// Paths that the box does not have are left as they are.
void translate(const RunSpec& spec, const Places& places, std::string& path) {
  if (is_mounted(spec, path)) return;
  for (const auto& [inside, outside] : places) {
    if (!sys::is_at_or_below(path, inside)) continue;
    path = outside + path.substr(inside.size());
    return;
  }
}

// An argument may be anything that begins so, a line for a shell too: only the box's own names,
// which mean nothing on the host, are taken for paths.
void translate_argument(const RunSpec& spec, const Places& places, std::string& argument) {
  const bool is_ours = sys::is_at_or_below(argument, sandbox::kWorkDirectory) ||
                       sys::is_at_or_below(argument, sandbox::kProgramDirectory);
  if (is_ours) translate(spec, places, argument);
}

// A value may be a list of paths, as PATH's.
void translate_value(const RunSpec& spec, const Places& places, std::string& variable) {
  std::size_t begin = variable.find('=') + 1;
  std::string translated = variable.substr(0, begin);
  while (true) {
    const std::size_t end = std::min(variable.find(':', begin), variable.size());
    std::string path = variable.substr(begin, end - begin);
    translate(spec, places, path);
    translated += path;
    if (end == variable.size()) break;
    translated += ':';
    begin = end + 1;
  }
  variable = std::move(translated);
}

// What a missing namespace leaves open, and what holds it instead.
struct Missing {
  std::string_view feature;
  std::string_view instead;
};
constexpr Missing kMissing[] = {
    {"user_namespace", "no privilege is there to be had: no_new_privs"},
    {"mount_namespace",
     "Landlock: only system files, mounts and a private directory are opened; names and "
     "attributes of all files can be seen"},
    {"pid_namespace",
     "the host's processes can be seen; Landlock and the filter keep the program from them, and "
     "init ends what it leaves"},
    {"ipc_namespace", "the filter refuses System V objects and message queues"},
    {"uts_namespace", "the host's name can be seen; the filter refuses to change it"},
    {"cgroup_namespace", "the control group's name on the host can be seen"},
};
constexpr std::string_view kNoNamespaces = "the policy has none (confinement = \"landlock\")";
constexpr std::string_view kOtherPolicy = "a policy with namespaces, as 'default'";

void degrade(Preparation& made, std::string_view feature, std::string_view because,
             std::string_view instead, std::string_view fix) {
  made.isolation.degraded.push_back(
      {std::string(feature), std::string(because), std::string(instead), std::string(fix)});
}

void list_older_landlock(const RunSpec& spec, Preparation& made) {
  const int abi = made.request.landlock_abi;
  const std::string because = "this kernel's Landlock has ABI " + std::to_string(abi);
  if (abi < sandbox::kLandlockScopeAbi) {
    degrade(made, "signal_scope", because,
            made.request.ids.is_leased
                ? "the program can stop or end init; the supervisor ends all who have the box's "
                  "id, or, if it is killed, the next one does"
                : "the program can send signals to all of your processes, and end the one that "
                  "cleans up after it",
            "a kernel from 6.12");
  }
  if (abi < sandbox::kLandlockNetworkAbi && spec.network == Network::none) {
    degrade(made, "landlock_network", because, "the filter alone refuses sockets",
            "a kernel from 6.7");
  }
}

}  // namespace

sys::Status check_without_namespaces(const RunSpec& spec, const Host& host) {
  const auto refuse = [&](const std::string& why) -> sys::Status {
    return tl::unexpected(sys::plain_error("policy '" + spec.policy + "': " + why));
  };
  if (host.landlock_abi() < sandbox::kLowestLandlockAbi) {
    return refuse(
        "without namespaces nothing holds the program but Landlock, which this kernel "
        "does not have (ABI 2 or later); boot a kernel of 5.19 or later with landlock in "
        "its lsm= list, or let the filter around wardcase pass landlock_create_ruleset");
  }
  if (spec.terminal) {
    return refuse("a terminal of the program's own takes a mount namespace; leave -t out");
  }
  for (const policies::Mount& mount : spec.mounts) {
    if (mount.target == mount.source || mount.target == sandbox::kWorkDirectory) continue;
    return refuse("without a mount namespace '" + mount.source + "' can't be shown at '" +
                  mount.target + "'; write -v " + mount.source + ":" + mount.source);
  }
  return {};
}

sys::Status settle_host_ids(Host& host, Preparation& made) {
  sandbox::BoxIds& ids = made.request.ids;
  ids.is_unmapped = true;
  ids.host_uid = ::geteuid();
  ids.host_gid = ::getegid();
  if (ids.host_uid == 0) {
    auto lease = host.lease_id_to_become();
    if (!lease) return tl::unexpected(std::move(lease).error());
    const auto can = sandbox::can_become(lease->id());
    if (!can) return tl::unexpected(can.error());
    if (!*can) {
      return tl::unexpected(sys::plain_error(
          "run without namespaces: as root the program needs an id of its own, and this root can't "
          "give it " +
          std::to_string(lease->id()) +
          " (CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_CHOWN, CAP_FOWNER, CAP_KILL, "
          "CAP_DAC_OVERRIDE, and a user namespace that has it); run as an ordinary user"));
    }
    ids.host_uid = ids.host_gid = lease->id();
    ids.is_leased = true;
    made.lease.emplace(*std::move(lease));
    return {};
  }
  degrade(
      made, "shared_host_uid", "not root: the program has your own id on the host",
      "Landlock and the filter keep it from your files and processes; by path no mode, owner or "
      "time of a file can be changed",
      "run as root");
  if (::getgroups(0, nullptr) > 0) {
    degrade(made, "supplementary_groups", "an ordinary user may not drop them",
            "the caller's groups stay", "run as root");
  }
  return {};
}

sys::Status settle_host_paths(const RunSpec& spec, Host& host, Preparation& made) {
  std::string unswept;
  auto directory = host.make_private_directory(made.request.ids, &unswept);
  if (!directory) {
    return tl::unexpected(std::move(directory).error().while_doing("make a private directory"));
  }
  if (!unswept.empty()) {
    degrade(made, "sweep", unswept, "a directory that a killed supervisor leaves stays",
            "set XDG_RUNTIME_DIR or HOME to a directory of yours");
  }
  made.directory.emplace(*std::move(directory));
  sandbox::LaunchRequest& request = made.request;
  request.private_directory = made.directory->fd();
  request.private_path = made.directory->path();
  const Places places = places_of(spec, request.private_path);
  for (std::string& path : request.exec_paths) translate(spec, places, path);
  for (std::string& argument : request.argv) translate_argument(spec, places, argument);
  for (std::string& variable : request.environment) translate_value(spec, places, variable);
  translate(spec, places, request.directory);
  return {};
}

void settle_process_limit(Preparation& made) {
  const auto limit =
      std::ranges::find(made.request.rlimits, RLIMIT_NPROC, &sandbox::RlimitRequest::resource);
  const auto told = std::ranges::find(made.isolation.degraded, "pids_cgroup", &Degraded::feature);
  if (limit == made.request.rlimits.end() || told == made.isolation.degraded.end()) return;
  if (made.request.ids.is_leased) {
    told->instead = "RLIMIT_NPROC of the box's own user id";
    return;
  }
  const std::uint64_t others = sandbox::count_tasks_of(::geteuid());
  limit->soft += others;
  limit->hard += others;
  told->instead =
      "RLIMIT_NPROC, which counts your other processes, too: " + std::to_string(others) +
      " were added for them";
}

void list_missing_namespaces(const RunSpec& spec, Preparation& made) {
  for (const Missing& missing : kMissing) {
    degrade(made, missing.feature, kNoNamespaces, missing.instead, kOtherPolicy);
  }
  if (spec.network == Network::none) {
    const auto& lifted = spec.syscalls.lifted;
    const bool has_sockets = std::ranges::find(lifted, "socket") != lifted.end();
    degrade(made, "network_namespace", kNoNamespaces,
            has_sockets ? "Landlock denies TCP; the policy opens all other sockets"
                        : "the filter refuses sockets of all families, but for pairs of connected "
                          "ones; Landlock denies TCP",
            kOtherPolicy);
  }
  if (made.request.ids.is_leased && !spec.mounts.empty()) {
    degrade(made, "mapped_mounts", "without a mount namespace owners can't be mapped",
            "in mounts the program has what everybody has", kOtherPolicy);
  }
  if (!spec.execute_writable) {
    degrade(made, "noexec_mounts", "without a mount namespace none can be made",
            "Landlock refuses to execute what the program wrote, not to map it", kOtherPolicy);
  }
  list_older_landlock(spec, made);
}

}  // namespace wardcase::supervisor

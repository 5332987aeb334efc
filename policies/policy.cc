// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy.h"

#include <algorithm>
#include <utility>

namespace wardcase::policies {
namespace {

constexpr std::string_view kFeatures[] = {
    "user_namespace", "mount_namespace",   "pid_namespace", "ipc_namespace",
    "uts_namespace",  "cgroup_namespace",  "seccomp",       "no_new_privs",
    "capabilities",   "network_namespace", "landlock",      "memory_cgroup",
    "pids_cgroup",    "cpu_cgroup",        "own_host_uid",  "no_supplementary_groups",
};
constexpr std::size_t kStandardFeatures = 9;  // the first ones
constexpr std::size_t kNamespaces = 6;        // of those

// What people install is often larger than what they run.
constexpr std::pair<LimitId, std::uint64_t> kInstallLimits[] = {
    {LimitId::timeout, 300'000},
    {LimitId::memory, 2ULL << 30},
    {LimitId::disk, 4ULL << 30},
    {LimitId::disk_inodes, 262'144},
};

// The names behind "@group", or the one name itself.
sys::Result<std::vector<std::string>> expand(const Setting<std::string>& call,
                                             const SyscallGroups& groups) {
  if (!call.value.starts_with('@')) return std::vector<std::string>{call.value};
  const std::string name = call.value.substr(1);
  const auto built_in = std::ranges::find(built_in_groups(), name, &SyscallGroup::name);
  if (built_in != built_in_groups().end()) {
    return std::vector<std::string>(built_in->calls.begin(), built_in->calls.end());
  }
  if (const auto found = groups.find(name); found != groups.end()) return found->second;
  return tl::unexpected(sys::plain_error(call.origin + ": '" + call.value +
                                         "': no such group of system calls; "
                                         "'wardcase policy show groups' lists them"));
}

void set_maxima(const Policy& policy, Limits& limits) {
  for (const LimitRow& row : limit_table()) {
    const auto& most = policy.maxima[static_cast<std::size_t>(row.id)];
    if (most && !most->is_built_in()) limits.set_maximum(row.id, {most->value, most->origin});
  }
}

}  // namespace

std::string_view network_name(Network network) {
  return network == Network::host ? "host" : "none";
}

std::string_view confinement_name(Confinement confinement) {
  return confinement == Confinement::landlock ? "landlock" : "namespaces";
}

std::string_view oom_answer_name(OomAnswer answer) {
  return answer == OomAnswer::go_on ? "continue" : "end_run";
}

std::string_view installer_name(Installer installer) {
  return installer == Installer::npm ? "npm" : "pip";
}

Policy built_in_policy() {
  Policy policy;
  policy.name = {"default"};
  policy.confinement = {Confinement::namespaces};
  for (const LimitRow& row : limit_table()) {
    const auto at = static_cast<std::size_t>(row.id);
    if (row.standard) policy.limits[at] = policy.install.limits[at] = {row.standard};
    if (row.maximum) policy.maxima[at] = {row.maximum};
  }
  for (const auto& [id, value] : kInstallLimits) {
    policy.install.limits[static_cast<std::size_t>(id)] = {value};
  }
  policy.network = {Network::none};
  policy.allowed_networks = {std::vector<Network>{Network::none, Network::host}};
  policy.oom = {OomAnswer::end_run};
  policy.execute_writable = {true};
  policy.standard_answer = {Answer::allow};
  // Debuggers, profilers of memory, garbage collectors: they reach no further than the box.
  policy.openable_calls = {
      {"@other-processes", "@memory-places", "@hidden-memory", "personality", "userfaultfd"}};
  return policy;
}

std::span<const std::string_view> feature_names() { return kFeatures; }

std::span<const std::string_view> standard_require(Confinement confinement) {
  const auto standard = feature_names().first(kStandardFeatures);
  return confinement == Confinement::landlock ? standard.subspan(kNamespaces) : standard;
}

Limits limits_of(const Policy& policy) {
  Limits limits;
  for (const LimitRow& row : limit_table()) {
    const auto& value = policy.limits[static_cast<std::size_t>(row.id)];
    if (value && !value->is_built_in()) limits.set_default(row.id, value->value);
  }
  set_maxima(policy, limits);
  return limits;
}

Limits install_limits_of(const Policy& policy) {
  Limits limits;
  for (const LimitRow& row : limit_table()) {
    const auto& value = policy.install.limits[static_cast<std::size_t>(row.id)];
    if (value) limits.set_default(row.id, value->value);
  }
  set_maxima(policy, limits);
  return limits;
}

bool has_danger(const Policy& policy, std::string_view what) {
  return std::ranges::any_of(
      policy.dangers, [&](const Setting<Danger>& danger) { return danger.value.what == what; });
}

sys::Result<SyscallChanges> syscall_changes(const Policy& policy, const SyscallGroups& groups) {
  SyscallChanges changes;
  if (policy.standard_answer) changes.standard = policy.standard_answer->value;
  for (const Setting<std::string>& call : policy.allowed_calls) {
    const auto names = expand(call, groups);
    if (!names) return tl::unexpected(names.error());
    changes.allowed.insert(changes.allowed.end(), names->begin(), names->end());
  }
  for (const Setting<Denial>& denial : policy.denied_calls) {
    const auto names = expand({denial.value.call, denial.origin}, groups);
    if (!names) return tl::unexpected(names.error());
    for (const std::string& name : *names) {
      if (needs_it_to_start(name)) {
        return tl::unexpected(sys::plain_error(denial.origin + ": syscalls.deny '" + name +
                                               "': no program could be started without it"));
      }
      changes.denied.push_back({name, {}, denial.value.answer, denial.value.why});
    }
  }
  if (policy.openable_calls) {
    for (const std::string& call : policy.openable_calls->value) {
      const auto names = expand({call, policy.openable_calls->origin}, groups);
      if (!names) return tl::unexpected(names.error());
      changes.openable.insert(changes.openable.end(), names->begin(), names->end());
    }
  }
  for (const Setting<Danger>& danger : policy.dangers) {
    if (!danger.value.what.starts_with(kSyscallDanger)) continue;
    changes.lifted.push_back(danger.value.what.substr(kSyscallDanger.size()));
  }
  return changes;
}

}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_check.h"

#include <algorithm>

namespace wardcase::policies {
namespace {

// Collects what is wrong, so that nobody has to mend one thing to see the next.
class Findings {
 public:
  void add(const std::string& origin, const std::string& what) {
    text_ += (text_.empty() ? "" : "; ") + origin + ": " + what;
  }
  [[nodiscard]] sys::Status status() const {
    if (text_.empty()) return {};
    return tl::unexpected(sys::plain_error(text_));
  }

 private:
  std::string text_;
};

// The first may not be above the second. `needs_both`: only where a file sets both,
// since the second is a comfort of its own and not part of what the first means.
struct Order {
  LimitId smaller;
  LimitId larger;
  bool needs_both;
  std::string_view because;
};
constexpr Order kOrders[] = {
    {LimitId::grace, LimitId::timeout, true, "the grace is part of a run, not longer than it"},
    {LimitId::idle_timeout, LimitId::timeout, false, "silence could never end a run"},
    {LimitId::file_size, LimitId::disk, false, "no file can be larger than the disk"},
    {LimitId::capture, LimitId::output, false, "more would be kept than may be written"},
};

bool is_set(const Maybe<std::optional<std::uint64_t>>& setting) {
  return setting && setting->value && !setting->is_built_in();
}

std::string told(const LimitRow& row, const Setting<std::optional<std::uint64_t>>& setting) {
  return "limits." + std::string(row.key) + " " + format_limit(row, setting.value);
}

void check_limits(const Policy& policy, Findings& findings) {
  for (const Order& order : kOrders) {
    const auto& smaller = policy.limits[static_cast<std::size_t>(order.smaller)];
    const auto& larger = policy.limits[static_cast<std::size_t>(order.larger)];
    if (!smaller || !smaller->value || !larger || !larger->value) continue;
    const bool concerns =
        order.needs_both ? is_set(smaller) && is_set(larger) : is_set(smaller) || is_set(larger);
    if (!concerns || *smaller->value <= *larger->value) continue;
    const auto& at_fault = is_set(smaller) ? *smaller : *larger;
    findings.add(at_fault.origin, told(limit_row(order.smaller), *smaller) + " is above " +
                                      told(limit_row(order.larger), *larger) + " (" +
                                      larger->origin + "): " + std::string(order.because));
  }
  for (const LimitRow& row : limit_table()) {
    const auto& value = policy.limits[static_cast<std::size_t>(row.id)];
    const auto& most = policy.maxima[static_cast<std::size_t>(row.id)];
    if (!is_set(value) || !most || !most->value || *value->value <= *most->value) continue;
    findings.add(value->origin, told(row, *value) + " is above its maximum " +
                                    format_limit(row, most->value) + " (limits.max." +
                                    std::string(row.key) + ", " + most->origin + ")");
  }
}

// Whether what the policy chose leaves the feature out.
std::string why_switched_off(const Policy& policy, std::string_view feature) {
  if (feature == "network_namespace" && policy.network->value == Network::host) {
    return "network.default \"host\" (" + policy.network->origin + ")";
  }
  if (policy.confinement->value == Confinement::landlock && feature.ends_with("_namespace")) {
    return "confinement \"landlock\" (" + policy.confinement->origin + ")";
  }
  return "";
}

void check_features(const Policy& policy, Findings& findings) {
  for (const Setting<std::string>& feature : policy.require) {
    const std::string because = why_switched_off(policy, feature.value);
    if (because.empty()) continue;
    findings.add(feature.origin,
                 "require '" + feature.value + "': " + because + " switches it off");
  }
  if (policy.confinement->value == Confinement::landlock &&
      !has_danger(policy, kNoNamespacesDanger)) {
    findings.add(policy.confinement->origin,
                 "confinement \"landlock\" needs a reason in [dangerous] no_namespaces");
  }
}

void check_network(const Policy& policy, Findings& findings) {
  const auto& allowed = policy.allowed_networks->value;
  if (std::ranges::find(allowed, policy.network->value) == allowed.end()) {
    const auto& at_fault =
        policy.network->is_built_in() ? policy.allowed_networks->origin : policy.network->origin;
    findings.add(at_fault, "network.default \"" + std::string(network_name(policy.network->value)) +
                               "\" is not in network.allowed (" + policy.allowed_networks->origin +
                               ")");
  }
  if (policy.network->value == Network::host && !has_danger(policy, kHostNetworkDanger)) {
    findings.add(policy.network->origin,
                 "network.default \"host\" needs a reason in [dangerous] host_network");
  }
}

void check_mounts(const Policy& policy, Findings& findings) {
  constexpr std::string_view kSystem[] = {"/usr",   "/etc",   "/bin",    "/sbin", "/lib",
                                          "/lib32", "/lib64", "/libx32", "/boot", "/proc",
                                          "/sys",   "/dev",   "/run",    "/root", "/var/lib"};
  for (const Setting<Mount>& mount : policy.mounts) {
    if (mount.value.mode == MountMode::read_only) continue;
    const std::string source = mount.value.source + "/";
    const bool is_system = source.find_first_not_of('/') == std::string::npos ||
                           std::ranges::any_of(kSystem, [&](std::string_view directory) {
                             return source.starts_with(std::string(directory) + "/");
                           });
    if (is_system) {
      findings.add(mount.origin, "mount '" + mount.value.source +
                                     "': a directory of the system can't be mounted \"rw\"");
    }
  }
}

void check_calls(const Policy& policy, Findings& findings) {
  for (const Setting<std::string>& call : policy.allowed_calls) {
    const auto denied = std::ranges::find_if(
        policy.denied_calls,
        [&](const Setting<Denial>& denial) { return denial.value.call == call.value; });
    if (denied != policy.denied_calls.end()) {
      findings.add(call.origin, "syscalls.allow '" + call.value + "' is in syscalls.deny too (" +
                                    denied->origin + ")");
    }
    const auto why = why_refused(call.value);
    if (why && !has_danger(policy, std::string(kSyscallDanger) + call.value)) {
      findings.add(call.origin, "syscalls.allow '" + call.value + "': refused everywhere, as it " +
                                    std::string(*why) + "; it needs a reason in " +
                                    "[dangerous.syscalls] " + call.value);
    }
  }
  const bool is_open = policy.standard_answer->value == Answer::allow;
  for (const std::string& call : policy.openable_calls->value) {
    if (!is_open || call.starts_with('@') || can_be_lifted(call)) continue;
    findings.add(policy.openable_calls->origin,
                 "syscalls.openable '" + call +
                     "': no rule of this call refuses it, or none that can be lifted");
  }
  for (const Setting<Danger>& danger : policy.dangers) {
    if (!danger.value.what.starts_with(kSyscallDanger)) continue;
    const std::string call = danger.value.what.substr(kSyscallDanger.size());
    if (can_be_lifted(call)) continue;
    findings.add(danger.origin,
                 "dangerous.syscalls." + call +
                     ": no rule of this call refuses it, or none that can be lifted");
  }
}

}  // namespace

sys::Status check_policy(const Policy& policy) {
  Findings findings;
  check_limits(policy, findings);
  check_features(policy, findings);
  check_network(policy, findings);
  check_mounts(policy, findings);
  check_calls(policy, findings);
  return findings.status();
}

}  // namespace wardcase::policies

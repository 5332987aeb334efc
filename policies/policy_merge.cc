// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_merge.h"

#include <algorithm>
#include <limits>

namespace wardcase::policies {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

template <typename T>
void append(std::vector<Setting<T>>& under, const std::vector<Setting<T>>& over) {
  under.insert(under.end(), over.begin(), over.end());
}

tl::unexpected<sys::Error> refused(const std::string& origin, const std::string& what) {
  return tl::unexpected(sys::plain_error(origin + ": " + what));
}

tl::unexpected<sys::Error> looser(const std::string& origin, const std::string& what) {
  return refused(origin, what + "; a project's file may only tighten");
}

// What a limit comes to where nothing sets it: no file may loosen that unseen.
std::uint64_t unset_value(LimitId id) {
  constexpr std::uint64_t kCpus = 4000, kOutput = 256ULL << 20;
  return id == LimitId::cpus ? kCpus : id == LimitId::output ? kOutput : kUnbounded;
}

std::uint64_t value_of(const Maybe<std::optional<std::uint64_t>>& setting, std::uint64_t unset) {
  return setting ? setting->value.value_or(kUnbounded) : unset;
}

std::string told(const LimitRow& row, std::string_view table,
                 const Setting<std::optional<std::uint64_t>>& setting) {
  return std::string(table) + std::string(row.key) + " " + format_limit(row, setting.value);
}

// Lays the limits of `over` on `under`, none of which may grow.
sys::Status tighten_limits(LimitSettings& under, const LimitSettings& over, std::string_view table,
                           bool is_maximum) {
  for (const LimitRow& row : limit_table()) {
    const auto at = static_cast<std::size_t>(row.id);
    if (!over[at]) continue;
    const std::uint64_t unset = is_maximum ? kUnbounded : unset_value(row.id);
    if (value_of(over[at], unset) > value_of(under[at], unset)) {
      const std::string now =
          under[at] ? format_limit(row, under[at]->value) + " (" + under[at]->origin + ")"
                    : format_limit(row, unset) + " (built in)";
      return looser(over[at]->origin, told(row, table, *over[at]) + " is looser than " + now);
    }
    under[at] = over[at];
  }
  return {};
}

// Maxima of a file that is not the administrator's: his stand.
sys::Status lay_maxima(LimitSettings& under, const LimitSettings& over,
                       const LimitSettings& system) {
  for (const LimitRow& row : limit_table()) {
    const auto at = static_cast<std::size_t>(row.id);
    if (over[at] && system[at] &&
        value_of(over[at], kUnbounded) > value_of(system[at], kUnbounded)) {
      return refused(over[at]->origin, told(row, "limits.max.", *over[at]) + " is above " +
                                           format_limit(row, system[at]->value) + ", which " +
                                           system[at]->origin +
                                           " sets and no other file can raise");
    }
    lay(under[at], over[at]);
  }
  return {};
}

// Of two settings of one name the later counts.
void lay_names(std::vector<Setting<Variable>>& under, const std::vector<Setting<Variable>>& over) {
  for (const Setting<Variable>& variable : over) {
    std::erase_if(under, [&](const Setting<Variable>& earlier) {
      return earlier.value.name == variable.value.name;
    });
    under.push_back(variable);
  }
}

// Keys of a project that could only loosen, or can't be compared.
sys::Status check_project_keys(const Policy& project) {
  const auto refuse = [](const std::string& origin, std::string_view key) {
    return looser(origin, "'" + std::string(key) + "' may not be set there");
  };
  if (project.chosen) return refuse(project.chosen->origin, "policy");
  if (const std::string origin = origin_of(project.service); !origin.empty()) {
    return refuse(origin, "server, access and quota");
  }
  if (project.confinement) return refuse(project.confinement->origin, "confinement");
  if (!project.mounts.empty()) return refuse(project.mounts.front().origin, "mount");
  if (!project.host_roots.empty()) return refuse(project.host_roots.front().origin, "host_root");
  if (!project.environment.empty()) {
    return refuse(project.environment.front().origin, "environment");
  }
  if (!project.preludes.empty()) return refuse(project.preludes.front().origin, "prelude");
  if (!project.dangers.empty()) return refuse(project.dangers.front().origin, "dangerous");
  if (!project.allowed_calls.empty()) {
    return refuse(project.allowed_calls.front().origin, "syscalls.allow");
  }
  for (const auto& urls : project.install.urls) {
    if (urls) return refuse(urls->origin, "network.install");
  }
  if (project.install.find_links) {
    return refuse(project.install.find_links->origin, "install.find_links");
  }
  if (project.standard_answer) return refuse(project.standard_answer->origin, "syscalls.default");
  if (project.oom && project.oom->value == OomAnswer::go_on) {
    return refuse(project.oom->origin, "oom = \"continue\"");
  }
  if (project.execute_writable && project.execute_writable->value) {
    return refuse(project.execute_writable->origin, "execute_writable = true");
  }
  return {};
}

sys::Status tighten_network(Policy& policy, const Policy& project) {
  if (project.network && project.network->value == Network::host) {
    return looser(project.network->origin, "network.default \"host\" is looser than \"none\"");
  }
  if (!project.allowed_networks) return {};
  const auto& allowed = policy.allowed_networks->value;
  for (const Network network : project.allowed_networks->value) {
    if (std::ranges::find(allowed, network) != allowed.end()) continue;
    return looser(project.allowed_networks->origin,
                  "network.allowed \"" + std::string(network_name(network)) +
                      "\" is not allowed without it (" + policy.allowed_networks->origin + ")");
  }
  return {};
}

sys::Status tighten_openable_calls(const Policy& policy, const Policy& project) {
  if (!project.openable_calls) return {};
  const auto& open = policy.openable_calls->value;
  for (const std::string& call : project.openable_calls->value) {
    if (std::ranges::find(open, call) != open.end()) continue;
    return looser(project.openable_calls->origin, "syscalls.openable \"" + call +
                                                      "\" is not openable without it (" +
                                                      policy.openable_calls->origin + ")");
  }
  return {};
}

sys::Status tighten(Policy& policy, Policy project) {
  if (auto status = check_project_keys(project); !status) return status;
  if (auto status = tighten_network(policy, project); !status) return status;
  if (auto status = tighten_openable_calls(policy, project); !status) return status;
  auto status = tighten_limits(policy.limits, project.limits, "limits.", /*is_maximum=*/false);
  if (status) {
    status = tighten_limits(policy.maxima, project.maxima, "limits.max.", /*is_maximum=*/true);
  }
  if (status) {
    status = tighten_limits(policy.install.limits, project.install.limits, "install.",
                            /*is_maximum=*/false);
  }
  if (!status) return status;
  project.limits = {};
  project.maxima = {};
  project.install.limits = {};
  policy = lay_over(std::move(policy), project);
  return {};
}

}  // namespace

Policy lay_over(Policy under, const Policy& over) {
  lay(under.name, over.name);
  lay(under.description, over.description);
  lay(under.chosen, over.chosen);
  lay(under.confinement, over.confinement);
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    lay(under.limits[i], over.limits[i]);
    lay(under.maxima[i], over.maxima[i]);
    lay(under.install.limits[i], over.install.limits[i]);
  }
  lay(under.network, over.network);
  lay(under.allowed_networks, over.allowed_networks);
  for (std::size_t i = 0; i < kInstallerCount; ++i)
    lay(under.install.urls[i], over.install.urls[i]);
  lay(under.install.find_links, over.install.find_links);
  lay(under.oom, over.oom);
  lay(under.execute_writable, over.execute_writable);
  lay(under.standard_answer, over.standard_answer);
  lay(under.openable_calls, over.openable_calls);
  append(under.mounts, over.mounts);
  append(under.host_roots, over.host_roots);
  append(under.allowed_calls, over.allowed_calls);
  append(under.denied_calls, over.denied_calls);
  append(under.denied_code, over.denied_code);
  append(under.require, over.require);
  append(under.dangers, over.dangers);
  lay_names(under.environment, over.environment);
  lay_names(under.preludes, over.preludes);
  under.service = lay_over(std::move(under.service), over.service);
  return under;
}

sys::Result<Policy> combine(const PolicyLayers& layers) {
  Policy policy = lay_over(built_in_policy(), layers.system);
  for (const Policy* layer : {&layers.user, &layers.policy}) {
    auto status = lay_maxima(policy.maxima, layer->maxima, layers.system.maxima);
    if (!status) return tl::unexpected(status.error());
    policy = lay_over(std::move(policy), *layer);
  }
  if (auto status = tighten(policy, layers.project); !status) {
    return tl::unexpected(status.error());
  }
  return policy;
}

}  // namespace wardcase::policies

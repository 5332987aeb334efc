// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/limits.h"
#include "policies/service_settings.h"
#include "policies/setting.h"
#include "policies/syscall_policy.h"

namespace wardcase::policies {

enum class MountMode : std::uint8_t { read_only, read_write };

// A host path made visible in the box.
struct Mount {
  std::string source;  // absolute host path
  std::string target;  // absolute path in the box
  MountMode mode = MountMode::read_only;

  friend bool operator==(const Mount&, const Mount&) = default;
};

// Below it a request to the service may name directories and files of the host.
struct HostRoot {
  std::string path;  // absolute
  MountMode mode = MountMode::read_only;
};

enum class Network : std::uint8_t { none, host };
[[nodiscard]] std::string_view network_name(Network network);

// What a box is made of: namespaces and all the rest, or, where a host gives
// no namespaces, Landlock and the filter alone.
enum class Confinement : std::uint8_t { namespaces, landlock };
[[nodiscard]] std::string_view confinement_name(Confinement confinement);

// What is done when the box's own memory runs out: the run ends, or the kernel ends
// one process and the rest goes on.
enum class OomAnswer : std::uint8_t { end_run, go_on };
[[nodiscard]] std::string_view oom_answer_name(OomAnswer answer);

// By limit; a value of nullopt is `none`.
using LimitSettings = std::array<Maybe<std::optional<std::uint64_t>>, kLimitCount>;

struct Variable {
  std::string name;
  std::string value;
};

// A call, or a group as "@mount", that is refused besides what is refused anyway.
struct Denial {
  std::string call;
  Answer answer = Answer::eperm;
  std::string why;
};

// Code that is refused before it runs: a courtesy, no boundary.
struct DeniedCode {
  std::string name;
  std::string pattern;                 // find_code
  std::vector<std::string> languages;  // none: all
  std::string why;                     // may be ""
};

// A weakening of the sandbox, and the reason for it. `what` is host_network,
// no_namespaces, or syscalls.NAME: a call that the built-in rules would refuse.
struct Danger {
  std::string what;
  std::string reason;
};
inline constexpr std::string_view kHostNetworkDanger = "host_network";
inline constexpr std::string_view kNoNamespacesDanger = "no_namespaces";
inline constexpr std::string_view kSyscallDanger = "syscalls.";

// Whose requirements are installed by the same program, from the same kind of index.
enum class Installer : std::uint8_t { pip, npm };
inline constexpr std::size_t kInstallerCount = 2;
[[nodiscard]] std::string_view installer_name(Installer installer);

// Where requirements of programs come from, and what their installation may take.
struct InstallSettings {
  // URLs by installer: the index, and then other hosts that it refers to; all checked by
  // parse_web_address(). Without any there is no network.
  std::array<Maybe<std::vector<std::string>>, kInstallerCount> urls;
  Maybe<std::vector<std::string>> find_links;  // directories of the host with wheels
  LimitSettings limits;

  [[nodiscard]] const Maybe<std::vector<std::string>>& urls_of(Installer installer) const {
    return urls[static_cast<std::size_t>(installer)];
  }
};

// What one file says, or several laid over each other; what it leaves open has
// no value. built_in_policy() is complete.
struct Policy {
  Maybe<std::string> name;
  Maybe<std::string> description;
  Maybe<std::string> extends;  // one level: the other extends none
  Maybe<std::string> chosen;   // of a configuration: the policy that is used where none is named
  Maybe<Confinement> confinement;
  LimitSettings limits;
  LimitSettings maxima;  // nullopt in it: no maximum
  Maybe<Network> network;
  Maybe<std::vector<Network>> allowed_networks;
  InstallSettings install;
  Maybe<OomAnswer> oom;
  Maybe<bool> execute_writable;  // false: not where the program can write
  std::vector<Setting<Mount>> mounts;
  Maybe<Answer> standard_answer;  // to calls that nothing names
  std::vector<Setting<std::string>> allowed_calls;
  std::vector<Setting<Denial>> denied_calls;
  Maybe<std::vector<std::string>> openable_calls;  // calls and "@group"s for --allow-syscalls
  std::vector<Setting<std::string>> require;       // features, besides those of standard_require()
  std::vector<Setting<DeniedCode>> denied_code;
  std::vector<Setting<Variable>> environment;
  std::vector<Setting<Variable>> preludes;  // language, absolute host path
  std::vector<Setting<Danger>> dangers;
  std::vector<Setting<HostRoot>> host_roots;
  ServiceSettings service;  // of a configuration
};

// What holds where no file says anything; the policy `default` says the same.
[[nodiscard]] Policy built_in_policy();

// Features that `require` may name, as isolation.requested of a record has them.
[[nodiscard]] std::span<const std::string_view> feature_names();
// Those that every box with namespaces needs.
[[nodiscard]] std::span<const std::string_view> standard_require(Confinement confinement);

// The limits that follow: what files set as defaults, and the maxima.
[[nodiscard]] Limits limits_of(const Policy& policy);

// Those of installations, under the same maxima.
[[nodiscard]] Limits install_limits_of(const Policy& policy);

[[nodiscard]] bool has_danger(const Policy& policy, std::string_view what);

// What the policy changes of the built-in system call rules, groups resolved
// through `groups` and the built-in ones. Fails on a group that nobody knows.
[[nodiscard]] sys::Result<SyscallChanges> syscall_changes(const Policy& policy,
                                                          const SyscallGroups& groups);

}  // namespace wardcase::policies

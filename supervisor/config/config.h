// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language_set.h"
#include "policies/policy.h"

namespace wardcase::supervisor {

// Where configuration lies. A directory holds wardcase.toml, policies/NAME.toml and
// languages/NAME.toml; "" is none.
struct ConfigPlaces {
  std::string system;   // the administrator's directory
  std::string user;     // the caller's directory
  std::string project;  // the file of the working directory
};
// /etc/wardcase, $XDG_CONFIG_HOME/wardcase (~/.config/wardcase) and .wardcase.toml.
[[nodiscard]] ConfigPlaces config_places();

// WARDCASE_POLICY.
[[nodiscard]] std::optional<std::string> policy_variable();

// All that is configured, in one. Without files nothing is parsed.
struct Configuration {
  policies::Policy policy;  // complete; its name is that of the chosen policy
  policies::SyscallChanges syscalls;
  policies::LanguageSet languages;
};

// The files of `places` and the policy `asked` for (a name, or the path of a file
// where it has a slash or ends in .toml), combined. Without `asked` it is the one that
// the configuration chooses, or `default`. A file that is there and can't be read or
// understood is an error: it might have been the one that says no.
[[nodiscard]] sys::Result<Configuration> load_configuration(
    const ConfigPlaces& places, const std::optional<std::string>& asked);

// The languages of the binary and of the files of `places`.
[[nodiscard]] sys::Result<policies::LanguageSet> load_languages(const ConfigPlaces& places);

// One policy with what it extends, on the built-in one, checked for contradictions.
[[nodiscard]] sys::Result<Configuration> load_policy(const ConfigPlaces& places,
                                                     const std::string& asked);

// The text of a policy, or of "groups", as it was written.
[[nodiscard]] sys::Result<std::string> read_policy_text(const ConfigPlaces& places,
                                                        const std::string& asked);

struct ListedPolicy {
  std::string name;
  std::string place;  // "built in", or its file
  std::string description;
};
// Those that can be asked for by name: shipped ones, the administrator's, the caller's.
// A name counts once, in this order, so that `strict` is always the shipped one.
[[nodiscard]] std::vector<ListedPolicy> list_policies(const ConfigPlaces& places);

}  // namespace wardcase::supervisor

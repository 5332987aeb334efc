// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/config.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "policies/policy_check.h"
#include "policies/policy_merge.h"
#include "policies/policy_reader.h"
#include "policies/shipped_policies.h"
#include "sandbox/sys/files.h"
#include "supervisor/config/config_files.h"

namespace wardcase::supervisor {
namespace {

using policies::FileKind;
using policies::Policy;

constexpr std::string_view kDefault = "default";

const policies::ShippedText* find_shipped(std::string_view name) {
  const auto texts = policies::shipped_texts();
  const auto found = std::ranges::find(texts, name, &policies::ShippedText::name);
  return found == texts.end() ? nullptr : &*found;
}

bool is_path(std::string_view asked) {
  return asked.find('/') != std::string_view::npos || asked.ends_with(".toml");
}

// A policy's text and what to call its place.
struct Source {
  std::string text;
  std::string place;
};

std::vector<std::string> policy_directories(const ConfigPlaces& places) {
  std::vector<std::string> directories;
  for (const std::string& directory : {places.system, places.user}) {
    if (!directory.empty()) directories.push_back(directory + "/policies");
  }
  return directories;
}

sys::Result<Source> find_source(const ConfigPlaces& places, const std::string& asked) {
  if (const auto* shipped = find_shipped(asked)) {
    return Source{std::string(shipped->text), asked + ".toml"};
  }
  std::vector<std::string> paths;
  if (is_path(asked)) {
    paths = {asked};
  } else {
    for (const std::string& directory : policy_directories(places)) {
      paths.push_back(directory + "/" + asked + ".toml");
    }
  }
  for (const std::string& path : paths) {
    auto text = read_config_file(path);
    if (!text) return tl::unexpected(std::move(text).error());
    if (*text) return Source{**std::move(text), path};
  }
  std::string where;
  for (const std::string& path : paths) where += (where.empty() ? "" : ", ") + path;
  return tl::unexpected(sys::plain_error("policy '" + asked + "': there is none; looked for " +
                                         where + "; 'wardcase policy list' shows them"));
}

// One policy, read. `default` is the built-in one, which is never parsed.
sys::Result<Policy> read_one(const ConfigPlaces& places, const std::string& asked) {
  if (asked == kDefault) return policies::built_in_policy();
  const auto source = find_source(places, asked);
  if (!source) return tl::unexpected(source.error());
  if (asked == policies::kGroupsName) {
    return tl::unexpected(sys::plain_error("'groups' is no policy; it holds system calls"));
  }
  auto policy = policies::read_policy(source->text, source->place, FileKind::policy);
  if (policy && !policy->name) {
    std::string name = asked.substr(asked.rfind('/') + 1);
    if (name.ends_with(".toml")) name.resize(name.size() - std::string_view(".toml").size());
    policy->name = {std::move(name), source->place};
  }
  return policy;
}

// With what it extends, which extends nothing itself: whoever reads a policy has
// two files to look at, and no more.
sys::Result<Policy> read_whole(const ConfigPlaces& places, const std::string& asked) {
  auto policy = read_one(places, asked);
  if (!policy || !policy->extends) return policy;
  const auto parent = read_one(places, policy->extends->value);
  if (!parent) {
    return tl::unexpected(sys::Error(parent.error()).while_doing(policy->extends->origin));
  }
  if (parent->extends) {
    return tl::unexpected(sys::plain_error(
        policy->extends->origin + ": extends '" + policy->extends->value + "', which extends '" +
        parent->extends->value + "' (" + parent->extends->origin + "); one level is all"));
  }
  return policies::lay_over(*parent, *policy);
}

sys::Status check(const Policy& policy) {
  return policies::check_policy(policies::lay_over(policies::built_in_policy(), policy));
}

sys::Result<Policy> read_checked(const ConfigPlaces& places, const std::string& asked) {
  auto policy = read_whole(places, asked);
  if (!policy) return policy;
  if (auto checked = check(*policy); !checked) return tl::unexpected(checked.error());
  return policy;
}

// "" and a file that is not there say nothing.
sys::Result<Policy> read_configuration(const std::string& path) {
  if (path.empty()) return Policy();
  const auto text = read_config_file(path);
  if (!text) return tl::unexpected(text.error());
  if (!*text) return Policy();
  auto policy = policies::read_policy(**text, path, FileKind::configuration);
  if (!policy) return policy;
  if (auto checked = check(*policy); !checked) return tl::unexpected(checked.error());
  return policy;
}

std::string file_in(const std::string& directory) {
  return directory.empty() ? "" : directory + "/wardcase.toml";
}

// Of groups.toml: those of the built-in rules need no file.
bool names_groups(const Policy& policy) {
  const auto is_group = [](std::string_view call) {
    return call.starts_with('@') &&
           std::ranges::find(policies::built_in_groups(), call.substr(1),
                             &policies::SyscallGroup::name) == policies::built_in_groups().end();
  };
  return std::ranges::any_of(policy.allowed_calls,
                             [&](const auto& call) { return is_group(call.value); }) ||
         std::ranges::any_of(policy.denied_calls,
                             [&](const auto& denial) { return is_group(denial.value.call); }) ||
         (policy.openable_calls && std::ranges::any_of(policy.openable_calls->value, is_group));
}

sys::Result<Configuration> with_calls(Policy policy) {
  policies::SyscallGroups groups;
  if (names_groups(policy)) {
    auto read =
        policies::read_syscall_groups(find_shipped(policies::kGroupsName)->text, "groups.toml");
    if (!read) return tl::unexpected(std::move(read).error());
    groups = *std::move(read);
  }
  auto calls = policies::syscall_changes(policy, groups);
  if (!calls) return tl::unexpected(std::move(calls).error());
  return Configuration{std::move(policy), *std::move(calls), {}};
}

// Of another user's home (sudo and setpriv may leave HOME as it was) nothing is
// read: its owner is not the one who asks.
bool is_ours(const char* directory) {
  struct stat info = {};
  return ::stat(directory, &info) == 0 && info.st_uid == ::geteuid();
}

}  // namespace

ConfigPlaces config_places() {
  ConfigPlaces places = {"/etc/wardcase", "", ".wardcase.toml"};
  const char* base = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  // A relative base is to be ignored (XDG Base Directory Specification).
  if (base != nullptr && *base == '/') {
    if (!is_ours(base)) return places;
    places.user = std::string(base) + "/wardcase";
  } else if (home != nullptr && *home == '/') {
    if (!is_ours(home)) return places;
    places.user = std::string(home) + "/.config/wardcase";
  }
  return places;
}

std::optional<std::string> policy_variable() {
  const char* name = std::getenv("WARDCASE_POLICY");
  if (name == nullptr || *name == '\0') return std::nullopt;
  return name;
}

sys::Result<Configuration> load_configuration(const ConfigPlaces& places,
                                              const std::optional<std::string>& asked) {
  policies::PolicyLayers layers;
  struct File {
    Policy& layer;
    std::string path;
  };
  for (const auto& [layer, path] :
       {File{layers.system, file_in(places.system)}, File{layers.user, file_in(places.user)},
        File{layers.project, places.project}}) {
    auto read = read_configuration(path);
    if (!read) return tl::unexpected(std::move(read).error());
    layer = *std::move(read);
  }
  const auto& chosen = layers.user.chosen ? layers.user.chosen : layers.system.chosen;
  const std::string name = asked ? *asked : chosen ? chosen->value : std::string(kDefault);
  auto policy = read_checked(places, name);
  if (!policy) return tl::unexpected(std::move(policy).error());
  layers.policy = *std::move(policy);
  auto combined = policies::combine(layers);
  if (!combined) return tl::unexpected(std::move(combined).error());
  auto languages = load_languages(places);
  if (!languages) return tl::unexpected(std::move(languages).error());
  auto configuration = with_calls(*std::move(combined));
  if (configuration) configuration->languages = *std::move(languages);
  return configuration;
}

sys::Result<Configuration> load_policy(const ConfigPlaces& places, const std::string& asked) {
  const auto policy = read_checked(places, asked);
  if (!policy) return tl::unexpected(policy.error());
  return with_calls(policies::lay_over(policies::built_in_policy(), *policy));
}

sys::Result<std::string> read_policy_text(const ConfigPlaces& places, const std::string& asked) {
  return find_source(places, asked).map([](const Source& source) { return source.text; });
}

std::vector<ListedPolicy> list_policies(const ConfigPlaces& places) {
  std::vector<ListedPolicy> listed;
  const auto add = [&](const std::string& name, const std::string& place) {
    if (std::ranges::find(listed, name, &ListedPolicy::name) != listed.end()) return;
    const auto source = find_source(places, name);
    const auto policy = source.and_then([](const Source& found) {
      return policies::read_policy(found.text, found.place, FileKind::policy);
    });
    const bool is_described = policy && policy->description;
    listed.push_back({name, place,
                      is_described ? policy->description->value
                      : policy     ? ""
                                   : "can't be used: " + policy.error().message()});
  };
  for (const policies::ShippedText& shipped : policies::shipped_texts()) {
    if (shipped.name != policies::kGroupsName) {
      add(std::string(shipped.name), std::string(policies::kBuiltIn));
    }
  }
  for (const std::string& directory : policy_directories(places)) {
    auto names = sys::list_directory(directory, DT_REG);
    std::ranges::sort(names);
    for (const std::string& file : names) {
      if (!file.ends_with(".toml")) continue;
      add(file.substr(0, file.size() - std::string_view(".toml").size()), directory + "/" + file);
    }
  }
  return listed;
}

}  // namespace wardcase::supervisor

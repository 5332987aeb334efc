// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_reader.h"

#include <algorithm>
#include <array>
#include <span>

#include "policies/code_pattern.h"
#include "policies/host_root_keys.h"
#include "policies/install_keys.h"
#include "policies/policy_entry.h"
#include "policies/service_keys.h"
#include "policies/spelling.h"

// The keys of a file. A section is a table of its own rows; what has names of the
// user's choosing (environment, groups, lifted calls) has none.
namespace wardcase::policies {
namespace {

constexpr std::int64_t kSchema = 1;

sys::Status read_schema(const Entry& entry) {
  if (entry.node.kind == TomlNode::Kind::integer && entry.node.integer == kSchema) return {};
  return refused(entry, "a format that this version knows; write schema = 1");
}

sys::Status read_confinement(const Entry& entry) {
  const auto text = entry.text();
  for (const Confinement known : {Confinement::namespaces, Confinement::landlock}) {
    if (text != confinement_name(known)) continue;
    keep(entry, entry.reading.policy.confinement, known);
    return {};
  }
  return refused(entry, "a confinement; write \"namespaces\" or \"landlock\"");
}

sys::Status read_oom(const Entry& entry) {
  const auto text = entry.text();
  for (const OomAnswer known : {OomAnswer::end_run, OomAnswer::go_on}) {
    if (text != oom_answer_name(known)) continue;
    keep(entry, entry.reading.policy.oom, known);
    return {};
  }
  return refused(entry, "an answer to spent memory; write \"end_run\" or \"continue\"");
}

sys::Result<Network> network_of(const Entry& entry) {
  const auto text = entry.text();
  if (text == "none") return Network::none;
  if (text == "host") return Network::host;
  return refused(entry, "a network; write \"none\" or \"host\"");
}

sys::Status read_allowed_networks(const Entry& entry) {
  std::vector<Network> networks;
  auto status = read_list(entry, "a list of networks", [&](const Entry& element) {
    return network_of(element).map([&](Network network) { networks.push_back(network); });
  });
  if (status) keep(entry, entry.reading.policy.allowed_networks, std::move(networks));
  return status;
}

sys::Status read_openable_calls(const Entry& entry) {
  std::vector<Setting<std::string>> calls;
  auto status = read_texts(entry, "a list of system calls and @GROUPs", calls);
  std::vector<std::string> names;
  names.reserve(calls.size());
  for (Setting<std::string>& call : calls) names.push_back(std::move(call.value));
  if (status) keep(entry, entry.reading.policy.openable_calls, std::move(names));
  return status;
}

sys::Status read_require(const Entry& entry) {
  auto& place = entry.reading.policy.require;
  if (auto status = read_texts(entry, "a list of features", place); !status) return status;
  for (const Setting<std::string>& feature : place) {
    if (std::ranges::find(feature_names(), feature.value) != feature_names().end()) continue;
    return wrong(entry, "require: '" + feature.value + "': no such feature" +
                            did_you_mean(feature.value, feature_names()));
  }
  return {};
}

sys::Status read_execute_writable(const Entry& entry) {
  if (entry.node.kind != TomlNode::Kind::boolean) return refused(entry, "true or false");
  keep(entry, entry.reading.policy.execute_writable, bool{entry.node.boolean});
  return {};
}

sys::Status read_limit_table(const Entry& entry, LimitSettings& place, bool is_maximum) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    const auto row = std::ranges::find(limit_table(), name, &LimitRow::key);
    if (row != limit_table().end()) return read_limit(value, *row, place, is_maximum);
    if (!is_maximum && name == "max") {
      return read_limit_table(value, entry.reading.policy.maxima, /*is_maximum=*/true);
    }
    std::vector<std::string_view> known;
    for (const LimitRow& candidate : limit_table()) known.push_back(candidate.key);
    if (!is_maximum) known.emplace_back("max");
    return unknown_key(entry.reading, entry.node, index, entry.key, known);
  });
}

// A new element is begun for each [[mount]]; its rows fill the last one.
constexpr Row kMountKeys[] = {
    {"source",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.text();
       if (!text.starts_with('/')) return refused(entry, "an absolute path of the host");
       entry.reading.policy.mounts.back().value.source = text;
       return {};
     }},
    {"target",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.text();
       if (!text.starts_with('/')) return refused(entry, "an absolute path in the box");
       entry.reading.policy.mounts.back().value.target = text;
       return {};
     }},
    {"mode",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.text();
       if (text != "ro" && text != "rw") return refused(entry, "a mode; write \"ro\" or \"rw\"");
       entry.reading.policy.mounts.back().value.mode =
           text == "rw" ? MountMode::read_write : MountMode::read_only;
       return {};
     }},
};

sys::Status read_mounts(const Entry& entry) {
  return read_list(entry, "a list of tables; write [[mount]]", [](const Entry& element) {
    if (element.node.kind != TomlNode::Kind::table) {
      return sys::Status(refused(element, "a table; write [[mount]]"));
    }
    auto& mounts = element.reading.policy.mounts;
    mounts.push_back({{}, element.origin()});
    auto status = read_rows(element, "mount", kMountKeys);
    if (!status) return status;
    const Mount& mount = mounts.back().value;
    if (mount.source.empty() || mount.target.empty()) {
      return sys::Status(wrong(element, "mount: needs source and target"));
    }
    return status;
  });
}

sys::Result<Answer> answer_of(const Entry& entry, bool may_allow) {
  const auto answer = find_answer(entry.text());
  if (answer && (may_allow || *answer != Answer::allow)) return *answer;
  return refused(entry,
                 std::string("an answer; write ") + (may_allow ? "\"allow\", " : "") +
                     "\"errno:EPERM\", \"errno:ENOSYS\", \"errno:EAFNOSUPPORT\" or \"kill\"");
}

// The keys of one refused call, as for mounts.
constexpr Row kDenyKeys[] = {
    {"call",
     [](const Entry& entry) {
       return text_of(entry, "the name of a system call, or @GROUP").map([&](std::string name) {
         entry.reading.policy.denied_calls.back().value.call = std::move(name);
       });
     }},
    {"as",
     [](const Entry& entry) {
       return answer_of(entry, /*may_allow=*/false).map([&](Answer answer) {
         entry.reading.policy.denied_calls.back().value.answer = answer;
       });
     }},
    {"why",
     [](const Entry& entry) {
       return text_of(entry, "a reason in quotes").map([&](std::string why) {
         entry.reading.policy.denied_calls.back().value.why = std::move(why);
       });
     }},
};

sys::Status read_denied_calls(const Entry& entry) {
  constexpr std::string_view kAccepted = "a system call; write \"NAME\" or { call = \"NAME\" }";
  return read_list(entry, kAccepted, [&](const Entry& element) -> sys::Status {
    auto& denied = element.reading.policy.denied_calls;
    denied.push_back({{"", Answer::eperm, "the policy refuses it"}, element.origin()});
    if (element.node.kind == TomlNode::Kind::table) {
      auto status = read_rows(element, "syscalls.deny", kDenyKeys);
      if (!status) return status;
      if (denied.back().value.call.empty()) return wrong(element, element.key + ": needs call");
      return {};
    }
    return text_of(element, kAccepted).map([&](std::string name) {
      denied.back().value.call = std::move(name);
    });
  });
}

constexpr Row kSyscallKeys[] = {
    {"default",
     [](const Entry& entry) {
       return answer_of(entry, /*may_allow=*/true).map([&](Answer answer) {
         keep(entry, entry.reading.policy.standard_answer, answer);
       });
     }},
    {"allow",
     [](const Entry& entry) {
       return read_texts(entry, "a list of system calls and @GROUPs",
                         entry.reading.policy.allowed_calls);
     }},
    {"deny", read_denied_calls},
    {"openable", read_openable_calls},
};

constexpr Row kNetworkKeys[] = {
    {"default",
     [](const Entry& entry) {
       return network_of(entry).map(
           [&](Network network) { keep(entry, entry.reading.policy.network, network); });
     }},
    {"allowed", read_allowed_networks},
    {"install", read_install_urls},
};

sys::Status read_environment(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    if (value.node.kind != TomlNode::Kind::text) return refused(value, "a text in quotes");
    if (name.empty() || name.find('=') != std::string::npos) {
      return wrong(value, value.key + ": not the name of a variable");
    }
    entry.reading.policy.environment.push_back({{name, value.node.text}, value.origin()});
    return {};
  });
}

sys::Status read_preludes(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    if (!value.text().starts_with('/')) return refused(value, "an absolute path of the host");
    entry.reading.policy.preludes.push_back(
        {{entry.node.keys[index].name, value.node.text}, value.origin()});
    return {};
  });
}

sys::Status read_danger(const Entry& entry, std::string what) {
  return text_of(entry, "a reason in quotes").map([&](std::string reason) {
    entry.reading.policy.dangers.push_back({{std::move(what), std::move(reason)}, entry.origin()});
  });
}

sys::Status read_lifted_calls(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) {
    return read_danger(value, std::string(kSyscallDanger) + entry.node.keys[index].name);
  });
}

constexpr Row kDangerKeys[] = {
    {"host_network",
     [](const Entry& entry) { return read_danger(entry, std::string(kHostNetworkDanger)); }},
    {"no_namespaces",
     [](const Entry& entry) { return read_danger(entry, std::string(kNoNamespacesDanger)); }},
    {"syscalls", read_lifted_calls},
};

constexpr Row kKeys[] = {
    {"schema", read_schema},
    {"confinement", read_confinement},
    {"require", read_require},
    {"oom", read_oom},
    {"execute_writable", read_execute_writable},
    {"limits",
     [](const Entry& entry) {
       return read_limit_table(entry, entry.reading.policy.limits, /*is_maximum=*/false);
     }},
    {"network", [](const Entry& entry) { return read_section(entry, kNetworkKeys); }},
    {"install", read_install},
    {"mount", read_mounts},
    {"host_root", read_host_roots},
    {"syscalls", [](const Entry& entry) { return read_section(entry, kSyscallKeys); }},
    {"environment", read_environment},
    {"deny_code", read_denied_code},
    {"prelude", read_preludes},
    {"dangerous", [](const Entry& entry) { return read_section(entry, kDangerKeys); }},
    // The next three are a policy's alone, the others a configuration's.
    {"name", [](const Entry& entry) { return read_text(entry, entry.reading.policy.name); }},
    {"description",
     [](const Entry& entry) { return read_text(entry, entry.reading.policy.description); }},
    {"extends", [](const Entry& entry) { return read_text(entry, entry.reading.policy.extends); }},
    {"policy", [](const Entry& entry) { return read_text(entry, entry.reading.policy.chosen); }},
    {"server", read_server},
    {"access", read_access},
    {"quota", read_quotas},
};
constexpr std::size_t kPolicysKeys = 3;
constexpr std::size_t kConfigurationsKeys = 4;
constexpr std::size_t kSharedKeys = std::size(kKeys) - kPolicysKeys - kConfigurationsKeys;

std::vector<Row> keys_of(FileKind kind) {
  std::vector<Row> rows(std::begin(kKeys), std::begin(kKeys) + kSharedKeys);
  if (kind == FileKind::policy) {
    rows.insert(rows.end(), std::begin(kKeys) + kSharedKeys, std::end(kKeys) - kConfigurationsKeys);
  } else {
    rows.insert(rows.end(), std::end(kKeys) - kConfigurationsKeys, std::end(kKeys));
  }
  return rows;
}

sys::Result<TomlNode> parse(std::string_view text, std::string_view file) {
  auto parsed = parse_toml(text, file);
  if (parsed && parsed->find("schema") == nullptr) {
    return tl::unexpected(
        sys::plain_error(std::string(file) + ": no schema; write schema = 1 at its top"));
  }
  return parsed;
}

}  // namespace

sys::Result<Policy> read_policy(std::string_view text, std::string_view file, FileKind kind) {
  const auto table = parse(text, file);
  if (!table) return tl::unexpected(table.error());
  Reading reading{file, {}};
  if (auto status = read_rows({reading, "", *table}, "", keys_of(kind)); !status) {
    return tl::unexpected(status.error());
  }
  return std::move(reading.policy);
}

sys::Result<SyscallGroups> read_syscall_groups(std::string_view text, std::string_view file) {
  const auto table = parse(text, file);
  if (!table) return tl::unexpected(table.error());
  const TomlNode* named = table->find("groups");
  if (named == nullptr) {
    return tl::unexpected(sys::plain_error(std::string(file) + ": no [groups]"));
  }
  SyscallGroups groups;
  Reading reading{file, {}};
  const Entry entry{reading, "groups", *named};
  auto status = read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    std::vector<Setting<std::string>> calls;
    if (auto done = read_texts(value, "a list of system calls", calls); !done) return done;
    auto& group = groups[named->keys[index].name];
    for (Setting<std::string>& call : calls) group.push_back(std::move(call.value));
    return {};
  });
  if (!status) return tl::unexpected(status.error());
  return groups;
}

}  // namespace wardcase::policies

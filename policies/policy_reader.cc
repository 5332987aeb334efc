// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// lint: table (most of it is the tables of keys, and the one place where TOML is read)
#include "policies/policy_reader.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "policies/spelling.h"

// One row a key, one function a row. A section is a table of its own rows; what
// has names of the user's choosing (environment, groups, lifted calls) has none.
namespace wardcase::policies {
namespace {

constexpr std::int64_t kSchema = 1;

// What is being read: where errors are, and where the values go.
struct Reading {
  std::string_view file;
  FileKind kind;
  Policy policy;
};

// One value and how to speak of it.
struct Entry {
  Reading& reading;
  std::string key;  // "limits.timeout"
  const toml::node& node;

  [[nodiscard]] std::string origin() const {
    return std::string(reading.file) + ":" + std::to_string(node.source().begin.line);
  }
};

tl::unexpected<sys::Error> wrong_at(std::string_view file, const toml::source_region& place,
                                    const std::string& what) {
  return tl::unexpected(sys::plain_error(std::string(file) + ":" +
                                         std::to_string(place.begin.line) + ":" +
                                         std::to_string(place.begin.column) + ": " + what));
}

tl::unexpected<sys::Error> wrong(const Entry& entry, const std::string& what) {
  return wrong_at(entry.reading.file, entry.node.source(), what);
}

// The value as it might have been written, for messages.
std::string written(const toml::node& node) {
  if (const auto* text = node.as_string()) return "'" + text->get() + "'";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) {
    std::array<char, 40> text;
    (void)std::snprintf(text.data(), text.size(), "%.9g", number->get());  // fits
    return text.data();
  }
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date";
}

tl::unexpected<sys::Error> refused(const Entry& entry, std::string_view accepted) {
  return wrong(entry, entry.key + ": " + written(entry.node) + ": not " + std::string(accepted));
}

template <typename T>
void keep(const Entry& entry, Maybe<T>& place, T value) {
  place = Setting<T>{std::move(value), entry.origin()};
}

sys::Result<std::string> text_of(const Entry& entry, std::string_view accepted) {
  const auto* text = entry.node.as_string();
  if (text == nullptr || text->get().empty()) return refused(entry, accepted);
  return text->get();
}

sys::Status read_text(const Entry& entry, Maybe<std::string>& place) {
  return text_of(entry, "a text in quotes").map([&](std::string text) {
    keep(entry, place, std::move(text));
  });
}

// Calls `read` for each element, which is named KEY[0], KEY[1] ...
template <typename Read>
sys::Status read_list(const Entry& entry, std::string_view accepted, Read read) {
  const toml::array* list = entry.node.as_array();
  if (list == nullptr) return refused(entry, accepted);
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Entry element{entry.reading, entry.key + "[" + std::to_string(i) + "]", *list->get(i)};
    if (sys::Status status = read(element); !status) return status;
  }
  return {};
}

sys::Status read_texts(const Entry& entry, std::string_view accepted,
                       std::vector<Setting<std::string>>& place) {
  return read_list(entry, accepted, [&](const Entry& element) {
    return text_of(element, accepted).map([&](std::string text) {
      place.push_back({std::move(text), element.origin()});
    });
  });
}

struct Row {
  std::string_view key;
  sys::Status (*read)(const Entry&);
};

// Each key of a table through its row.
sys::Status read_rows(Reading& reading, const toml::table& table, std::string_view section,
                      std::span<const Row> rows) {
  for (auto&& [key, node] : table) {
    const auto row = std::ranges::find(rows, key.str(), &Row::key);
    if (row == rows.end()) {
      std::vector<std::string_view> known;
      for (const Row& candidate : rows) known.push_back(candidate.key);
      return wrong_at(reading.file, key.source(),
                      "unknown key '" + std::string(key.str()) + "'" +
                          (section.empty() ? "" : " in [" + std::string(section) + "]") +
                          did_you_mean(key.str(), known));
    }
    const std::string prefix = section.empty() ? "" : std::string(section) + ".";
    if (auto status = row->read({reading, prefix + std::string(key.str()), node}); !status) {
      return status;
    }
  }
  return {};
}

sys::Status read_section(const Entry& entry, std::span<const Row> rows) {
  const toml::table* table = entry.node.as_table();
  if (table == nullptr) return refused(entry, "a table; write [" + entry.key + "]");
  return read_rows(entry.reading, *table, entry.key, rows);
}

sys::Status read_schema(const Entry& entry) {
  if (entry.node.value<std::int64_t>() == kSchema) return {};
  return refused(entry, "a format that this version knows; write schema = 1");
}

sys::Status read_confinement(const Entry& entry) {
  const auto text = entry.node.value_or<std::string_view>("");
  for (const Confinement known : {Confinement::namespaces, Confinement::landlock}) {
    if (text != confinement_name(known)) continue;
    keep(entry, entry.reading.policy.confinement, known);
    return {};
  }
  return refused(entry, "a confinement; write \"namespaces\" or \"landlock\"");
}

sys::Result<Network> network_of(const Entry& entry) {
  const auto text = entry.node.value_or<std::string_view>("");
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
  const auto* value = entry.node.as_boolean();
  if (value == nullptr) return refused(entry, "true or false");
  keep(entry, entry.reading.policy.execute_writable, value->get());
  return {};
}

// A value of [limits] or [limits.max]: a text with its unit, or a bare number.
sys::Status read_limit(const Entry& entry, const LimitRow& row, LimitSettings& place,
                       bool is_maximum) {
  std::string text = written(entry.node);
  if (const auto* quoted = entry.node.as_string()) text = quoted->get();
  if (!entry.node.is_string() && !entry.node.is_number()) return refused(entry, "a limit");
  auto& setting = place[static_cast<std::size_t>(row.id)];
  if (is_maximum && text == "none") {
    keep(entry, setting, std::optional<std::uint64_t>());
    return {};
  }
  const auto value = parse_default(row, entry.key, text);
  if (!value) return wrong(entry, value.error().what);
  keep(entry, setting, *value);
  return {};
}

sys::Status read_limit_table(const Entry& entry, LimitSettings& place, bool is_maximum) {
  const toml::table* table = entry.node.as_table();
  if (table == nullptr) return refused(entry, "a table; write [" + entry.key + "]");
  std::vector<std::string_view> known;
  for (const LimitRow& row : limit_table()) known.push_back(row.key);
  if (!is_maximum) known.emplace_back("max");
  for (auto&& [key, node] : *table) {
    const Entry value{entry.reading, entry.key + "." + std::string(key.str()), node};
    const auto row = std::ranges::find(limit_table(), key.str(), &LimitRow::key);
    sys::Status status;
    if (row != limit_table().end()) {
      status = read_limit(value, *row, place, is_maximum);
    } else if (!is_maximum && key.str() == "max") {
      status = read_limit_table(value, entry.reading.policy.maxima, /*is_maximum=*/true);
    } else {
      return wrong_at(entry.reading.file, key.source(),
                      "unknown key '" + std::string(key.str()) + "' in [" + entry.key + "]" +
                          did_you_mean(key.str(), known));
    }
    if (!status) return status;
  }
  return {};
}

// A new element is begun for each [[mount]]; its rows fill the last one.
constexpr Row kMountKeys[] = {
    {"source",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.node.value_or<std::string>("");
       if (!text.starts_with('/')) return refused(entry, "an absolute path of the host");
       entry.reading.policy.mounts.back().value.source = text;
       return {};
     }},
    {"target",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.node.value_or<std::string>("");
       if (!text.starts_with('/')) return refused(entry, "an absolute path in the box");
       entry.reading.policy.mounts.back().value.target = text;
       return {};
     }},
    {"mode",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.node.value_or<std::string_view>("");
       if (text != "ro" && text != "rw") return refused(entry, "a mode; write \"ro\" or \"rw\"");
       entry.reading.policy.mounts.back().value.mode =
           text == "rw" ? MountMode::read_write : MountMode::read_only;
       return {};
     }},
};

sys::Status read_mounts(const Entry& entry) {
  return read_list(entry, "a list of tables; write [[mount]]", [](const Entry& element) {
    const toml::table* table = element.node.as_table();
    if (table == nullptr) return sys::Status(refused(element, "a table; write [[mount]]"));
    auto& mounts = element.reading.policy.mounts;
    mounts.push_back({{}, element.origin()});
    auto status = read_rows(element.reading, *table, "mount", kMountKeys);
    if (!status) return status;
    const Mount& mount = mounts.back().value;
    if (mount.source.empty() || mount.target.empty()) {
      return sys::Status(wrong(element, "mount: needs source and target"));
    }
    return status;
  });
}

sys::Result<Answer> answer_of(const Entry& entry, bool may_allow) {
  const auto answer = find_answer(entry.node.value_or<std::string_view>(""));
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
    if (const toml::table* table = element.node.as_table()) {
      auto status = read_rows(element.reading, *table, "syscalls.deny", kDenyKeys);
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
};

sys::Status read_environment(const Entry& entry) {
  const toml::table* table = entry.node.as_table();
  if (table == nullptr) return refused(entry, "a table; write [environment]");
  for (auto&& [key, node] : *table) {
    const Entry value{entry.reading, "environment." + std::string(key.str()), node};
    if (!node.is_string()) return refused(value, "a text in quotes");
    if (key.str().empty() || key.str().find('=') != std::string_view::npos) {
      return wrong(value, value.key + ": not the name of a variable");
    }
    entry.reading.policy.environment.push_back(
        {{std::string(key.str()), node.value_or<std::string>("")}, value.origin()});
  }
  return {};
}

sys::Status read_danger(const Entry& entry, std::string what) {
  return text_of(entry, "a reason in quotes").map([&](std::string reason) {
    entry.reading.policy.dangers.push_back({{std::move(what), std::move(reason)}, entry.origin()});
  });
}

sys::Status read_lifted_calls(const Entry& entry) {
  const toml::table* table = entry.node.as_table();
  if (table == nullptr) return refused(entry, "a table; write [dangerous.syscalls]");
  for (auto&& [key, node] : *table) {
    const std::string what = std::string(kSyscallDanger) + std::string(key.str());
    const Entry value{entry.reading, "dangerous." + what, node};
    if (auto status = read_danger(value, what); !status) return status;
  }
  return {};
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
    {"execute_writable", read_execute_writable},
    {"limits",
     [](const Entry& entry) {
       return read_limit_table(entry, entry.reading.policy.limits, /*is_maximum=*/false);
     }},
    {"network", [](const Entry& entry) { return read_section(entry, kNetworkKeys); }},
    {"mount", read_mounts},
    {"syscalls", [](const Entry& entry) { return read_section(entry, kSyscallKeys); }},
    {"environment", read_environment},
    {"dangerous", [](const Entry& entry) { return read_section(entry, kDangerKeys); }},
    // The next three are a policy's alone, the last one a configuration's.
    {"name", [](const Entry& entry) { return read_text(entry, entry.reading.policy.name); }},
    {"description",
     [](const Entry& entry) { return read_text(entry, entry.reading.policy.description); }},
    {"extends", [](const Entry& entry) { return read_text(entry, entry.reading.policy.extends); }},
    {"policy", [](const Entry& entry) { return read_text(entry, entry.reading.policy.chosen); }},
};
constexpr std::size_t kSharedKeys = std::size(kKeys) - 4;

std::vector<Row> keys_of(FileKind kind) {
  std::vector<Row> rows(std::begin(kKeys), std::begin(kKeys) + kSharedKeys);
  if (kind == FileKind::policy) {
    rows.insert(rows.end(), std::begin(kKeys) + kSharedKeys, std::end(kKeys) - 1);
  } else {
    rows.push_back(std::end(kKeys)[-1]);
  }
  return rows;
}

sys::Result<toml::table> parse(std::string_view text, std::string_view file) {
  toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    return wrong_at(file, parsed.error().source(), std::string(parsed.error().description()));
  }
  if (!parsed.table().contains("schema")) {
    return tl::unexpected(
        sys::plain_error(std::string(file) + ": no schema; write schema = 1 at its top"));
  }
  return std::move(parsed).table();
}

}  // namespace

sys::Result<Policy> read_policy(std::string_view text, std::string_view file, FileKind kind) {
  const auto table = parse(text, file);
  if (!table) return tl::unexpected(table.error());
  Reading reading{file, kind, {}};
  if (auto status = read_rows(reading, *table, "", keys_of(kind)); !status) {
    return tl::unexpected(status.error());
  }
  return std::move(reading.policy);
}

sys::Result<SyscallGroups> read_syscall_groups(std::string_view text, std::string_view file) {
  const auto table = parse(text, file);
  if (!table) return tl::unexpected(table.error());
  SyscallGroups groups;
  Reading reading{file, FileKind::policy, {}};
  const toml::table* named = table->at_path("groups").as_table();
  if (named == nullptr) {
    return tl::unexpected(sys::plain_error(std::string(file) + ": no [groups]"));
  }
  for (auto&& [name, node] : *named) {
    std::vector<Setting<std::string>> calls;
    const Entry entry{reading, "groups." + std::string(name.str()), node};
    if (auto status = read_texts(entry, "a list of system calls", calls); !status) {
      return tl::unexpected(status.error());
    }
    auto& group = groups[std::string(name.str())];
    for (Setting<std::string>& call : calls) group.push_back(std::move(call.value));
  }
  return groups;
}

}  // namespace wardcase::policies

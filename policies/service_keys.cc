// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/service_keys.h"

#include <algorithm>
#include <iterator>

namespace wardcase::policies {
namespace {

constexpr std::size_t kMostRules = 256;
constexpr std::size_t kMostQuotas = 4096;
constexpr std::size_t kMostHosts = 64;
constexpr std::string_view kTokenPrefix = "token:";

// A text with its unit, or a bare number.
sys::Result<std::uint64_t> amount_of(const Entry& entry, Unit unit) {
  const bool is_text = entry.node.kind == TomlNode::Kind::text;
  const bool is_number =
      entry.node.kind == TomlNode::Kind::integer || entry.node.kind == TomlNode::Kind::real;
  if (!is_text && !is_number) return refused(entry, "a number, or a text with its unit");
  auto value = parse_amount(unit, is_text ? entry.node.text : written(entry.node));
  if (!value) return wrong(entry, entry.key + ": " + value.error().what);
  return value;
}

sys::Status read_hosts(const Entry& entry) {
  constexpr std::string_view kAccepted = "a list of names, as \"box.example\"";
  std::vector<Setting<std::string>> read;
  if (auto status = read_texts(entry, kAccepted, read); !status) return status;
  if (read.size() > kMostHosts) {
    return wrong(entry, entry.key + ": more than " + std::to_string(kMostHosts));
  }
  std::vector<std::string> hosts;
  for (Setting<std::string>& host : read) {
    if (host.value.find_first_of(":/ ") != std::string::npos) {
      return wrong(entry, entry.key + ": '" + host.value + "': not a name without scheme and port");
    }
    std::ranges::transform(host.value, host.value.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    hosts.push_back(std::move(host.value));
  }
  keep(entry, entry.reading.policy.service.hosts, std::move(hosts));
  return {};
}

// Beside the numbers.
constexpr Row kServerTexts[] = {
    {"listen",
     [](const Entry& entry) { return read_text(entry, entry.reading.policy.service.listen); }},
    {"tokens",
     [](const Entry& entry) -> sys::Status {
       if (!entry.text().starts_with('/')) return refused(entry, "an absolute path of the host");
       return read_text(entry, entry.reading.policy.service.tokens);
     }},
    {"hosts", read_hosts},
};

// A new element is begun for each [[access]]; its rows fill the last one.
AccessRule& rule_of(const Entry& entry) { return entry.reading.policy.service.access.back().value; }

sys::Status read_name(const Entry& entry, std::string& place) {
  return text_of(entry, "a name in quotes").map([&](std::string name) { place = std::move(name); });
}

constexpr Row kAccessKeys[] = {
    {"user", [](const Entry& entry) { return read_name(entry, rule_of(entry).user); }},
    {"group", [](const Entry& entry) { return read_name(entry, rule_of(entry).group); }},
    {"role",
     [](const Entry& entry) -> sys::Status {
       for (const Role role : {Role::run, Role::admin}) {
         if (entry.text() != role_name(role)) continue;
         rule_of(entry).role = role;
         return {};
       }
       return refused(entry, "a role; write \"run\" or \"admin\"");
     }},
};

sys::Status read_quota(const Entry& entry, NamedQuota& quota) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    const auto row = std::ranges::find(quota_table(), name, &QuotaRow::key);
    if (row == quota_table().end()) {
      std::vector<std::string_view> known;
      for (const QuotaRow& candidate : quota_table()) known.push_back(candidate.key);
      return unknown_key(entry.reading, entry.node, index, entry.key, known);
    }
    auto& place = quota.values[static_cast<std::size_t>(row->id)];
    if (value.text() == "none") {
      keep(value, place, std::optional<std::uint64_t>());
      return {};
    }
    return amount_of(value, row->unit).map([&](std::uint64_t amount) {
      keep(value, place, std::optional(amount));
    });
  });
}

bool names_a_caller(std::string_view name) {
  const bool is_token = name.starts_with(kTokenPrefix);
  if (is_token) name.remove_prefix(kTokenPrefix.size());
  if (!is_token && name.starts_with('@')) name.remove_prefix(1);
  return !name.empty() && name.find_first_of(": @") == std::string_view::npos;
}

}  // namespace

sys::Status read_server(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    const auto* const text = std::ranges::find(kServerTexts, name, &Row::key);
    if (text != std::end(kServerTexts)) return text->read(value);
    const auto row = std::ranges::find(server_table(), name, &ServerRow::key);
    if (row != server_table().end()) {
      auto& options = entry.reading.policy.service.options;
      return amount_of(value, row->unit).map([&](std::uint64_t amount) {
        keep(value, options[static_cast<std::size_t>(row->id)], amount);
      });
    }
    std::vector<std::string_view> known;
    for (const Row& candidate : kServerTexts) known.push_back(candidate.key);
    for (const ServerRow& candidate : server_table()) known.push_back(candidate.key);
    return unknown_key(entry.reading, entry.node, index, entry.key, known);
  });
}

sys::Status read_access(const Entry& entry) {
  return read_list(entry, "a list of tables; write [[access]]", [&](const Entry& element) {
    if (element.node.kind != TomlNode::Kind::table) {
      return sys::Status(refused(element, "a table; write [[access]]"));
    }
    auto& rules = element.reading.policy.service.access;
    if (rules.size() == kMostRules) {
      return sys::Status(wrong(element, "access: more than " + std::to_string(kMostRules)));
    }
    rules.push_back({{}, element.origin()});
    auto status = read_rows(element, "access", kAccessKeys);
    const AccessRule& rule = rules.back().value;
    const bool has_one = rule.user.empty() != rule.group.empty();
    if (!status) return status;
    if (!has_one || element.node.find("role") == nullptr) {
      return sys::Status(wrong(element, "access: needs role, and user or group"));
    }
    return status;
  });
}

sys::Status read_quotas(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    auto& quotas = entry.reading.policy.service.quotas;
    if (quotas.size() == kMostQuotas) {
      return wrong(value, "quota: more than " + std::to_string(kMostQuotas));
    }
    if (!names_a_caller(name)) {
      return wrong(value, "quota: '" + name +
                              "': not a caller; write default, a user, \"@GROUP\" or "
                              "\"token:NAME\"");
    }
    quotas.push_back({name, {}});
    return read_quota(value, quotas.back());
  });
}

}  // namespace wardcase::policies

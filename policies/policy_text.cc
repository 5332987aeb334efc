// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_text.h"

#include <array>
#include <cstdio>
#include <utility>

namespace wardcase::policies {
namespace {

// A basic string of TOML.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> code;
      (void)std::snprintf(code.data(), code.size(), "\\u%04x", byte);  // six characters fit
      result += code.data();
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "\"";
}

// A limit that parse_default reads back to the same value.
std::string limit_value(const LimitRow& row, std::optional<std::uint64_t> value) {
  return value ? write_amount(row.unit, *value) : "\"none\"";
}

std::string_view mode_name(MountMode mode) { return mode == MountMode::read_write ? "rw" : "ro"; }

class Writer {
 public:
  explicit Writer(Origins origins) : origins_(origins) {}

  // The heading of a table; written before its first line, so that none stays empty.
  void section(std::string heading) { heading_ = "\n" + std::move(heading) + "\n"; }

  void line(std::string text, const std::string& origin) {
    text_ += heading_;
    heading_.clear();
    if (origins_ == Origins::shown) {
      constexpr std::size_t kColumn = 40;
      if (text.size() < kColumn) text.resize(kColumn, ' ');
      text += " # " + origin;
    }
    text_ += text + "\n";
  }
  template <typename T, typename Format>
  void value(std::string_view key, const Maybe<T>& setting, Format format) {
    if (setting) line(std::string(key) + " = " + format(setting->value), setting->origin);
  }
  // A list with a line for each element, whose origins may differ.
  template <typename T, typename Format>
  void list(std::string_view key, const std::vector<Setting<T>>& settings, Format format) {
    if (settings.empty()) return;
    text_ += std::exchange(heading_, "") + std::string(key) + " = [\n";
    for (const Setting<T>& setting : settings) {
      line("  " + format(setting.value) + ",", setting.origin);
    }
    text_ += "]\n";
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  Origins origins_;
  std::string heading_;
  std::string text_;
};

void write_limits(Writer& writer, const Policy& policy) {
  for (const LimitRow& row : limit_table()) {
    writer.value(row.key, policy.limits[static_cast<std::size_t>(row.id)],
                 [&](const auto& value) { return limit_value(row, value); });
  }
  writer.section("[limits.max]");
  for (const LimitRow& row : limit_table()) {
    writer.value(row.key, policy.maxima[static_cast<std::size_t>(row.id)],
                 [&](const auto& value) { return limit_value(row, value); });
  }
}

template <typename T, typename Format>
std::string one_line(const std::vector<T>& values, Format format) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + format(value);
  return "[" + text + "]";
}

void write_network(Writer& writer, const Policy& policy) {
  const auto format = [](Network network) { return quoted(network_name(network)); };
  writer.value("default", policy.network, format);
  writer.value("allowed", policy.allowed_networks,
               [&](const auto& networks) { return one_line(networks, format); });
}

void write_install(Writer& writer, const InstallSettings& install) {
  writer.section("[network.install]");
  for (const Installer installer : {Installer::pip, Installer::npm}) {
    writer.value(installer_name(installer), install.urls_of(installer),
                 [](const auto& urls) { return one_line(urls, quoted); });
  }
  writer.section("[install]");
  writer.value("find_links", install.find_links,
               [](const auto& directories) { return one_line(directories, quoted); });
  for (const LimitRow& row : limit_table()) {
    writer.value(row.key, install.limits[static_cast<std::size_t>(row.id)],
                 [&](const auto& value) { return limit_value(row, value); });
  }
}

void write_syscalls(Writer& writer, const Policy& policy) {
  writer.value("default", policy.standard_answer,
               [](Answer answer) { return quoted(answer_name(answer)); });
  writer.list("allow", policy.allowed_calls, quoted);
  writer.list("deny", policy.denied_calls, [](const Denial& denial) {
    return "{ call = " + quoted(denial.call) + ", as = " + quoted(answer_name(denial.answer)) +
           ", why = " + quoted(denial.why) + " }";
  });
  writer.value("openable", policy.openable_calls,
               [](const auto& calls) { return one_line(calls, quoted); });
}

void write_dangers(Writer& writer, const Policy& policy, bool syscalls) {
  for (const Setting<Danger>& danger : policy.dangers) {
    const std::string& what = danger.value.what;
    if (what.starts_with(kSyscallDanger) != syscalls) continue;
    const std::string key = syscalls ? quoted(what.substr(kSyscallDanger.size())) : what;
    writer.line(key + " = " + quoted(danger.value.reason), danger.origin);
  }
}

void write_service(Writer& writer, const ServiceSettings& service) {
  writer.section("[server]");
  writer.value("listen", service.listen, quoted);
  writer.value("tokens", service.tokens, quoted);
  writer.value("hosts", service.hosts, [](const auto& hosts) { return one_line(hosts, quoted); });
  for (const ServerRow& row : server_table()) {
    writer.value(row.key, service.option(row.id),
                 [&](std::uint64_t value) { return write_amount(row.unit, value); });
  }
  for (const Setting<AccessRule>& rule : service.access) {
    writer.section("[[access]]");
    const auto& [user, group, role] = rule.value;
    writer.line((user.empty() ? "group = " + quoted(group) : "user = " + quoted(user)),
                rule.origin);
    writer.line("role = " + quoted(role_name(role)), rule.origin);
  }
  for (const NamedQuota& quota : service.quotas) {
    writer.section("[quota." + quoted(quota.name) + "]");
    for (const QuotaRow& row : quota_table()) {
      writer.value(row.key, quota.values[static_cast<std::size_t>(row.id)],
                   [&](const std::optional<std::uint64_t>& value) {
                     return value ? write_amount(row.unit, *value) : quoted("none");
                   });
    }
  }
}

}  // namespace

std::string to_toml(const Policy& policy, Origins origins) {
  Writer writer(origins);
  writer.line("schema = 1", std::string(kBuiltIn));
  writer.value("name", policy.name, quoted);
  writer.value("description", policy.description, quoted);
  writer.value("policy", policy.chosen, quoted);
  writer.value("confinement", policy.confinement,
               [](Confinement value) { return quoted(confinement_name(value)); });
  writer.value("oom", policy.oom, [](OomAnswer value) { return quoted(oom_answer_name(value)); });
  writer.value("execute_writable", policy.execute_writable,
               [](bool value) { return std::string(value ? "true" : "false"); });
  writer.list("require", policy.require, quoted);
  writer.section("[limits]");
  write_limits(writer, policy);
  writer.section("[network]");
  write_network(writer, policy);
  write_install(writer, policy.install);
  for (const Setting<Mount>& mount : policy.mounts) {
    writer.section("[[mount]]");
    writer.line("source = " + quoted(mount.value.source), mount.origin);
    writer.line("target = " + quoted(mount.value.target), mount.origin);
    writer.line("mode = " + quoted(mode_name(mount.value.mode)), mount.origin);
  }
  for (const Setting<HostRoot>& root : policy.host_roots) {
    writer.section("[[host_root]]");
    writer.line("path = " + quoted(root.value.path), root.origin);
    writer.line("mode = " + quoted(mode_name(root.value.mode)), root.origin);
  }
  writer.section("[syscalls]");
  write_syscalls(writer, policy);
  writer.section("[environment]");
  for (const Setting<Variable>& variable : policy.environment) {
    writer.line(quoted(variable.value.name) + " = " + quoted(variable.value.value),
                variable.origin);
  }
  writer.section("[deny_code]");
  for (const Setting<DeniedCode>& denied : policy.denied_code) {
    writer.line(quoted(denied.value.name) + " = { pattern = " + quoted(denied.value.pattern) +
                    ", languages = " + one_line(denied.value.languages, quoted) +
                    (denied.value.why.empty() ? "" : ", why = " + quoted(denied.value.why)) + " }",
                denied.origin);
  }
  writer.section("[prelude]");
  for (const Setting<Variable>& prelude : policy.preludes) {
    writer.line(quoted(prelude.value.name) + " = " + quoted(prelude.value.value), prelude.origin);
  }
  writer.section("[dangerous]");
  write_dangers(writer, policy, /*syscalls=*/false);
  writer.section("[dangerous.syscalls]");
  write_dangers(writer, policy, /*syscalls=*/true);
  write_service(writer, policy.service);
  return std::move(writer).take();
}

}  // namespace wardcase::policies

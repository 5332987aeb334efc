// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/policy_command.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "policies/policy_text.h"
#include "policies/shipped_policies.h"
#include "sandbox/seccomp_filter.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/options.h"
#include "supervisor/config/config.h"

namespace wardcase::supervisor {

namespace {

constexpr int kWrongUse = 125;
constexpr int kFailedCheck = 1;

constexpr std::string_view kPolicyHelp =
    R"(wardcase policy: shows and checks policies; wardcase-policy(5) has their format.

  wardcase policy list                  those that --policy takes by name
  wardcase policy show NAME             one of them, or a FILE, as it was written
  wardcase policy show --resolved NAME  all that holds under it (--origin: and who said so)
  wardcase policy check FILE            whether it can be used; exit code 1 if not

`wardcase policy show groups` shows the groups of system calls.
)";

constexpr std::string_view kConfigHelp =
    R"(wardcase config: shows and checks what the configuration files say.

  wardcase config show                  all that holds for a run without options
  wardcase config show --origin         and which file said so
  wardcase config check                 whether the files can be used; exit code 1 if not

Files, each stronger than the one before: /etc/wardcase/wardcase.toml,
~/.config/wardcase/wardcase.toml, .wardcase.toml in the working directory, which may only
tighten. WARDCASE_POLICY, WARDCASE_TIMEOUT and so on are stronger, and options strongest.
)";

int fail(const sys::Error& error, int exit_code) {
  Console(Verbosity::normal).say(error.message());
  return exit_code;
}

int wrong(const std::string& what) { return fail(sys::plain_error(what), kWrongUse); }

int print(std::string_view text) { return write_all(STDOUT_FILENO, text) ? 0 : kWrongUse; }

// The filter knows which names are system calls.
sys::Result<Configuration> check_calls(sys::Result<Configuration> loaded) {
  if (!loaded) return loaded;
  const auto filter = sandbox::compile_filter(
      policies::change(policies::default_syscall_policy({}), loaded->syscalls));
  if (filter) return loaded;
  return tl::unexpected(
      sys::Error(filter.error()).while_doing("policy '" + loaded->policy.name->value + "'"));
}

int list() {
  std::string text;
  constexpr std::size_t kNameWidth = 16;
  for (const ListedPolicy& policy : list_policies(config_places())) {
    std::string line = printable(policy.name);
    line.resize(std::max(kNameWidth, line.size() + 1), ' ');
    line += printable(policy.description.empty() ? policy.place : policy.description);
    if (policy.place != policies::kBuiltIn && !policy.description.empty()) {
      line += " (" + printable(policy.place) + ")";
    }
    text += line + "\n";
  }
  return print(text);
}

// @GROUPs of the built-in rules, which stand in no file.
std::string built_in_group_text() {
  std::string text = "\n# Refused everywhere, each as its rule says:\n";
  for (const policies::SyscallGroup& group : policies::built_in_groups()) {
    text += "# " + std::string(group.name) + " (" + std::string(group.why) + "):";
    for (const std::string_view call : group.calls) text += " " + std::string(call);
    text += "\n";
  }
  return text;
}

policies::Origins origins_of(const CommandLine& line) {
  return line.has("origin") ? policies::Origins::shown : policies::Origins::left_out;
}

int show(const CommandLine& line) {
  if (line.operands().size() != 1) return wrong("policy show: write one NAME or FILE");
  const std::string& asked = line.operands()[0];
  if (line.has("resolved") || line.has("origin")) {
    const auto loaded = check_calls(load_policy(config_places(), asked));
    if (!loaded) return fail(loaded.error(), kFailedCheck);
    return print(policies::to_toml(loaded->policy, origins_of(line)));
  }
  const auto text = read_policy_text(config_places(), asked);
  if (!text) return fail(text.error(), kFailedCheck);
  return print(asked == policies::kGroupsName ? *text + built_in_group_text() : *text);
}

int check(const CommandLine& line) {
  if (line.operands().size() != 1) return wrong("policy check: write one FILE or NAME");
  const std::string& asked = line.operands()[0];
  const auto loaded = check_calls(load_policy(config_places(), asked));
  if (!loaded) return fail(loaded.error(), kFailedCheck);
  return print(printable(asked) + ": ok\n");
}

// The verb's word, then its options, which may stand on either side of the operand.
sys::Result<CommandLine> parse_rest(std::span<const OptionRow> table,
                                    std::span<const std::string> words) {
  std::vector<std::string> ordered(words.begin(), words.end());
  // Not std::ranges: clang 14 can't compile what that returns.
  (void)std::stable_partition(ordered.begin(), ordered.end(),
                              [](const std::string& word) { return word.starts_with("--"); });
  return CommandLine::parse(table, ordered);
}

}  // namespace

std::vector<OptionRow> policy_option_table() {
  return {{"resolved", "", "", "with all that it leaves to others"},
          {"origin", "", "", "with the place of each value"}};
}

std::vector<OptionRow> config_option_table() {
  return {{"origin", "", "", "with the place of each value"}};
}

int print_policy_help() { return print(kPolicyHelp); }
int print_config_help() { return print(kConfigHelp); }

int policy_command(std::span<const std::string> words) {
  if (words.empty()) return wrong("policy: write list, show NAME or check FILE");
  const std::vector<OptionRow> table = policy_option_table();
  const bool is_show = words[0] == "show";
  const auto line = parse_rest(
      is_show ? std::span<const OptionRow>(table) : std::span<const OptionRow>(), words.subspan(1));
  if (!line) return wrong("policy " + words[0] + ": " + line.error().message());
  if (is_show) return show(*line);
  if (words[0] == "check") return check(*line);
  if (words[0] != "list") return wrong("policy '" + words[0] + "': write list, show or check");
  if (!line->operands().empty()) return wrong("policy list: takes no arguments");
  return list();
}

int config_command(std::span<const std::string> words) {
  if (words.empty()) return wrong("config: write show or check");
  const std::vector<OptionRow> table = config_option_table();
  const bool is_show = words[0] == "show";
  if (!is_show && words[0] != "check") {
    return wrong("config '" + words[0] + "': write show or check");
  }
  const auto line = parse_rest(
      is_show ? std::span<const OptionRow>(table) : std::span<const OptionRow>(), words.subspan(1));
  if (!line) return wrong("config " + words[0] + ": " + line.error().message());
  if (!line->operands().empty()) return wrong("config " + words[0] + ": takes no arguments");
  auto loaded = check_calls(load_configuration(config_places(), policy_variable()));
  if (!loaded) return fail(loaded.error(), kFailedCheck);
  auto& service = loaded->policy.service;
  service = policies::lay_over(policies::built_in_service(), service);
  return print(is_show ? policies::to_toml(loaded->policy, origins_of(*line)) : "ok\n");
}

}  // namespace wardcase::supervisor

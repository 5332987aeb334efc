// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "sandbox/cgroup.h"
#include "supervisor/cli/color.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/user_scope.h"
#include "supervisor/config/config.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

namespace {

namespace json = boost::json;

using sandbox::CheckState;
using sandbox::HostCheck;

constexpr int kWrongUse = 125;
constexpr int kSchemaVersion = 1;
constexpr std::size_t kNameWidth = 18;
constexpr std::size_t kStateWidth = 6;

struct StateWords {
  std::string_view shown;
  std::string_view key;  // in JSON
  Tone tone;
};

StateWords words_of(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return {"ok", "ok", Tone::good};
    case CheckState::warn:
      return {"warn", "warn", Tone::doubtful};
    case CheckState::fail:
      break;
  }
  return {"FAIL", "fail", Tone::bad};
}

bool is_ok(std::span<const HostCheck> checks) {
  return std::ranges::none_of(
      checks, [](const HostCheck& check) { return check.state == CheckState::fail; });
}

std::string lines_of(const HostCheck& check, bool is_colored) {
  const StateWords words = words_of(check.state);
  std::string lines = is_colored ? painted(words.shown, words.tone) : std::string(words.shown);
  lines.append(kStateWidth - words.shown.size(), ' ');
  std::string name = check.name;
  name.resize(std::max(kNameWidth, name.size() + 1), ' ');
  lines += name + printable(check.detail) + "\n";
  if (!check.fix.empty()) lines += std::string(kStateWidth, ' ') + "fix: " + check.fix + "\n";
  return lines;
}

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say("doctor: " + error.message());
  return kWrongUse;
}

// So that the control groups are judged that a run would have. Why it got none, if so.
sys::Status enter_scope_as_a_run_would() {
  const auto host = sandbox::CgroupHost::find();
  return ::geteuid() != 0 && host && host->is_v2() ? enter_user_scope() : sys::Status();
}

void add_reason(std::vector<HostCheck>& checks, const std::string& why) {
  const auto groups = std::ranges::find(checks, "control groups", &HostCheck::name);
  if (groups == checks.end() || groups->state == CheckState::ok) return;
  groups->detail += "; no group of one's own: " + why;
}

// What nobody installed is not amiss: those languages share a line.
void add_languages(std::span<const FoundInterpreter> found, std::vector<HostCheck>& checks) {
  std::string others;
  for (const FoundInterpreter& one : found) {
    if (one.usability == Usability::usable || one.usability == Usability::broken) {
      checks.push_back(check_of(one));
    } else {
      others += (others.empty() ? "" : ", ") + one.language;
    }
  }
  if (others.empty()) return;
  checks.push_back({"other languages", CheckState::ok,
                    "not to be run here: " + others + "; wardcase languages tells why", ""});
}

}  // namespace

HostCheck check_of(const FoundInterpreter& interpreter) {
  HostCheck check = {interpreter.language, CheckState::ok, interpreter.path, interpreter.fix};
  if (interpreter.usability != Usability::usable) {
    check.state = CheckState::warn;
    check.detail = interpreter.problem;
  } else if (interpreter.version) {
    check.detail += ", " + *interpreter.version;
  }
  return check;
}

std::string checks_to_json(std::span<const HostCheck> checks) {
  json::array all;
  for (const HostCheck& check : checks) {
    all.emplace_back(json::object{{"name", to_json_text(check.name)},
                                  {"state", words_of(check.state).key},
                                  {"detail", to_json_text(check.detail)},
                                  {"fix", to_json_text(check.fix)}});
  }
  return json::serialize(json::object{
      {"schema_version", kSchemaVersion}, {"ok", is_ok(checks)}, {"checks", std::move(all)}});
}

std::vector<OptionRow> doctor_option_table() {
  return {{"json", "", "", "print one JSON object instead of lines"}, color_option("")};
}

int doctor_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(doctor_option_table(), words);
  if (!line) return fail(line.error());
  if (!line->operands().empty()) {
    return fail(sys::plain_error("takes no arguments, not '" + line->operands()[0] + "'"));
  }
  const auto color = color_of(*line);
  if (!color) return fail(color.error());
  const auto entered = enter_scope_as_a_run_would();
  std::vector<HostCheck> checks = sandbox::check_host();
  if (!entered) add_reason(checks, entered.error().message());
  const auto languages = load_languages(config_places());
  if (!languages) return fail(languages.error());
  add_languages(find_interpreters(languages->all(), kBoxPath), checks);
  std::string text;
  if (line->has("json")) {
    text = checks_to_json(checks) + "\n";
  } else {
    const bool is_colored = has_color(*color, STDOUT_FILENO);
    for (const HostCheck& check : checks) text += lines_of(check, is_colored);
  }
  if (!write_all(STDOUT_FILENO, text)) return kWrongUse;
  return is_ok(checks) ? 0 : 1;
}

}  // namespace wardcase::supervisor

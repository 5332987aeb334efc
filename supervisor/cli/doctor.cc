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

}  // namespace

HostCheck check_of(const FoundInterpreter& interpreter) {
  HostCheck check = {std::string(interpreter.language), CheckState::ok, "", ""};
  if (interpreter.path.empty()) {
    check.state = CheckState::warn;
    check.detail = "no interpreter on the box's PATH";
    check.fix = "install one below /usr, or name one with --interpreter PATH";
  } else if (!interpreter.version) {
    check.state = CheckState::warn;
    check.detail = interpreter.path + " --version fails or says nothing";
    check.fix = "install it anew, or name another with --interpreter PATH";
  } else {
    check.detail = interpreter.path + ", " + *interpreter.version;
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
  for (const FoundInterpreter& interpreter : find_interpreters(kBoxPath)) {
    checks.push_back(check_of(interpreter));
  }
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

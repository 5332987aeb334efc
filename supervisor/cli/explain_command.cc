// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/explain_command.h"

#include <unistd.h>

#include <optional>
#include <vector>

#include "supervisor/cli/options.h"
#include "supervisor/cli/run_notes.h"
#include "supervisor/cli/run_report.h"

namespace wardcase::supervisor {
namespace {

constexpr int kWrongUse = 125;
constexpr int kUnknown = 1;

constexpr std::string_view kHelp =
    R"(wardcase explain: tells what became of a past run, and why.

  wardcase explain             the last run
  wardcase explain run_ID      the run of this id; --json and --events tell it
  wardcase explain --json      its record, without the program's output, which is not kept

The last hundred runs of a user are remembered, in ~/.local/state/wardcase/runs.
)";

int fail(const sys::Error& error, int exit_code) {
  Console(Verbosity::normal).say("explain: " + error.message());
  return exit_code;
}

std::string end_of(const RunRecord& record) {
  std::string text = record.id + ": " + std::string(status_name(record.status));
  if (record.exit_code && record.status == RunStatus::exited) {
    return text + " with " + std::to_string(*record.exit_code);
  }
  if (record.signal && record.status == RunStatus::signaled) {
    return text + " by " + signal_name(*record.signal);
  }
  return text + ", exit code " + std::to_string(exit_code_of(record));
}

std::vector<std::string> lines_about(const RunRecord& record) {
  std::vector<std::string> lines = {end_of(record)};
  if (std::string reason = explain_end(record); !reason.empty()) lines.push_back(std::move(reason));
  for (std::string& line : describe_refusals(record)) lines.push_back(std::move(line));
  if (!record.hint.empty()) lines.push_back("hint: " + record.hint);
  if (!record.limits_hit.empty()) {
    std::string hit = "limits reached:";
    for (const std::string& name : record.limits_hit) hit += " " + name;
    lines.push_back(std::move(hit));
  }
  for (std::string& line : describe_isolation(record)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

int print_explain_help() { return write_all(STDOUT_FILENO, kHelp) ? 0 : kWrongUse; }

std::vector<OptionRow> explain_option_table() {
  return {{"json", "", "", "print the record of the run"}};
}

int explain_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(explain_option_table(), words);
  if (!line) return fail(line.error(), kWrongUse);
  const auto ids = line->operands();
  if (ids.size() > 1) return fail(sys::plain_error("write one ID, or none"), kWrongUse);
  const auto notes = RunNotes::open(Missing::is_error);
  if (!notes) return fail(notes.error(), kUnknown);
  const auto note = notes->find(ids.empty() ? std::nullopt : std::optional(ids[0]));
  if (!note) return fail(note.error(), kUnknown);
  std::string text;
  if (line->has("json")) {
    text = note->record + "\n";
  } else {
    for (const std::string& told : note->lines) text += printable(told) + "\n";
    text += "ended at " + printable(note->ended_at) + "\n";
  }
  return write_all(STDOUT_FILENO, text) ? 0 : kWrongUse;
}

void remember_run(const RunRecord& record, const Console& console) {
  const std::string note = format_note(record, lines_about(record));
  if (note.empty()) return;
  const auto kept = RunNotes::open(Missing::is_made).and_then([&](const RunNotes& notes) {
    return notes.add(record.id, note);
  });
  if (!kept) console.say_more("not remembered for explain: " + kept.error().message());
}

}  // namespace wardcase::supervisor

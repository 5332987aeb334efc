// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_in_session.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "supervisor/cli/companion.h"
#include "supervisor/cli/exec_command.h"
#include "supervisor/cli/session_client.h"
#include "supervisor/cli/session_options.h"
#include "supervisor/cli/session_transfer.h"
#include "supervisor/languages/program_file.h"
#include "supervisor/sessions/session_place.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;

// Of run's options those that are about the program, beside limits; the session's own are more.
constexpr std::array kOfProgram = {"language", "code",     "session",     "interactive",
                                   "json",     "events",   "base64",      "exit-zero",
                                   "quiet",    "verbose",  "color",       "file",
                                   "out",      "validate", "requirement", "requirements"};

// What serves in place of those that make no sense there.
constexpr std::pair<std::string_view, std::string_view> kInstead[] = {
    {"workspace", "show it by -v DIR:/box:rw"},
    {"workdir", "change the directory in the program"},
    {"interpreter", "show it by -v, and start it from the program"},
    {"dry-run", "leave --session out"},
    {"tty", "wardcase repl has a prompt"},
    {"stdin", "redirect ours to the file, with -i"},
    {"merge-stderr", "output of the record, by --json, has both"},
    {"status-fd", "--events writes them to stdout"},
    {"encoding-fallback", "--base64 has the bytes"},
    {"save-output", "redirect our stdout and stderr"},
    {"meta", "--json has all of it"},
    {"timing", "nothing is launched in a session that is there"},
};

tl::unexpected<sys::Error> wrong(const std::string& what) {
  return tl::unexpected(sys::plain_error(what));
}

bool is_of_program(const OptionRow& row) {
  return std::ranges::any_of(policies::limit_table(), [&](const policies::LimitRow& limit) {
    return limit.flag == row.name && is_limit_of_programs(limit.id);
  });
}

bool is_known(const OptionRow& row) {
  const std::vector<OptionRow> of_session = session_option_table();
  return std::ranges::find(kOfProgram, row.name) != kOfProgram.end() ||
         std::ranges::find(of_session, row.name, &OptionRow::name) != of_session.end();
}

// Those options that make the session, as `session new` reads them.
std::vector<std::string> words_for_new(const RunOptions& options) {
  std::vector<std::string> words = {"--id", *options.session};
  for (const OptionRow& row : session_option_table()) {
    if (row.name == "id" || row.name == "json" || is_of_program(row)) continue;
    if (row.name == "requirement" || row.name == "requirements") continue;  // the program's
    for (const std::string& value : options.line.all(row.name)) {
      words.push_back("--" + row.name);
      words.push_back(value);
    }
  }
  return words;
}

sys::Result<std::string> read_source(const ProgramSource& source) {
  using Kind = ProgramSource::Kind;
  if (source.kind == Kind::code) return source.text;
  if (source.kind == Kind::standard_input) return read_program(STDIN_FILENO);
  auto file = open_program(source.text);
  if (!file) {
    return tl::unexpected(std::move(file).error().while_doing("run '" + source.text + "'"));
  }
  return read_program(file->get());
}

sys::Result<ExecCall> make_call(const RunOptions& options) {
  for (const OptionRow& row : run_option_table()) {
    if (!options.line.has(row.name) || is_known(row)) continue;
    const auto* const found =
        std::ranges::find(kInstead, row.name, [](const auto& one) { return one.first; });
    const std::string_view instead = found == std::end(kInstead) ? "leave it out" : found->second;
    return wrong("--" + row.name + ": not with --session; " + std::string(instead));
  }
  using Kind = ProgramSource::Kind;
  const ProgramSource& source = options.source;
  if (source.kind == Kind::command) return wrong("--session: it runs code, not -- COMMAND");
  if (!source.arguments.empty()) {
    return wrong("'" + source.arguments.front() + "': programs of a session take no arguments");
  }
  ExecCall call;
  call.id = *options.session;
  call.passes_stdin = options.pass_stdin;
  call.is_json = options.mode == OutputMode::json;
  call.exit_zero = options.exit_zero;
  call.verbosity = options.verbosity;
  KeeperRequest& request = call.request;
  request.op = "exec";
  request.open_input = options.pass_stdin;
  request.wants_events = options.mode == OutputMode::events;
  request.wants_output = options.mode == OutputMode::pass_through;
  request.base64 = options.form == OutputForm::base64;
  request.validation = source.validation;
  if (source.language) request.language = *source.language;
  if (source.kind == Kind::file) {
    request.name = std::filesystem::path(source.text).filename().string();
  }
  for (const policies::LimitRow& row : policies::limit_table()) {
    const bool is_given = !row.flag.empty() && options.line.has(std::string(row.flag));
    if (!is_given || !is_limit_of_programs(row.id)) continue;
    request.limits.emplace_back(row.id, options.limits.get(row.id));
  }
  auto asked = read_requirements(source.requirements);
  if (!asked) return tl::unexpected(std::move(asked).error());
  request.requirements = *std::move(asked);
  auto code = read_source(source);
  if (!code) return tl::unexpected(std::move(code).error());
  request.code = *std::move(code);
  auto files = open_for_session(options.files);
  if (!files) return tl::unexpected(std::move(files).error());
  call.files = *std::move(files);
  if (options.out) {
    if (auto opened = open_out(*options.out, call); !opened) return tl::unexpected(opened.error());
  }
  return call;
}

// Its own words on stderr stay; its id, which is known, is not printed.
sys::Status make_session(const std::vector<std::string>& words) {
  auto companion = CompanionCall::make("session-new", words);
  if (!companion) return tl::unexpected(companion.error());
  const auto is_made = companion->run_quietly();
  if (!is_made) return tl::unexpected(is_made.error());
  if (*is_made) return {};
  return wrong("session '" + words[1] + "' was not made");
}

// Which language its first program had is nothing that a box is made of. Each word is a line.
std::string without_language(std::string words) {
  constexpr std::string_view kFlag = "\n--language\n";
  const std::size_t before = words.find(kFlag);
  if (before == std::string::npos) return words;
  const std::size_t end = words.find('\n', before + kFlag.size());
  return words.erase(before + 1, end - before);
}

// Its options are settled with the first program.
sys::Status check_options(const RunOptions& options) {
  KeeperRequest request;
  request.op = "state";
  const auto state = ask_session(*options.session, request);
  if (!state) return tl::unexpected(state.error());
  std::string words;
  for (const std::string& word : words_for_new(options)) words += word + "\n";
  words = without_language(std::move(words));
  const std::string made_with = without_language(text_member(*state, "made_with"));
  if (words == made_with || words == "--id\n" + *options.session + "\n") return {};
  return wrong("--session " + *options.session +
               ": it was made with other options for its box; give the same, or none");
}

sys::Result<int> run_it(const RunOptions& options) {
  auto call = make_call(options);
  if (!call) return tl::unexpected(std::move(call).error());
  auto connected = connect_session(call->id);
  if (!connected && connected.error().code == ENOENT) {
    if (!is_session_id(call->id)) {
      return wrong("--session '" + call->id + "': write [A-Za-z0-9._-]{1,64}");
    }
    const auto made = make_session(words_for_new(options));
    // Somebody else may have made it just now.
    if (!made && !connect_session(call->id)) return tl::unexpected(made.error());
  }
  connected = tl::unexpected(sys::Error{});
  if (auto same = check_options(options); !same) return tl::unexpected(same.error());
  return exec_in_session(*call);
}

}  // namespace

int run_in_session(const RunOptions& options) {
  const auto code = run_it(options);
  if (code) return *code;
  Console(options.verbosity).say(code.error().message());
  return kFailed;
}

}  // namespace wardcase::supervisor

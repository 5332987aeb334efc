// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/help.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "supervisor/cli/check_command.h"
#include "supervisor/cli/completion.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/doctor.h"
#include "supervisor/cli/explain_command.h"
#include "supervisor/cli/gc_command.h"
#include "supervisor/cli/languages_command.h"
#include "supervisor/cli/manual.h"
#include "supervisor/cli/options.h"
#include "supervisor/cli/policy_command.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/cli/serve_command.h"
#include "supervisor/cli/session_help.h"
#include "supervisor/cli/token_command.h"
#include "supervisor/cli/verbs.h"

namespace wardcase::supervisor {

namespace {

constexpr int kWrongUse = 125;
constexpr std::size_t kHelpColumn = 31;
constexpr std::size_t kWidth = 88;

constexpr std::string_view kOverviewHead =
    R"(wardcase: runs a program in a box of its own, watches it and says how it ended.

  wardcase run hello.py                      a file; its language by the suffix
  wardcase run -l python -c 'print(6 * 7)'   a piece of code
  wardcase run -- ls -la /                   any command
  wardcase run --json -m 64m hello.py        a JSON record instead of the output

Verbs:
)";

constexpr std::string_view kOverviewTail = R"(
No network, no files of the host but the system's own, and limits on time, memory and
processes, unless an option says otherwise. wardcase(1) has it all.
)";

constexpr std::string_view kRunHead =
    R"(wardcase run: runs a program in a fresh box; its output and exit code are passed on.

  wardcase run hello.py ARGS                       everything after the file is the program's
  wardcase run -l bash -c 'echo $HOSTNAME'
  generate | wardcase run -l python -              the program comes from stdin
  wardcase run -i sum.py < numbers                 the program reads our stdin
  wardcase run -v ./data:/data -- wc -l /data/a    a directory of the host, read-only
  wardcase run --workspace .:rw build.sh           works in the current directory
  wardcase run --timeout 5s -m 256m --json job.py

Usage: wardcase run [OPTIONS] FILE [ARGS]     wardcase run [OPTIONS] -l LANG -c CODE [ARGS]
       wardcase run [OPTIONS] -- COMMAND      wardcase run [OPTIONS] -l LANG - [ARGS]

Options:
)";

constexpr std::string_view kRunTail = R"(
Times are written 500ms, 10s, 2m (a bare number is seconds), sizes 64k, 64m, 1g (a bare
number is bytes). WARDCASE_TIMEOUT, WARDCASE_MEMORY and so on set other defaults.

Exit code: the program's own; 124 a time or output limit; 137 out of memory; 159 a refused
system call; 128+n ended by signal n; 125 nothing ran; 126 can't be executed; 127 not found.
)";

constexpr std::string_view kDoctorHead =
    R"(wardcase doctor: tries each thing that a box needs, for real, and prints ok, warn or
FAIL with the cause and the fix. Exit code 0 without a FAIL, else 1.

)";

constexpr std::string_view kCheckHead =
    R"(wardcase check: looks at the syntax of programs, in a box, and executes nothing of them.
Exit code 0 where it is right, 1 where it is not, 125 where it can't be told.

  wardcase check main.py lib.py               files, one after the other
  wardcase check -l bash -c 'if true; then'   a piece of code
  wardcase check -l javascript -              what stdin holds

Options:
)";

constexpr std::string_view kServeHead =
    R"help(wardcase serve: answers requests for runs by HTTP, in the foreground, until a signal ends it.

  wardcase serve                              on a socket that is yours alone
  wardcase serve --listen tcp:127.0.0.1:7878  for everybody on this host
  curl --unix-socket "$XDG_RUNTIME_DIR/wardcase/api.sock" http://localhost/v1/runs \
    -H 'Content-Type: application/json' -d '{"language": "python", "code": "print(6 * 7)"}'

Sockets that systemd hands over come before --listen. wardcased(8) has it all.

)help";

// Breaks at blanks; lines after the first begin at the column of the text.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string lines;
  const std::size_t room = kWidth - column;
  while (text.size() > room) {
    std::size_t end = text.rfind(' ', room);
    if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    lines += std::string(text.substr(0, end)) + "\n" + std::string(column, ' ');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + std::string(text) + "\n";
}

std::string option_help(const OptionRow& row) {
  std::string line = row.short_name.empty() ? "      " : "  -" + row.short_name + ", ";
  line += "--" + row.name;
  if (!row.argument.empty()) line += (row.argument[0] == '[' ? "" : " ") + row.argument;
  if (line.size() + 2 > kHelpColumn) line += "\n";
  const std::size_t width = line.ends_with('\n') ? 0 : line.size();
  return line + std::string(kHelpColumn - width, ' ') + wrapped(row.help, kHelpColumn);
}

int print(std::string_view text) { return write_all(STDOUT_FILENO, text) ? 0 : kWrongUse; }

int wrong(const std::string& what) {
  Console(Verbosity::normal).say(what);
  return kWrongUse;
}

int print_with_options(std::string_view head, const std::vector<OptionRow>& table) {
  std::string text(head);
  for (const OptionRow& row : table) text += option_help(row);
  return print(text);
}

int print_overview() {
  constexpr std::size_t kVerbWidth = 10;
  std::string text(kOverviewHead);
  for (const Verb& verb : verb_table()) {
    std::string name(verb.name);
    name.resize(kVerbWidth, ' ');
    text += "  " + name + std::string(verb.help) + "\n";
  }
  return print(text.append(kOverviewTail));
}

}  // namespace

int print_run_help() {
  std::string text(kRunHead);
  for (const OptionRow& row : run_option_table()) text += option_help(row);
  return print(text.append(kRunTail));
}

std::vector<OptionRow> help_option_table() {
  return {
      {"completion", "", "SHELL", "print the script that completes our words in that shell", "", "",
       "bash|zsh|fish"},
      {"man", "", "", "print the options of run for wardcase(1), as mdoc(7)"},
  };
}

int help_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(help_option_table(), words);
  if (!line) return wrong("help: " + line.error().message());
  if (line->has("man")) return print(to_mdoc(run_option_table()));
  if (const std::string* shell = line->last("completion")) {
    const auto script = completion_script(*shell);
    return script ? print(*script)
                  : wrong("help --completion=" + *shell + ": write bash, zsh or fish");
  }
  if (line->operands().empty()) return print_overview();
  const std::string& verb = line->operands()[0];
  if (verb == "run") return print_run_help();
  if (verb == "policy") return print_policy_help();
  if (verb == "config") return print_config_help();
  if (verb == "explain") return print_explain_help();
  if (verb == "check") return print_with_options(kCheckHead, check_option_table());
  if (verb == "languages") return print_languages_help();
  if (verb == "doctor") return print_with_options(kDoctorHead, doctor_option_table());
  if (verb == "gc") return print_with_options(gc_help_head(), gc_option_table());
  if (const std::string_view head = session_help_head(verb); !head.empty()) {
    const auto verbs = verb_table();
    return print_with_options(head, std::ranges::find(verbs, verb, &Verb::name)->options());
  }
  if (verb == "token") return print_with_options(token_help_head(), token_option_table());
  if (verb == "serve") return print_with_options(kServeHead, serve_option_table());
  if (verb == "version") return print("wardcase version: prints name, version, architecture.\n");
  if (verb == "help") {
    std::string text = "wardcase help [VERB]: shows help. Verbs: " + verb_names(" ") + ".\n\n";
    for (const OptionRow& row : help_option_table()) text += option_help(row);
    return print(text);
  }
  return wrong("help " + verb + ": no such verb; it is one of " + verb_names(", "));
}

}  // namespace wardcase::supervisor

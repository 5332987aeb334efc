// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <algorithm>
#include <iterator>

#include "policies/language.h"
#include "policies/limits.h"
#include "supervisor/cli/run_options.h"

// --help, wardcase(1) and the completions of shells are made from these rows.
namespace wardcase::supervisor {

namespace {

constexpr std::string_view kProgram = "The program";
constexpr std::string_view kSight = "What it sees";
constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kOutput = "What comes out";

OptionRow limit_option(const policies::LimitRow& row) {
  std::string help(row.help);
  std::string range;
  if (row.standard) range = "default " + policies::format_limit(row, row.standard);
  if (row.maximum) {
    range += range.empty() ? "at most " : ", at most ";
    range += policies::format_limit(row, row.maximum);
  }
  if (!range.empty()) help += " (" + range + ")";
  return {std::string(row.flag),
          std::string(row.short_flag),
          std::string(row.argument),
          help,
          kLimits,
          row.none_allowed ? "none is allowed." : ""};
}

// Those of files are not offered by completions, which start often and read none.
std::string shipped_names() {
  std::string names;
  for (const policies::Language& language : policies::shipped_languages()) {
    names.append(names.empty() ? "" : "|").append(language.name);
  }
  return names;
}

// lint: table
std::vector<OptionRow> program_options() {
  return {
      {"language", "l", "NAME",
       "language of the program, such as python; else told by the file's suffix", kProgram,
       "wardcase languages lists them. The usual short names are known, too.", shipped_names()},
      {"code", "c", "CODE", "run CODE instead of a file; needs -l", kProgram},
      {"session", "", "ID", "run it in this session, which is made with the first program",
       kProgram,
       "Its interpreter keeps what programs leave in it, and /box their files; see SESSIONS. "
       "Options about the box are those of wardcase session new, and have to be the same each "
       "time."},
      {"interpreter", "", "PATH", "run the program by this interpreter of the host", kProgram,
       "If it is not below /usr, its prefix (the directory above the one it is in) is shown "
       "read-only in the box; a virtual environment works as well."},
      {"requirement", "", "SPEC",
       "install this for the program, as numpy or numpy==1.26; may be repeated", kProgram,
       "Of Python by pip, of JavaScript by npm, from where network.install and "
       "install.find_links of the policy say, in a box of its own; the program sees it "
       "read-only. What was installed once is kept: see wardcase gc."},
      {"requirements", "", "FILE",
       "install what a requirements.txt or package.json lists; may be repeated", kProgram,
       "A Python program's own list (dependencies in its head, PEP 723) is installed as well."},
      {"prelude", "", "FILE", "run FILE before the program, in the same interpreter", kProgram,
       "See PRELUDES."},
      {"env", "e", "NAME[=VALUE]", "set a variable, or copy the caller's; may be repeated",
       kProgram, "Nothing else of the caller's environment reaches the program."},
      {"env-file", "", "FILE", "set variables from lines of NAME=VALUE; # begins a comment",
       kProgram, "-e wins over it."},
      {"workdir", "w", "DIR", "directory in the box to start in (default /box)", kProgram,
       "An absolute path."},
      {"validate", "", "", "look at the program's syntax, in a box; execute nothing of it",
       kProgram,
       "The exit code is 0, or 1 with the status syntax_error. wardcase check is the same."},
      {"dry-run", "", "[=json]", "show what would run, and how confined; run nothing", kProgram,
       "The box is made, the program is found and executed, and killed before its first "
       "instruction; all is removed again. The exit code is 0 if it would run, else that of the "
       "run. See DRY RUNS for the JSON form.",
       "json"},
  };
}

// lint: table
std::vector<OptionRow> sight_options() {
  return {
      {"volume", "v", "SRC:DST[:ro|rw]",
       "show a host file or directory at DST (read-only unless rw); may be repeated", kSight,
       "/, /proc, /sys, /dev, /run and our own state are refused, as is writing to what holds it."},
      {"workspace", "", "DIR[:ro|rw]", "show DIR as /box, where the program runs", kSight,
       "Read-only unless rw. A file that lies in it is run where it is."},
      {"network", "", "none|host",
       "network of the program: its own without a way out, or the host's (default none)", kSight,
       "A policy may forbid it.", "none|host"},
      {"policy", "", "NAME|FILE", "hold the program to this policy; see wardcase policy list",
       kSight,
       "Without it WARDCASE_POLICY or the configuration chooses one, else it is default. See "
       "wardcase-policy(5)."},
      {"allow-syscalls", "", "NAME,...",
       "let these system calls through, where the policy says that they may be", kSight,
       "They must stand in syscalls.openable of the policy. May be repeated."},
      {"interactive", "i", "", "pass our stdin to the program; without it, stdin is empty", kSight},
      {"tty", "t", "", "give the program a terminal of its own, which ours shows; implies -i",
       kSight,
       "It is the program's stdin, stdout and stderr; our stdin must be a terminal. That is raw "
       "meanwhile: Ctrl-C, Ctrl-Z and Ctrl-D act inside, as does job control, and the size of "
       "the window is passed on. All that the program writes is its stdout. TERM is the "
       "caller's, and nothing in the environment tells programs that nobody is there. To end a "
       "program that does not listen, send us a signal; the limits hold as always (see "
       "--timeout). Not with --json and --events, which would hide the terminal; --status-fd "
       "works beside it."},
      {"stdin", "", "FILE", "what the program reads from its stdin", kSight},
      {"file", "", "NAME=PATH", "put a copy of the host's file PATH at /box/NAME; may be repeated",
       kSight,
       "NAME may have directories in it, as data/a.csv. Not with a workspace, where the file can "
       "be put by hand."},
  };
}

// lint: table
std::vector<OptionRow> output_options() {
  return {
      {"merge-stderr", "", "", "send the program's stderr to its stdout, in exact order", kOutput},
      {"json", "", "", "print one JSON record at the end instead of the output", kOutput,
       "The record contains it."},
      {"events", "", "", "print a line of JSON for each event, as it comes", kOutput,
       "These are start, stdout, stderr, with -i waiting_for_input when the program waits for what "
       "has not come yet, artifact for each file that the program left, and last exit with the "
       "whole record."},
      {"status-fd", "", "N", "write the event lines to descriptor N, besides the rest", kOutput,
       "It has to be open for writing, and above 2."},
      {"base64", "", "", "with output bytes in base64 in the record; implies --json", kOutput},
      {"encoding-fallback", "", "NAME",
       "take lines that are not UTF-8 for text in this encoding, such as gbk", kOutput,
       "It is about the text of the record (stdout, stderr, output); bytes that are passed "
       "through or saved stay as they are, and event lines have them in base64. 'iconv -l' lists "
       "the encodings of this host."},
      {"save-output", "", "DIR", "write all of stdout and stderr to DIR/stdout and DIR/stderr, too",
       kOutput, "It is written as it comes. The directory is made if it is missing."},
      {"out", "", "DIR", "bring what is new or has changed in /box to DIR, which may be missing",
       kOutput,
       "The files are those that the record lists as artifacts: regular files with one name, at "
       "most 256 of them, 64 MiB each and 256 MiB in all, as far as they can be read within 5 "
       "seconds. What is left out is said. A file of that name in DIR is replaced, anything else "
       "is not; no link is followed."},
      {"meta", "", "FILE", "write times, status and exit code to FILE by the keys of isolate",
       kOutput},
      {"timing", "", "", "tell on stderr what the launch spent its time on", kOutput},
      {"exit-zero", "", "", "exit with 0 whenever a record could be made", kOutput},
      {"quiet", "q", "", "say nothing ourselves", kOutput},
      {"verbose", "", "", "say how the program was confined", kOutput,
       "Also, what is weaker than it could be."},
      color_option(kOutput),
      {"help", "h", "", "show this", kOutput},
  };
}

}  // namespace

std::vector<OptionRow> run_option_table() {
  std::vector<OptionRow> table = program_options();
  const auto append = [&](std::vector<OptionRow> rows) {
    table.insert(table.end(), std::make_move_iterator(rows.begin()),
                 std::make_move_iterator(rows.end()));
  };
  append(sight_options());
  for (const policies::LimitRow& row : policies::limit_table()) {
    if (!row.flag.empty()) table.push_back(limit_option(row));
  }
  append(output_options());
  return table;
}

}  // namespace wardcase::supervisor

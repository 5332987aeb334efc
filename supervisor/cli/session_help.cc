// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/session_help.h"

#include <algorithm>
#include <iterator>

namespace wardcase::supervisor {

namespace {

struct Head {
  std::string_view verb;
  std::string_view text;
};
constexpr Head kHeads[] = {
    {"session", R"help(usage: wardcase session new [OPTIONS]
       wardcase session ls [--json]
       wardcase session rm ID...
       wardcase session extend --ttl TIME ID
       wardcase session reset|interrupt ID
       wardcase session input ID TEXT, or --eof ID

A session is a box that lives on, with its interpreters. new prints its id; rm ends it; extend
gives it so much time from now on; reset ends every process and keeps /box; interrupt is Ctrl-C
for the program that runs, input is what that reads.

)help"},
    {"exec", R"help(usage: wardcase exec ID [OPTIONS] FILE | -c CODE | -

Runs a program in a session, after those that came before it, and exits as run does. The
interpreter keeps what it leaves: variables, imports, functions, the directory. Artifacts are what
it made or changed in /box.

  S=$(wardcase session new); wardcase exec $S -c 'x = 41'; wardcase exec $S -c 'print(x + 1)'

)help"},
    {"repl", R"help(usage: wardcase repl ID [OPTIONS]

Runs in the session what is typed, piece by piece, and shows the value of each. Ctrl-C interrupts
what runs, Ctrl-D leaves; the session lives on.

)help"},
    {"logs", R"help(usage: wardcase logs ID [OPTIONS]

Prints what happened in a session, a line of JSON for each event; the newest 8 MiB are kept.

)help"},
    {"kill", R"help(usage: wardcase kill ID

Ends the program that runs in a session, with every process of its box, at once.
)help"},
    {"cp", R"help(usage: wardcase cp FILE ID:PATH
       wardcase cp ID:PATH FILE

Copies a file into the session's /box, or out of it; - is stdin or stdout.
)help"},
    {"ls", R"help(usage: wardcase ls [OPTIONS] ID[:PATH]

Lists files of the session's /box.

)help"},
    {"cat", R"help(usage: wardcase cat ID:PATH

Prints a file of the session's /box.
)help"},
};

}  // namespace

std::string_view session_help_head(std::string_view verb) {
  const auto* const found = std::ranges::find(kHeads, verb, &Head::verb);
  return found == std::end(kHeads) ? std::string_view() : found->text;
}

}  // namespace wardcase::supervisor

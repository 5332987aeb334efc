// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/verbs.h"

#include "supervisor/cli/box_file_commands.h"
#include "supervisor/cli/check_command.h"
#include "supervisor/cli/doctor.h"
#include "supervisor/cli/exec_command.h"
#include "supervisor/cli/explain_command.h"
#include "supervisor/cli/gc_command.h"
#include "supervisor/cli/help.h"
#include "supervisor/cli/languages_command.h"
#include "supervisor/cli/policy_command.h"
#include "supervisor/cli/repl_command.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/cli/serve_command.h"
#include "supervisor/cli/session_command.h"
#include "supervisor/cli/token_command.h"

namespace wardcase::supervisor {

namespace {

std::vector<OptionRow> no_options() { return {}; }

}  // namespace

std::span<const Verb> verb_table() {
  static const Verb verbs[] = {
      {"run", "run a program in a fresh box", {}, run_option_table, /*runs_program=*/true},
      {"explain", "tell what became of a past run, and why", {}, explain_option_table},
      {"policy",
       "list, show and check policies: what a run may do",
       {"list", "show", "check"},
       policy_option_table,
       /*runs_program=*/false,
       /*takes_policy=*/true},
      {"config",
       "show and check what the configuration files say",
       {"show", "check"},
       config_option_table},
      {"serve",
       "answer requests for runs by HTTP, on a socket of this host",
       {},
       serve_option_table},
      {"token",
       "make, list and revoke tokens of the service's clients",
       {"create", "list", "revoke"},
       token_option_table},
      {"session",
       "make, list and end sessions: boxes that live on, with their interpreters",
       {"new", "ls", "rm", "extend", "reset", "interrupt", "input"},
       session_command_table},
      {"exec", "run a program in a session", {}, exec_option_table},
      {"repl", "type programs for a session, and see their values", {}, repl_option_table},
      {"logs", "tell what happened in a session", {}, logs_option_table},
      {"kill", "end the program that runs in a session, at once", {}, no_options},
      {"cp", "copy a file into a session, or out of it", {}, no_options},
      {"ls", "list the files of a session", {}, ls_option_table},
      {"cat", "print a file of a session", {}, no_options},
      {"check", "look at the syntax of programs, without executing them", {}, check_option_table},
      {"languages",
       "tell which languages this host can run, and what the others lack",
       {},
       languages_option_table},
      {"gc",
       "remove installed requirements and compiled programs that were not used for long",
       {},
       gc_option_table},
      {"doctor",
       "try each thing that a box needs on this host, and say what to fix",
       {},
       doctor_option_table},
      {"version", "tell the version", {}, no_options},
      {"help", "show this, or the options of a verb: wardcase help run", {}, help_option_table},
  };
  return verbs;
}

std::string verb_names(std::string_view separator) {
  std::string names;
  for (const Verb& verb : verb_table()) {
    if (!names.empty()) names += separator;
    names += verb.name;
  }
  return names;
}

}  // namespace wardcase::supervisor

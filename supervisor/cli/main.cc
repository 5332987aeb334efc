// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The command line: finds the verb and hands over to it.
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "supervisor/cli/box_file_commands.h"
#include "supervisor/cli/check_command.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/doctor.h"
#include "supervisor/cli/exec_command.h"
#include "supervisor/cli/explain_command.h"
#include "supervisor/cli/gc_command.h"
#include "supervisor/cli/help.h"
#include "supervisor/cli/languages_command.h"
#include "supervisor/cli/policy_command.h"
#include "supervisor/cli/process_start.h"
#include "supervisor/cli/repl_command.h"
#include "supervisor/cli/run_command.h"
#include "supervisor/cli/serve_command.h"
#include "supervisor/cli/session_command.h"
#include "supervisor/cli/token_command.h"
#include "supervisor/cli/verbs.h"
#include "supervisor/cli/version.h"

namespace {

namespace supervisor = wardcase::supervisor;
using supervisor::Console;
using supervisor::Verbosity;

constexpr int kFailed = 125;

int dispatch(std::span<const std::string> words) {
  if (words.empty()) {
    Console(Verbosity::normal).say("no verb; write wardcase run FILE, or see wardcase help");
    return kFailed;
  }
  const std::string& verb = words[0];
  const auto rest = words.subspan(1);
  const bool wants_help = rest.size() == 1 && (rest[0] == "--help" || rest[0] == "-h");
  if (verb == "run") return supervisor::run_command(rest);
  if (verb == "help" || verb == "--help" || verb == "-h") return supervisor::help_command(rest);
  if (wants_help) return supervisor::help_command(words.first(1));
  if (verb == "policy") return supervisor::policy_command(rest);
  if (verb == "config") return supervisor::config_command(rest);
  if (verb == "explain") return supervisor::explain_command(rest);
  if (verb == "gc") return supervisor::gc_command(rest);
  if (verb == "serve") return supervisor::serve_command(rest);
  if (verb == "token") return supervisor::token_command(rest);
  if (verb == "session") return supervisor::session_command(rest);
  if (verb == "exec") return supervisor::exec_command(rest);
  if (verb == "repl") return supervisor::repl_command(rest);
  if (verb == "logs") return supervisor::logs_command(rest);
  if (verb == "kill") return supervisor::kill_command(rest);
  if (verb == "cp") return supervisor::cp_command(rest);
  if (verb == "ls") return supervisor::ls_command(rest);
  if (verb == "cat") return supervisor::cat_command(rest);
  if (verb == "check") return supervisor::check_command(rest);
  if (verb == "languages") return supervisor::languages_command(rest);
  if (verb == "doctor") return supervisor::doctor_command(rest);
  if (verb == "version" || verb == "--version") {
    if (rest.empty()) return supervisor::version_command();
    Console(Verbosity::normal).say(verb + ": takes no arguments, not '" + rest[0] + "'");
    return kFailed;
  }
  Console(Verbosity::normal)
      .say("'" + verb + "': no such verb; it is one of " + supervisor::verb_names(", "));
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto settled = supervisor::settle_what_was_inherited(); !settled) {
      Console(Verbosity::normal).say(settled.error().message());
      return kFailed;
    }
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return dispatch(words);
  } catch (const std::exception& error) {  // memory is out; all else comes as a result
    Console(Verbosity::normal).say(error.what());
    return kFailed;
  }
}

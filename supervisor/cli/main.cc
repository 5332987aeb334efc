// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The command line: finds the verb and hands over to it.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/retry.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/doctor.h"
#include "supervisor/cli/explain_command.h"
#include "supervisor/cli/help.h"
#include "supervisor/cli/policy_command.h"
#include "supervisor/cli/run_command.h"
#include "supervisor/cli/verbs.h"
#include "supervisor/cli/version.h"

namespace {

namespace supervisor = wardcase::supervisor;
using supervisor::Console;
using supervisor::Verbosity;

constexpr int kFailed = 125;

// A caller may have closed stdin, stdout or stderr. What we open next would
// take its number, and the program's output would go there.
bool fill_standard_descriptors() {
  int fd = -1;
  do {
    fd = wardcase::sys::retry_eintr([] { return ::open("/dev/null", O_RDWR); });
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd < 0) return false;
  (void)::close(fd);
  return true;
}

// Dispositions and an ignored SIGCHLD are inherited, and would hide the end of
// children; writing to a reader who has gone is to give EPIPE.
bool reset_signals() {
  // SIGXFSZ: a caller's file size limit is told by EFBIG then, and not by our death.
  return ::signal(SIGPIPE, SIG_IGN) != SIG_ERR && ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR &&
         ::signal(SIGCHLD, SIG_DFL) != SIG_ERR;
}

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
    if (!fill_standard_descriptors()) {
      const auto error = wardcase::sys::errno_error("open '/dev/null'");
      Console(Verbosity::normal).say(error.message());
      return kFailed;
    }
    if (!reset_signals()) return kFailed;
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return dispatch(words);
  } catch (const std::exception& error) {  // memory is out; all else comes as a result
    Console(Verbosity::normal).say(error.what());
    return kFailed;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/serve_command.h"

#include "supervisor/cli/companion.h"
#include "supervisor/cli/console.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say("serve: " + error.message());
  return kFailed;
}

}  // namespace

// lint: table
std::vector<OptionRow> serve_option_table() {
  return {
      {"listen", "", "ADDRESS",
       "unix:PATH or tcp:HOST:PORT (this host alone); default: api.sock in our runtime directory"},
      {"max-runs", "", "N", "runs at the same time (default: twice the processors)"},
      {"max-queue", "", "N", "runs that wait for their turn; more are refused (default 1024)"},
      {"memory-total", "", "SIZE",
       "memory that is promised to all runs and sessions at the same time (default: no bound)"},
      {"max-sessions", "", "N", "sessions at the same time (default 64)"},
      {"keep-runs", "", "N", "ended runs that can still be asked for (default 1000)"},
      {"keep-time", "", "TIME", "how long they can be asked for (default 1h)"},
      {"max-connections", "", "N", "clients at the same time (default 512)"},
      {"max-body", "", "SIZE", "length of a request's body (default 16 MiB)"},
      {"max-held", "", "SIZE",
       "of all requests and of all answers that are held (default 256 MiB)"},
      {"header-timeout", "", "TIME", "time for a request's head to arrive (default 10s)"},
      {"body-timeout", "", "TIME", "time for its body to arrive (default 60s)"},
      {"idle-timeout", "", "TIME", "time between two requests of a client (default 75s)"},
      {"send-timeout", "", "TIME", "time in which a client takes nothing (default 30s)"},
      {"drain-timeout", "", "TIME", "time that runs have to end when we are to end (default 45s)"},
  };
}

int serve_command(std::span<const std::string> words) {
  auto companion = CompanionCall::make("serve", words);
  return fail(companion ? companion->become() : companion.error());
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/serve_command.h"

#include "policies/service_settings.h"
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

std::vector<OptionRow> serve_option_table() {
  std::vector<OptionRow> table = {
      {"listen", "", "ADDRESS",
       "unix:PATH or tcp:HOST:PORT (beyond this host only with --tokens); default: api.sock in "
       "our runtime directory"},
      {"tokens", "", "FILE",
       "tokens of clients, as `wardcase token` makes them; who comes by TCP then needs one"},
  };
  for (const policies::ServerRow& row : policies::server_table()) {
    table.push_back({std::string(row.flag), "", std::string(row.argument), std::string(row.help)});
  }
  return table;
}

int serve_command(std::span<const std::string> words) {
  auto companion = CompanionCall::make("serve", words);
  return fail(companion ? companion->become() : companion.error());
}

}  // namespace wardcase::supervisor

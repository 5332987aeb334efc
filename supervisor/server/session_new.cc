// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_new.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "supervisor/cli/console.h"
#include "supervisor/cli/session_options.h"
#include "supervisor/run/json_text.h"
#include "supervisor/server/keeper_start.h"
#include "supervisor/sessions/session_place.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say(error.message());
  return kFailed;
}

sys::Status start(const std::shared_ptr<const SessionOptions>& options) {
  const auto directory = sessions_directory();
  if (!directory) return tl::unexpected(directory.error());
  return start_keeper(options, session_socket(*directory, options->id));
}

}  // namespace

int session_new(std::span<const std::string> words) {
  auto parsed = parse_session_options(words);
  if (!parsed) return fail(parsed.error());
  const auto options = std::make_shared<const SessionOptions>(*std::move(parsed));
  if (const auto started = start(options); !started) return fail(started.error());
  const bool is_json = options->box.mode == OutputMode::json;
  const std::string told =
      is_json ? "{\"session_id\":" + json_string(options->id) + "}" : options->id;
  return write_all(STDOUT_FILENO, told + "\n") ? 0 : kFailed;
}

}  // namespace wardcase::supervisor

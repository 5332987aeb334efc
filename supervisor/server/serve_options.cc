// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/serve_options.h"

#include <utility>

#include "supervisor/cli/serve_command.h"

namespace wardcase::supervisor {

namespace {

using policies::ServerOption;

constexpr std::size_t kRunsOfACpu = 2;

void take_text(const CommandLine& line, const std::string& flag,
               const policies::Maybe<std::string>& setting, std::optional<std::string>& place) {
  if (setting) place = setting->value;
  if (const std::string* text = line.last(flag)) place = *text;
}

// What the options say in place of the files.
sys::Status take_flags(const CommandLine& line, policies::ServiceSettings& settings) {
  for (const policies::ServerRow& row : policies::server_table()) {
    const std::string flag(row.flag);
    const std::string* text = line.last(flag);
    if (text == nullptr) continue;
    const auto value = policies::parse_amount(row.unit, *text);
    if (!value) return tl::unexpected(sys::Error(value.error()).while_doing("--" + flag));
    settings.options[static_cast<std::size_t>(row.id)] = {*value, "--" + flag};
  }
  return {};
}

ServeOptions apply(const policies::ServiceSettings& settings, std::size_t cpus) {
  ServeOptions options;
  ConnectionRules& client = options.server.connection;
  options.queue.running = kRunsOfACpu * cpus;
  const auto take = [&]<typename T>(ServerOption id, T& place) {
    if (const auto& value = settings.option(id)) place = static_cast<T>(value->value);
  };
  const auto take_time = [&](ServerOption id, std::chrono::milliseconds& place) {
    if (const auto& value = settings.option(id)) place = std::chrono::milliseconds(value->value);
  };
  take(ServerOption::max_running, options.queue.running);
  take(ServerOption::queue_max, options.queue.waiting);
  if (const auto& total = settings.option(ServerOption::memory_total)) {
    options.queue.memory = total->value;
  }
  take(ServerOption::max_sessions, options.sessions.sessions);
  take(ServerOption::keep_runs, options.registry.kept);
  take_time(ServerOption::keep_time, options.registry.age);
  take(ServerOption::max_connections, options.server.connections);
  take(ServerOption::max_body, client.most.body_bytes);
  take(ServerOption::max_held, options.server.held);
  take_time(ServerOption::header_timeout, client.header);
  take_time(ServerOption::body_timeout, client.body);
  take_time(ServerOption::idle_timeout, client.idle);
  take_time(ServerOption::send_timeout, client.stalled);
  take_time(ServerOption::drain_timeout, options.server.drain);
  return options;
}

}  // namespace

sys::Result<ServeOptions> parse_serve_options(std::span<const std::string> words,
                                              const policies::ServiceSettings& settings,
                                              std::size_t cpus) {
  auto line = CommandLine::parse(serve_option_table(), words);
  if (!line) return tl::unexpected(std::move(line).error());
  if (!line->operands().empty()) {
    return tl::unexpected(
        sys::plain_error("takes no arguments, not '" + line->operands().front() + "'"));
  }
  auto asked = policies::lay_over(policies::built_in_service(), settings);
  if (auto taken = take_flags(*line, asked); !taken) return tl::unexpected(taken.error());
  ServeOptions options = apply(asked, cpus);
  take_text(*line, "listen", asked.listen, options.listen);
  take_text(*line, "tokens", asked.tokens, options.tokens);
  return options;
}

}  // namespace wardcase::supervisor

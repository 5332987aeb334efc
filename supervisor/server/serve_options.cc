// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/serve_options.h"

#include <utility>

#include "policies/units.h"
#include "supervisor/cli/serve_command.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kRunsOfACpu = 2;

// Reads the option's value, where it was given, by `parse` into `place`.
template <typename T, typename Parse>
sys::Status take(const CommandLine& line, const std::string& name, Parse parse, T& place) {
  const std::string* text = line.last(name);
  if (text == nullptr) return {};
  auto value = parse(*text);
  if (!value) return tl::unexpected(sys::Error(value.error()).while_doing("--" + name));
  place = static_cast<T>(*value);
  return {};
}

}  // namespace

sys::Result<ServeOptions> parse_serve_options(std::span<const std::string> words,
                                              std::size_t cpus) {
  auto line = CommandLine::parse(serve_option_table(), words);
  if (!line) return tl::unexpected(std::move(line).error());
  if (!line->operands().empty()) {
    return tl::unexpected(
        sys::plain_error("takes no arguments, not '" + line->operands().front() + "'"));
  }
  ServeOptions options;
  if (const std::string* address = line->last("listen")) options.listen = *address;
  ConnectionRules& client = options.server.connection;
  options.queue.running = kRunsOfACpu * cpus;
  using policies::parse_count;
  using policies::parse_duration;
  const auto taken =
      take(*line, "max-runs", parse_count, options.queue.running)
          .and_then([&] { return take(*line, "max-queue", parse_count, options.queue.waiting); })
          .and_then([&] {
            return take(*line, "memory-total", policies::parse_size, options.queue.memory);
          })
          .and_then(
              [&] { return take(*line, "max-sessions", parse_count, options.sessions.sessions); })
          .and_then([&] { return take(*line, "keep-runs", parse_count, options.registry.kept); })
          .and_then([&] { return take(*line, "keep-time", parse_duration, options.registry.age); })
          .and_then([&] {
            return take(*line, "max-connections", parse_count, options.server.connections);
          })
          .and_then(
              [&] { return take(*line, "max-body", policies::parse_size, client.most.body_bytes); })
          .and_then(
              [&] { return take(*line, "max-held", policies::parse_size, options.server.held); })
          .and_then([&] { return take(*line, "header-timeout", parse_duration, client.header); })
          .and_then([&] { return take(*line, "body-timeout", parse_duration, client.body); })
          .and_then([&] { return take(*line, "idle-timeout", parse_duration, client.idle); })
          .and_then([&] { return take(*line, "send-timeout", parse_duration, client.stalled); })
          .and_then(
              [&] { return take(*line, "drain-timeout", parse_duration, options.server.drain); });
  if (!taken) return tl::unexpected(taken.error());
  return options;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/session_log.h"

#include <utility>
#include <vector>

#include "supervisor/run/json_text.h"

namespace wardcase::supervisor {

SessionLog::SessionLog() : events_([this](std::string_view line) { keep(line); }) {}

void SessionLog::add(std::string_view type, std::string_view run_id) {
  events_.on_event(type, "\"id\":" + json_string(run_id));
}

void SessionLog::read(std::uint64_t since, const Listener& with) const {
  const std::uint64_t first = oldest();
  std::size_t at = since < first ? 0 : since - first + 1;
  for (; at < lines_.size(); ++at) with(lines_[at]);
}

std::uint64_t SessionLog::follow(Listener listener) {
  followers_.emplace(next_follower_, std::move(listener));
  return next_follower_++;
}

// The newest always stays, however long it is.
void SessionLog::keep(std::string_view line) {
  ++newest_;
  lines_.emplace_back(line);
  bytes_ += line.size();
  while (bytes_ > kMostBytes && lines_.size() > 1) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
  std::vector<Listener> listeners;  // one may unfollow while it is told
  for (const auto& [id, listener] : followers_) listeners.push_back(listener);
  for (const Listener& listener : listeners) listener(line);
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "supervisor/run/event_stream.h"

namespace wardcase::supervisor {

// What has happened in a session, as lines of JSON (event_stream.h), numbered through its whole
// life. The newest are kept, up to a bound.
class SessionLog {
 public:
  static constexpr std::size_t kMostBytes = 8 << 20;
  using Listener = std::function<void(std::string_view line)>;

  SessionLog();
  // What a program does, in its order.
  EventStream& events() { return events_; }
  // Another kind of event, about this program.
  void add(std::string_view type, std::string_view run_id);

  // Of the newest line; 0: there is none yet.
  [[nodiscard]] std::uint64_t newest() const { return newest_; }
  // Of the oldest that is kept.
  [[nodiscard]] std::uint64_t oldest() const { return newest_ - lines_.size() + 1; }
  // Calls with each line after `since`, in order.
  void read(std::uint64_t since, const Listener& with) const;
  // Called with each new line, until unfollow().
  std::uint64_t follow(Listener listener);
  void unfollow(std::uint64_t follower) { followers_.erase(follower); }

 private:
  void keep(std::string_view line);

  EventStream events_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;
  std::uint64_t next_follower_ = 1;
  std::map<std::uint64_t, Listener> followers_;
};

}  // namespace wardcase::supervisor

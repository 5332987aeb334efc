// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// What the service knows of a session without asking its keeper.
struct SessionFacts {
  std::string id;
  std::string owner;  // a caller's name
  std::string language;
  std::optional<std::uint64_t> memory;  // what its box may have; nullopt: no bound
  std::int64_t created = 0;             // seconds since the epoch
  std::string policy;                   // its name
  std::string network;                  // "none" or "host"
  std::optional<std::uint64_t> disk;    // what its files may take
};

// Where the sessions of one service lie: for each the socket of its keeper, and what is known of
// it, so that a service that is started again finds them. Two callers may have the same id.
class SessionPlaces {
 public:
  // Of the service that listens there. The directory is ours alone.
  static sys::Result<SessionPlaces> create(const std::string& address);
  SessionPlaces(SessionPlaces&&) noexcept = default;
  SessionPlaces& operator=(SessionPlaces&&) = delete;
  ~SessionPlaces();  // what is empty goes

  [[nodiscard]] std::string socket(const SessionFacts& session) const;
  [[nodiscard]] sys::Status write(const SessionFacts& session) const;
  // What its keeper has left as well; the keeper itself is gone.
  void remove(const SessionFacts& session) const;
  // All that were written and not removed. What makes no sense is removed.
  [[nodiscard]] std::vector<SessionFacts> read() const;

 private:
  explicit SessionPlaces(std::string directory) : directory_(std::move(directory)) {}
  [[nodiscard]] std::string stem(const SessionFacts& session) const;

  std::string directory_;
};

}  // namespace wardcase::supervisor

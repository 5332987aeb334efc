// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/server/http_codec.h"

namespace wardcase::supervisor {

enum class Transport : std::uint8_t { unix_socket, tcp };

// Who is at the other end.
struct Peer {
  Transport transport = Transport::unix_socket;
  // As the kernel tells them of when he connected; of TCP it tells nothing.
  std::optional<uid_t> uid = std::nullopt;
  std::vector<gid_t> groups = {};
};

// An answer that is made while it is being taken.
class BodySource {
 public:
  // `failed`: the rest of what was begun does not come, which the client is to notice.
  enum class State : std::uint8_t { more, nothing_yet, over, failed };

  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  // Adds the next part to `text`, if there is one.
  virtual State read(std::string& text) = 0;
  // What is sent when nothing was for a while, so that both ends know of each other.
  [[nodiscard]] virtual std::string heartbeat() const = 0;
};

// What waits until it can answer.
class PendingAnswer {
 public:
  PendingAnswer() = default;
  PendingAnswer(const PendingAnswer&) = delete;
  PendingAnswer& operator=(const PendingAnswer&) = delete;
  virtual ~PendingAnswer() = default;
};

// One request's answer: at once or later, in one piece or as a stream. It outlives what it is
// given to hold.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] virtual const Peer& peer() const = 0;
  // Those that came with the request; they go when the call with it is over.
  [[nodiscard]] virtual std::span<const sys::UniqueFd> descriptors() const = 0;
  virtual void answer(const HttpResponse& response) = 0;
  // The head, and then what `body` has, which goes when all of it was taken or the client has gone.
  virtual void stream(const HttpResponse& head, std::unique_ptr<BodySource> body) = 0;
  // The body that said `nothing_yet` has more.
  virtual void wake() = 0;
  // Goes with the answer, or when the client has gone before that.
  virtual void hold(std::unique_ptr<PendingAnswer> pending) = 0;
};

}  // namespace wardcase::supervisor

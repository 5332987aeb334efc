// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/known_session.h"

#include <utility>

namespace wardcase::supervisor {

// A connection on which nothing is asked ends with the keeper, however that ends.
KnownSession::KnownSession(EventLoop& loop, SessionFacts facts, std::string socket,
                           std::function<void()> ended)
    : loop_(loop),
      facts_(std::move(facts)),
      socket_(std::move(socket)),
      ended_(std::move(ended)),
      watch_(loop, {.on_part = [](char, std::string_view) {},
                    .on_last =
                        [this](const boost::json::object*) {
                          if (!is_gone_) ended_();
                        }}) {}

sys::Status KnownSession::make(std::string_view request, KeeperProcess::Made made) {
  maker_ = std::make_unique<KeeperProcess>(
      loop_, [this, made = std::move(made)](const std::string& why_not) {
        if (!is_gone_) made(why_not);
      });
  return maker_->start(facts_.id, socket_, request);
}

sys::Status KnownSession::watch() {
  auto watched = watch_.open(socket_);
  is_made_ = watched.has_value();
  return watched;
}

}  // namespace wardcase::supervisor

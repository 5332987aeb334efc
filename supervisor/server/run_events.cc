// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_events.h"

#include <string>

namespace wardcase::supervisor {

namespace {

class EventBody : public BodySource {
 public:
  EventBody(KnownWork& work, std::uint64_t after, WorkReader::Bond bond, AnswerKind kind,
            Exchange& exchange)
      : reader_(work, after, bond, [&exchange] { exchange.wake(); }), kind_(kind) {}

  // Events have no name of their own: a browser takes one that is called `error` for its own.
  State read(std::string& text) override {
    const auto line = reader_.next();
    if (!line) return reader_.is_over() ? State::over : State::nothing_yet;
    if (kind_ == AnswerKind::sse) {
      text += "id: " + std::to_string(reader_.position()) + "\ndata: " + *line + "\n";
    } else {
      text += *line;
    }
    return State::more;
  }

  [[nodiscard]] std::string heartbeat() const override {
    return kind_ == AnswerKind::sse ? ": ping\n\n" : "{\"type\":\"ping\"}\n";
  }

 private:
  WorkReader reader_;
  AnswerKind kind_;
};

}  // namespace

std::unique_ptr<BodySource> stream_events(KnownWork& work, std::uint64_t after,
                                          WorkReader::Bond bond, AnswerKind kind,
                                          Exchange& exchange) {
  return std::make_unique<EventBody>(work, after, bond, kind, exchange);
}

}  // namespace wardcase::supervisor

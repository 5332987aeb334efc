// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_states.h"

#include <boost/json.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/session_question.h"
#include "supervisor/server/timestamp.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::chrono::seconds kPatience{2};

KeeperRequest state_request() {
  KeeperRequest request;
  request.op = "state";
  return request;
}

json::object object_of(const SessionFacts& facts, std::string_view state) {
  const auto created = std::chrono::system_clock::from_time_t(facts.created);
  return {{"id", to_json_text(facts.id)},
          {"owner", to_json_text(facts.owner)},
          {"language", to_json_text(facts.language)},
          {"state", to_json_text(state)},
          {"created", timestamp(created)}};
}

// Of many, each asked by itself.
class AllStates : public PendingAnswer {
 public:
  AllStates(EventLoop& loop, Exchange& exchange) : loop_(loop), exchange_(exchange) {}
  ~AllStates() override { loop_.cancel(timer_); }

  void ask(const std::vector<KnownSession*>& sessions) {
    timer_ = loop_.at(Clock::now() + kPatience, [this] { conclude(); });
    for (const KnownSession* const session : sessions) {
      const std::size_t at = told_.size();
      told_.emplace_back(summary_of(*session));
      auto link = make_keeper_link(
          loop_, {.on_part = [](char, std::string_view) {},
                  .on_last =
                      [this, at, facts = session->facts()](const json::object* last) {
                        if (last != nullptr) told_[at] = state_of(facts, *last);
                        if (last == nullptr) told_[at] = nullptr;  // it has ended meanwhile
                        if (--missing_ == 0) conclude();
                      }});
      if (!link->open(session->socket())) continue;
      link->ask(state_request());
      ++missing_;
      links_.push_back(std::move(link));
    }
    // From a turn of its own: the exchange holds this by then.
    if (missing_ == 0) {
      loop_.cancel(timer_);
      timer_ = loop_.at(Clock::now(), [this] { conclude(); });
    }
  }

 private:
  void conclude() {
    json::array all;
    for (json::value& each : told_) {
      if (!each.is_null()) all.push_back(std::move(each));
    }
    exchange_.answer(json_response(json::object{{"sessions", std::move(all)}}));
  }

  EventLoop& loop_;
  Exchange& exchange_;
  json::array told_;
  std::vector<KeeperLinkOwner> links_;
  std::size_t missing_ = 0;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace

json::object summary_of(const KnownSession& session) {
  return object_of(session.facts(), *session.programs() == 0 ? "idle" : "running");
}

json::object state_of(const SessionFacts& facts, const json::object& told) {
  json::object state = object_of(facts, text_of(told, "state"));
  for (const std::string_view key : {"running", "queued", "interpreters", "processes", "cpu_ms",
                                     "memory_peak_bytes", "idle_ms", "expires_in_ms", "seq"}) {
    if (const json::value* const value = told.if_contains(key)) state[key] = *value;
  }
  return state;
}

void tell_state(EventLoop& loop, Exchange& exchange, const KnownSession& session) {
  ask_keeper(loop, exchange, session, state_request(),
             [facts = session.facts()](const json::object& last) {
               return json_response(state_of(facts, last));
             });
}

void tell_states(EventLoop& loop, Exchange& exchange, const std::vector<KnownSession*>& sessions) {
  auto states = std::make_unique<AllStates>(loop, exchange);
  states->ask(sessions);
  exchange.hold(std::move(states));
}

}  // namespace wardcase::supervisor

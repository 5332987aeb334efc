// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_registry.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>

#include "policies/units.h"
#include "supervisor/server/api_call.h"
#include "supervisor/sessions/keeper_request.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// What session_keep.h prints, or else a sentence.
Problem problem_of(const std::string& said) {
  json::error_code error;
  const json::value value = json::parse(said, error);
  const json::object* const document = error ? nullptr : value.if_object();
  if (document == nullptr) return {503, "session_failed", said, "", kRetrySeconds};
  return {static_cast<int>(number_of(*document, "status")), text_of(*document, "code"),
          text_of(*document, "detail"), text_of(*document, "field")};
}

}  // namespace

// Keepers go on: who is ended in good order has drained before.
SessionRegistry::~SessionRegistry() = default;

KnownSession& SessionRegistry::add(SessionFacts facts) {
  Key key = {facts.owner, facts.id};
  std::string socket = places_.socket(facts);
  queue_.promise(facts.memory);
  auto& session = sessions_[key];
  session = std::make_unique<KnownSession>(loop_, std::move(facts), std::move(socket),
                                           [this, key] { forget(*sessions_.at(key)); });
  return *session;
}

void SessionRegistry::find_again() {
  for (SessionFacts& facts : places_.read()) {
    KnownSession& session = add(std::move(facts));
    if (!session.watch()) forget(session);
  }
}

std::optional<Problem> SessionRegistry::refuse(const SessionFacts& facts) const {
  if (sessions_.contains({facts.owner, facts.id})) {
    return Problem{409, "session_exists", "id: you have a session '" + facts.id + "' already",
                   "id"};
  }
  if (sessions_.size() >= most_.sessions) {
    return Problem{429, "too_many_sessions",
                   "this service has " + std::to_string(most_.sessions) + " sessions already", "",
                   kRetrySeconds};
  }
  const auto most = queue_.most().memory;
  if (most && facts.memory.value_or(*most) > *most) {
    return Problem{422, "limit_refused",
                   "limits.memory_bytes: this service has " + policies::format_size(*most) +
                       " for all that runs; ask for less",
                   "limits.memory_bytes"};
  }
  if (queue_.has_room_for(facts.memory)) return std::nullopt;
  return Problem{429, "queue_full", "what runs has all the memory that this service may promise",
                 "", kRetrySeconds};
}

SessionSums SessionRegistry::sums_of(const std::string& owner) const {
  SessionSums sums;
  for (const auto& [key, session] : sessions_) {
    if (key.first == owner) sums.add(session->facts().memory, session->facts().disk);
  }
  return sums;
}

tl::expected<KnownSession*, Problem> SessionRegistry::make(SessionFacts facts,
                                                           std::string_view request, Told told) {
  const auto written = places_.write(facts);
  if (!written) return tl::unexpected(Problem{500, "session_failed", written.error().message()});
  const Key key = {facts.owner, facts.id};
  KnownSession& session = add(std::move(facts));
  const auto started =
      session.make(request, [this, key, told = std::move(told)](const std::string& why_not) {
        on_made(key, why_not, told);
      });
  if (started) return &session;
  forget(session);
  return tl::unexpected(
      Problem{503, "session_failed", started.error().message(), "", kRetrySeconds});
}

void SessionRegistry::on_made(const Key& key, const std::string& why_not, const Told& told) {
  KnownSession& session = *sessions_.at(key);
  std::optional<Problem> problem;
  if (!why_not.empty()) problem = problem_of(why_not);
  if (const auto watched = problem ? sys::Status() : session.watch(); !watched) {
    problem = Problem{503, "session_failed", watched.error().message(), "", kRetrySeconds};
  }
  told(session, problem ? &*problem : nullptr);
  if (problem) return forget(session);
  if (is_draining_) close(session);
}

void SessionRegistry::abandon(KnownSession& session) {
  if (!session.is_made()) forget(session);
}

// Its own call may be under way.
void SessionRegistry::forget(KnownSession& session) {
  auto node = sessions_.extract({session.facts().owner, session.facts().id});
  if (node.empty()) return;
  session.leave();
  places_.remove(session.facts());
  closing_.erase(&session);
  queue_.withdraw(session.facts().memory);
  loop_.post([gone = std::shared_ptr<KnownSession>(std::move(node.mapped()))] {});
  if (changed_) loop_.post(changed_);
}

KnownSession* SessionRegistry::find(const std::string& owner, std::string_view id) const {
  const auto found = sessions_.find({owner, std::string(id)});
  const bool is_there = found != sessions_.end() && found->second->is_made();
  return is_there ? found->second.get() : nullptr;
}

KnownSession* SessionRegistry::find(std::string_view id, const Caller& caller) const {
  KnownSession* const own = find(caller.name, id);
  if (own != nullptr || !caller.is_admin) return own;
  KnownSession* only = nullptr;
  for (const auto& [key, session] : sessions_) {
    if (key.second != id || !session->is_made()) continue;
    if (only != nullptr) return nullptr;
    only = session.get();
  }
  return only;
}

std::vector<KnownSession*> SessionRegistry::list(const Caller& caller) const {
  std::vector<KnownSession*> seen;
  for (const auto& [key, session] : sessions_) {
    if (session->is_made() && caller.may_see(key.first)) seen.push_back(session.get());
  }
  return seen;
}

void SessionRegistry::drain(std::function<void()> changed) {
  is_draining_ = true;
  changed_ = std::move(changed);
  close_idle_ones();
}

void SessionRegistry::after_program() {
  if (is_draining_) close_idle_ones();
}

void SessionRegistry::close_idle_ones() {
  for (const auto& [key, session] : sessions_) {
    if (session->is_made() && *session->programs() == 0) close(*session);
  }
}

void SessionRegistry::close(KnownSession& session) {
  if (closing_.contains(&session)) return;
  auto link = make_keeper_link(
      loop_, {.on_part = [](char, std::string_view) {}, .on_last = [](const json::object*) {}});
  KeeperRequest request;
  request.op = "close";
  if (link->open(session.socket())) link->ask(request);
  closing_.emplace(&session, std::move(link));
}

}  // namespace wardcase::supervisor

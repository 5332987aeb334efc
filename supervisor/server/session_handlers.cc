// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_handlers.h"

#include <boost/json.hpp>
#include <ctime>
#include <memory>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/run/run.h"
#include "supervisor/server/request_target.h"
#include "supervisor/server/run_reply.h"
#include "supervisor/server/session_body.h"
#include "supervisor/server/session_program.h"
#include "supervisor/server/session_question.h"
#include "supervisor/server/session_spec.h"
#include "supervisor/server/session_states.h"
#include "supervisor/server/work_request.h"
#include "supervisor/sessions/session.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// Goes with the client: a session that is not made yet is nobody's without him.
class PendingSession : public PendingAnswer {
 public:
  explicit PendingSession(SessionRegistry& sessions) : sessions_(sessions) {}
  ~PendingSession() override {
    if (session_ != nullptr) sessions_.abandon(*session_);
  }
  void wait_for(KnownSession* session) { session_ = session; }

 private:
  SessionRegistry& sessions_;
  KnownSession* session_ = nullptr;
};

HttpResponse created(const KnownSession& session) {
  HttpResponse response = json_response(summary_of(session));
  response.status = 201;
  response.headers.emplace_back("Location", "/v1/sessions/" + session.facts().id);
  return response;
}

HttpResponse done() { return json_response(json::object{{"done", true}}); }

}  // namespace

KnownSession* find_session(const SessionRegistry& sessions, const ApiCall& call) {
  const auto written = parameter_of(call.request.target, "owner");
  const auto owner = written ? percent_decode(*written) : std::nullopt;
  KnownSession* session = nullptr;
  if (!written) {
    session = sessions.find(call.id, call.caller);
  } else if (owner && call.caller.may_see(*owner)) {
    session = sessions.find(*owner, call.id);
  }
  if (session == nullptr) call.refuse(no_such_session());
  return session;
}

void SessionHandlers::create(const ApiCall& call) {
  if (is_draining_) return call.refuse(draining());
  if (const auto problem = refuse_body_type(call.request)) return call.refuse(*problem);
  const std::string_view body =
      call.request.body.empty() ? std::string_view("{}") : std::string_view(call.request.body);
  const auto asked = parse_run_request(body, RequestKind::session);
  if (!asked) return call.refuse(asked.error());
  const auto settled = settle_session(*asked, configuration_.policies(), host_);
  if (!settled) return call.refuse(settled.error());
  SessionFacts facts = {asked->id ? *asked->id : make_id("ses_"),
                        call.caller.name,
                        settled->language,
                        settled->box.limits.get(policies::LimitId::memory),
                        std::time(nullptr),
                        settled->box.configuration.policy.name->value,
                        std::string(policies::network_name(settled->box.network)),
                        settled->box.limits.get(policies::LimitId::disk)};
  if (const auto problem = sessions_.refuse(facts)) return call.refuse(*problem);
  SessionSums all = sessions_.sums_of(facts.owner);
  all.add(facts.memory, facts.disk);
  if (const auto problem = quotas_.may_open_session(call.caller, all)) {
    return call.refuse(*problem);
  }
  auto pending = std::make_unique<PendingSession>(sessions_);
  PendingSession& waiting = *pending;
  const auto made = sessions_.make(
      std::move(facts), body,
      [&exchange = call.exchange, &waiting](KnownSession& session, const Problem* why_not) {
        waiting.wait_for(nullptr);
        exchange.answer(why_not == nullptr ? created(session) : to_response(*why_not));
      });
  if (!made) return call.refuse(made.error());
  waiting.wait_for(*made);
  call.exchange.hold(std::move(pending));
}

void SessionHandlers::begin_drain() {
  is_draining_ = true;
  runs_.stop_elsewhere();
}

void SessionHandlers::list(const ApiCall& call) {
  tell_states(loop_, call.exchange, sessions_.list(call.caller));
}

void SessionHandlers::show(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session != nullptr) tell_state(loop_, call.exchange, *session);
}

void SessionHandlers::extend(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  if (const auto problem = refuse_body_type(call.request)) return call.refuse(*problem);
  const auto ttl = parse_extension(call.request.body);
  if (!ttl) return call.refuse(ttl.error());
  KeeperRequest request;
  request.op = "extend";
  request.ttl = *ttl;
  ask_keeper(loop_, call.exchange, *session, request,
             [facts = session->facts()](const json::object& last) {
               return json_response(state_of(facts, last));
             });
}

void SessionHandlers::remove(const ApiCall& call) {
  KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  KeeperRequest request;
  request.op = "close";
  ask_keeper(
      loop_, call.exchange, *session, request,
      [this, facts = session->facts()](const json::object&) {
        if (KnownSession* const gone = sessions_.find(facts.owner, facts.id)) {
          sessions_.forget(*gone);
        }
        return json_response(json::object{{"id", to_json_text(facts.id)}, {"state", "ended"}});
      });
}

// What it answers says nothing but that it was done.
void SessionHandlers::order(const ApiCall& call, std::string op) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  KeeperRequest request;
  request.op = std::move(op);
  ask_keeper(loop_, call.exchange, *session, request, [](const json::object&) { return done(); });
}

void SessionHandlers::interrupt(const ApiCall& call) { order(call, "interrupt"); }

void SessionHandlers::reset(const ApiCall& call) { order(call, "reset"); }

void SessionHandlers::input(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  if (const auto problem = refuse_body_type(call.request)) return call.refuse(*problem);
  const auto input = parse_input(call.request.body);
  if (!input) return call.refuse(input.error());
  KeeperRequest request;
  request.op = input->data.empty() ? "end_input" : "input";
  request.data = input->data;
  request.ends_input = input->is_last;
  ask_keeper(loop_, call.exchange, *session, request, [](const json::object&) { return done(); });
}

void SessionHandlers::exec(const ApiCall& call) {
  if (is_draining_) return call.refuse(draining());
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  auto asking = read_asking(call);
  if (!asking) return call.refuse(asking.error());
  auto asked = parse_run_request(call.request.body, RequestKind::program);
  if (!asked) return call.refuse(asked.error());
  if (auto checked = check_program_limits(*asked); !checked) return call.refuse(checked.error());
  RunTerms terms = std::move(asking->terms);
  terms.kind = "exec";
  terms.form = asked->form;
  terms.deadline = asked->deadline;
  terms.is_detached = asked->is_detached || asking->is_async;
  terms.code_sha256 = code_sum(*asked);
  if (!terms.key.empty()) terms.fingerprint += "@" + session->facts().id;
  if (auto refused = quotas_.may_run(call.caller, 0)) return call.refuse(*refused);
  const auto run = make_run(*session, *std::move(asked), std::move(terms));
  if (!run) return call.refuse(run.error());
  reply_once_taken(static_cast<KnownRun&>(**run), asking->kind, asking->is_async, call.exchange);
}

tl::expected<KnownWork*, Problem> SessionHandlers::make_run(const KnownSession& session,
                                                            RunRequest asked, RunTerms terms) {
  if (!terms.key.empty()) {
    auto known = same_as_before(runs_.find_key(terms.key, terms.owner), terms);
    if (!known || *known != nullptr) return known;
  }
  if (*session.programs() >= Session::kMostQueued) {
    return tl::unexpected(
        Problem{429, "session_busy",
                std::to_string(Session::kMostQueued) + " programs wait in this session already", "",
                kRetrySeconds});
  }
  RunRecord waiting;
  waiting.id = make_id("run_");
  waiting.session_id = session.facts().id;
  waiting.language = asked.language.value_or(session.facts().language);
  waiting.status = RunStatus::running;
  terms.policy = session.facts().policy;
  terms.network = session.facts().network;
  const auto run = runs_.begin_elsewhere(
      waiting, std::move(terms), [&](KnownRun& made) -> std::unique_ptr<OtherWork> {
        auto program = std::make_unique<SessionProgram>(loop_, made, session.programs(),
                                                        [this] { sessions_.after_program(); });
        if (!program->start(session, waiting.id, std::move(asked))) return nullptr;
        return program;
      });
  if (run) return *run;
  const bool is_stored = run.error() != RunRegistry::Refusal::not_stored;
  return tl::unexpected(is_stored ? no_such_session() : not_stored());
}

}  // namespace wardcase::supervisor

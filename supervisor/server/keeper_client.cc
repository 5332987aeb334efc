// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/keeper_client.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "policies/units.h"
#include "supervisor/languages/denied_code.h"
#include "supervisor/run/json_text.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/server/keeper.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// So much waits for a client before its program is held.
constexpr std::size_t kMuchWaiting = 1 << 20;
// A record has it several times, and a byte may become six.
constexpr std::uint64_t kMostCapture = 8 << 20;

std::int64_t milliseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// Whose bytes need not be text.
json::array paths_of(const RunRecord& record) {
  json::array paths;
  for (const Artifact& artifact : record.artifacts) paths.emplace_back(base64(artifact.path));
  return paths;
}

// What who asks calls a limit.
std::string name_of(const policies::LimitRow& row, const KeeperRequest& request) {
  return request.wants_word ? "limits." + std::string(row.json_key) : "--" + std::string(row.flag);
}

// The session's own, changed by what is asked for one program. `field`: the one that is wrong.
sys::Result<policies::Limits> limits_of(const KeeperRequest& request, policies::Limits limits,
                                        std::size_t cpus, std::string& field) {
  for (const auto& [id, value] : request.limits) {
    const policies::LimitRow& row = policies::limit_row(id);
    field = name_of(row, request);
    auto checked = policies::check_limit(row, field, value, limits.maximum(id));
    if (!checked) return tl::unexpected(checked.error());
    limits.require(id, value);
  }
  if (limits.get(policies::LimitId::capture).value_or(0) > kMostCapture) {
    field = name_of(policies::limit_row(policies::LimitId::capture), request);
    return tl::unexpected(sys::plain_error(field + ": a session keeps " +
                                           policies::format_size(kMostCapture) +
                                           " of a stream at most"));
  }
  auto resolved = limits.resolve(static_cast<unsigned>(cpus), /*captured=*/true);
  if (!resolved) return tl::unexpected(resolved.error());
  return limits;
}

}  // namespace

KeeperClient::KeeperClient(Keeper& keeper)
    : keeper_(keeper),
      channel_(keeper.loop(), {.frame = kMostRequest, .waiting = kMostReply},
               {.on_frame = [this](std::string_view frame) { on_frame(frame); },
                .on_closed = [this](const std::string&) { on_gone(); },
                .on_drained =
                    [this] {
                      send_more_of_file();
                      send_more_of_archive();
                    }}) {}

KeeperClient::~KeeperClient() {
  *alive_ = false;
  keeper_.loop().cancel(yield_timer_);
  keeper_.loop().cancel(idle_timer_);
  if (follower_ != 0) keeper_.log().unfollow(follower_);
}

sys::Status KeeperClient::open(sys::UniqueFd socket) { return channel_.open(std::move(socket)); }

// A program that nobody waits for any more is not wanted any more: who goes on without it says so
// by yield. That the service has gone is not the interpreter's fault.
void KeeperClient::on_gone() {
  if (!exec_id_.empty() && !is_finished_) {
    keeper_.leave(exec_id_);
    if (is_paused_) keeper_.session().pause_output(false);
    keeper_.session().stop(exec_id_, request_->wants_word ? SIGINT : SIGTERM);
  }
  keeper_.forget(*this);
}

void KeeperClient::on_frame(std::string_view frame) {
  if (is_finished_) return;
  if (request_ && request_->op == "write") return receive_file(frame);
  if (request_ && request_->op == "unpack") return receive_archive(frame);
  if (delivery_ && !delivery_->is_whole()) return receive_delivery(frame);
  auto request = parse_keeper_request(frame);
  if (!request) return finish(request.error().message());
  if (request_) return command(*request);
  begin(*std::move(request));
}

void KeeperClient::begin(KeeperRequest request) {
  request_ = request;
  const std::string& op = request.op;
  Session& session = keeper_.session();
  if (op != "state" && op != "logs") keeper_.touch();
  if (op == "exec" && !request.files.empty()) return begin_delivery();
  if (op == "exec") return begin_exec(std::move(request));
  if (op == "state") return tell_state();
  if (op == "logs") return tell_logs(request);
  if (op == "list") return list(request.path);
  if (op == "read") return send_file(request.path);
  if (op == "write") return receive_file({});
  if (op == "archive") return send_archive(request.path);
  if (op == "unpack") return receive_archive({});
  if (op == "remove") return remove(request.path);
  if (op == "extend") {
    keeper_.extend(request.ttl);
    return tell_state();
  }
  if (op == "interrupt") {
    return finish(session.interrupt() ? "" : "nothing runs in the session");
  }
  if (op == "kill") {
    const std::string running = session.state().running;
    if (running.empty()) return finish("nothing runs in the session");
    session.stop(running, SIGTERM);
    session.stop(running, SIGTERM);  // without patience
    return finish("");
  }
  if (op == "reset") {
    session.reset();
    return finish("");
  }
  if (op == "close") return keeper_.close();  // the answer is for when it is done
  if (op == "input" || op == "end_input") {
    auto done = op == "input" ? session.input(request.data) : sys::Status();
    if (done && (op == "end_input" || request.ends_input)) done = session.end_input();
    return finish(done ? "" : done.error().message());
  }
  finish("'" + op + "' is nothing that can be asked of a session");
}

// While its own program is under way.
void KeeperClient::command(const KeeperRequest& request) {
  if (awaits_range_ && request.op == "range") return begin_range(request);
  if (exec_id_.empty()) return;
  Session& session = keeper_.session();
  if (request.op == "interrupt") session.stop(exec_id_, SIGINT);
  if (request.op == "stop") session.stop(exec_id_, SIGTERM);
  if (session.state().running != exec_id_) return;
  if (request.op == "input") {
    (void)session.input(request.data, [this, alive = alive_] {
      if (*alive) send(reply::kTaken, {});
    });
  }
  if (request.op == "end_input") (void)session.end_input();
}

void KeeperClient::begin_exec(KeeperRequest request) {
  ExecRequest exec;
  const SessionSpec& spec = keeper_.session().spec();
  const policies::Language* language = spec.languages->find(request.language);
  if (language == nullptr && !request.language.empty()) {
    return fail(sys::plain_error("language '" + request.language + "' is not known"), "language");
  }
  if (language == nullptr) language = spec.languages->of_file(request.name);
  if (language == nullptr) language = spec.languages->find(spec.default_language);
  if (request.code.size() > kMostCode) {
    return fail(sys::plain_error("the program is longer than 16 MiB"), "code");
  }
  if (const auto denied = refuse_code(*spec.policy, language, request.code)) {
    return fail(sys::plain_error(denied->error), "code");
  }
  std::string field = "limits";
  auto limits = limits_of(request, keeper_.options().limits, keeper_.cpus(), field);
  if (!limits) return fail(limits.error(), field);
  auto needed =
      collect_requirements(request.requirements, installer_of(language->name), request.code,
                           request.name.empty() ? "the program" : request.name);
  if (!needed) return fail(needed.error(), "requirements");
  if (request.validation != Validation::alone) exec.requirements = *std::move(needed);
  request_->requirements = {};
  exec.id = request.id;
  exec.language = language->name;
  exec.name = request.name;
  exec.code = std::move(request.code);
  exec.limits = *limits;
  exec.open_input = request.open_input;
  exec.validation = request.validation;
  exec.files = std::move(delivery_);
  request_->code.clear();
  if (request.wants_events) {
    events_.emplace([this](std::string_view line) { send(reply::kEvent, line); },
                    request.base64 ? OutputForm::base64 : OutputForm::text);
  }
  auto id = keeper_.exec(std::move(exec), this);
  if (!id) return fail(id.error(), "language");
  exec_id_ = *id;
  if (request.wants_word) send(reply::kWord, {});
}

void KeeperClient::on_start(std::string_view id) {
  if (events_) events_->on_start(id);
  const Clock::time_point now = Clock::now();
  if (request_->yield) {
    yield_timer_ = keeper_.loop().at(now + *request_->yield, [this] { hand_back(); });
  }
  if (request_->yield_idle) check_idle();
  if (request_->open_input) send(reply::kTaken, {});
}

void KeeperClient::on_output(Stream stream, std::string_view bytes) {
  if (events_) events_->on_output(stream, bytes);
  if (request_->wants_output) send(stream == Stream::out ? reply::kOut : reply::kErr, bytes);
  if (is_paused_ || channel_.waiting() < kMuchWaiting) return;
  is_paused_ = true;
  keeper_.session().pause_output(true);
}

void KeeperClient::on_waiting_for_input() {
  if (events_) events_->on_event("waiting_for_input", "\"id\":\"" + exec_id_ + "\"");
}

void KeeperClient::on_end(const RunRecord& record) {
  if (events_) events_->on_end(record);
  const OutputForm form = request_->base64 ? OutputForm::base64 : OutputForm::text;
  // Who has it as the last event needs it no second time.
  const std::string told =
      request_->wants_word ? outline_of(record) : ",\"record\":" + to_json(record, form);
  finish("", told + member("exit_code", exit_code_of(record)) +
                 member("message", to_json_text(record.error)) +
                 member("hint", to_json_text(record.hint)) +
                 member("left_out", to_json_text(record.left_out)) +
                 member("artifact_paths", paths_of(record)) +
                 member("seq", keeper_.log().newest()));
}

// Of the record what who keeps account of runs wants to know.
std::string KeeperClient::outline_of(const RunRecord& record) {
  return member("status", to_json_text(status_name(record.status))) +
         member("code", record.exit_code ? json::value(*record.exit_code) : json::value(nullptr)) +
         member("duration_us", record.duration.count()) +
         member("cpu_us", record.cpu ? json::value(record.cpu->count()) : json::value(nullptr)) +
         member("memory_peak_bytes", number_or_null(record.memory_peak_bytes));
}

void KeeperClient::on_session_closed() {
  if (request_ && (request_->op == "close" || request_->op == "logs")) finish("");
}

void KeeperClient::check_idle() {
  const Execution* const execution = keeper_.session().find(exec_id_);
  if (execution == nullptr) return;
  const Clock::time_point due = execution->last_output() + *request_->yield_idle;
  if (Clock::now() >= due) return hand_back();
  idle_timer_ = keeper_.loop().at(due, [this] { check_idle(); });
}

// The program goes on without its client.
void KeeperClient::hand_back() {
  const Execution* const execution = keeper_.session().find(exec_id_);
  if (execution == nullptr) return;
  if (std::exchange(is_paused_, false)) keeper_.session().pause_output(false);
  keeper_.leave(exec_id_);
  on_end(execution->so_far());
}

void KeeperClient::tell_state() {
  const Session::State state = keeper_.session().state();
  const SessionSpec& spec = keeper_.session().spec();
  const Clock::time_point now = Clock::now();
  json::array interpreters;
  for (const std::string& each : state.interpreters) interpreters.emplace_back(to_json_text(each));
  json::value idle = nullptr;
  if (const auto since = keeper_.session().idle_since()) idle = milliseconds(now - *since);
  finish("",
         member("id", to_json_text(spec.id)) +
             member("language", to_json_text(spec.default_language)) +
             member("state", state.running.empty() ? "idle" : "running") +
             member("running", to_json_text(state.running)) + member("queued", state.queued) +
             member("keeper_pid", ::getpid()) + member("made_with", to_json_text(spec.made_with)) +
             member("interpreters", interpreters) + member("processes", state.processes) +
             member("cpu_ms", state.usage.cpu.count() / 1000) +
             member("memory_peak_bytes", number_or_null(state.usage.memory_peak_bytes)) +
             member("age_ms", milliseconds(now - keeper_.created_at())) + member("idle_ms", idle) +
             member("expires_in_ms", milliseconds(keeper_.expires_at() - now)) +
             member("seq", keeper_.log().newest()));
}

void KeeperClient::tell_logs(const KeeperRequest& request) {
  SessionLog& log = keeper_.log();
  const auto tell = [this](std::string_view line) { send(reply::kEvent, line); };
  log.read(request.since, tell);
  if (!request.follow) return finish("", member("seq", log.newest()));
  follower_ = log.follow(tell);
}

std::string KeeperClient::member(std::string_view key, const json::value& value) {
  return ",\"" + std::string(key) + "\":" + json::serialize(value);
}

void KeeperClient::fail(const sys::Error& error, std::string_view field) {
  finish(error.message(), member("code", error.code) + member("field", to_json_text(field)));
}

void KeeperClient::finish(const std::string& error, const std::string& members) {
  if (std::exchange(is_finished_, true)) return;
  keeper_.loop().cancel(std::exchange(yield_timer_, 0));
  keeper_.loop().cancel(std::exchange(idle_timer_, 0));
  send(reply::kLast,
       "{\"error\":" + json::serialize(json::value(to_json_text(error))) + members + "}");
}

void KeeperClient::send(char kind, std::string_view bytes) {
  channel_.send(std::string(1, kind).append(bytes));
}

}  // namespace wardcase::supervisor

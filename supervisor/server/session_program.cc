// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_program.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::size_t kInputPiece = 32 << 10;

KeeperRequest request_of(RunRequest& asked, const std::string& id) {
  KeeperRequest request;
  request.op = "exec";
  request.id = id;
  request.language = asked.language.value_or("");
  request.name = std::move(asked.name);
  request.code = std::move(*asked.code);
  for (const policies::LimitRow& row : policies::limit_table()) {
    const RunRequest::Limit& limit = asked.limits[static_cast<std::size_t>(row.id)];
    if (limit) request.limits.emplace_back(row.id, *limit);
  }
  request.requirements.words = std::move(asked.requirements);
  request.open_input = asked.has_open_input || asked.input.has_value();
  request.wants_events = true;
  request.wants_word = true;
  request.base64 = asked.form == OutputForm::base64;
  for (const RunRequest::File& file : asked.files) request.files.push_back({file.name, 0644});
  if (asked.is_validated) request.validation = Validation::first;
  return request;
}

// What the keeper says that it could not do, as a problem.
RunFailure failure_of(const json::object& last) {
  const std::string field = text_of(last, "field");
  const std::string sentence = text_of(last, "error");
  if (field.empty()) return {"session_failed", sentence};
  if (field.starts_with("limits")) return {"limit_refused", sentence, 422, field};
  return {"invalid_field", field + ": " + sentence, 400, field};
}

}  // namespace

SessionProgram::SessionProgram(EventLoop& loop, KnownRun& run, std::shared_ptr<std::size_t> count,
                               std::function<void()> over)
    : run_(run),
      count_(std::move(count)),
      over_(std::move(over)),
      link_(loop, {.on_part = [this](char kind, std::string_view bytes) { on_part(kind, bytes); },
                   .on_last = [this](const json::object* last) { on_last(last); },
                   .on_drained = [this] { send_files(); }}) {
  ++*count_;
}

SessionProgram::~SessionProgram() { end_count(); }

void SessionProgram::end_count() {
  if (count_ == nullptr) return;
  --*std::exchange(count_, nullptr);
}

sys::Status SessionProgram::start(const KnownSession& session, const std::string& id,
                                  RunRequest asked) {
  auto opened = link_.open(session.socket());
  if (!opened) return opened;
  link_.ask(request_of(asked, id));
  files_ = std::move(asked.files);
  std::ranges::reverse(files_);  // the last one is the next to go
  input_ = std::move(asked.input);
  outline_.id = id;
  outline_.session_id = session.facts().id;
  outline_.language = asked.language.value_or(session.facts().language);
  return {};
}

void SessionProgram::stop() {
  KeeperRequest request;
  request.op = "interrupt";
  link_.ask(request);
}

void SessionProgram::on_part(char kind, std::string_view bytes) {
  if (kind == reply::kWord) return run_.note_taken();
  if (kind == reply::kTaken) return send_input();
  if (kind == reply::kData) {
    may_send_files_ = true;
    return send_files();
  }
  if (kind != reply::kEvent) return;
  if (run_.state() == WorkState::queued) run_.note_begun();
  run_.take_line(bytes);
}

// Their bytes are asked for once there is a box to put them into, each up to an empty frame.
void SessionProgram::send_files() {
  while (may_send_files_ && !files_.empty() && link_.waiting() == 0) {
    const auto piece = std::string_view(files_.back().content).substr(sent_, kFileChunk);
    link_.send(piece);
    sent_ += piece.size();
    if (!piece.empty()) continue;
    files_.pop_back();
    sent_ = 0;
  }
}

// A piece whenever the one before was taken, and then the end.
void SessionProgram::send_input() {
  if (!input_) return;
  KeeperRequest request;
  request.data = input_->substr(sent_, kInputPiece);
  request.op = request.data.empty() ? "end_input" : "input";
  sent_ += request.data.size();
  if (request.data.empty()) input_.reset();
  link_.ask(request);
}

void SessionProgram::on_last(const json::object* last) {
  end_count();
  const auto over = over_;
  if (last == nullptr || !text_of(*last, "error").empty()) {
    run_.fail(last != nullptr ? failure_of(*last)
                              : RunFailure{std::string(kSessionEnded),
                                           "the session has ended, and the program with it", 409});
    return over();
  }
  outline_.status = status_named(text_of(*last, "status")).value_or(RunStatus::lost);
  if (const json::value* code = last->if_contains("code"); code != nullptr && code->is_int64()) {
    outline_.exit_code = static_cast<int>(code->get_int64());
  }
  outline_.duration = std::chrono::microseconds(number_of(*last, "duration_us"));
  outline_.cpu = std::chrono::microseconds(number_of(*last, "cpu_us"));
  outline_.memory_peak_bytes = static_cast<std::uint64_t>(number_of(*last, "memory_peak_bytes"));
  outline_.error = text_of(*last, "message");
  run_.end_elsewhere(outline_);
  over();
}

}  // namespace wardcase::supervisor

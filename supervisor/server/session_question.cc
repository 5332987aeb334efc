// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_question.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "supervisor/server/api_call.h"

namespace wardcase::supervisor {

namespace json = boost::json;

Problem no_such_session() {
  return {404, "no_such_session", "you have no such session, or it has ended"};
}

Problem refusal_of(const json::object& last) {
  const std::string sentence = text_of(last, "error");
  if (!last.contains("code")) return {409, "session_refused", sentence};
  switch (number_of(last, "code")) {
    case ENOENT:
    case ENOTDIR:
      return {404, "no_such_file", sentence};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return {507, "no_space", sentence};
    default:
      return {409, "file_refused", sentence};
  }
}

SessionQuestion::SessionQuestion(EventLoop& loop, Exchange& exchange, Answer answer)
    : exchange_(exchange),
      answer_(std::move(answer)),
      link_(make_keeper_link(loop,
                             {.on_part = [](char, std::string_view) {},
                              .on_last = [this](const json::object* last) { on_last(last); }})) {}

bool SessionQuestion::ask(const KnownSession& session, const KeeperRequest& request) {
  const auto opened = link_->open(session.socket());
  if (opened) link_->ask(request);
  return opened.has_value();
}

// Each answer ends this.
void SessionQuestion::on_last(const json::object* last) {
  if (last == nullptr) return exchange_.answer(to_response(no_such_session()));
  if (!text_of(*last, "error").empty()) return exchange_.answer(to_response(refusal_of(*last)));
  exchange_.answer(answer_(*last));
}

void ask_keeper(EventLoop& loop, Exchange& exchange, const KnownSession& session,
                const KeeperRequest& request, SessionQuestion::Answer answer) {
  auto question = std::make_unique<SessionQuestion>(loop, exchange, std::move(answer));
  if (!question->ask(session, request)) return exchange.answer(to_response(no_such_session()));
  exchange.hold(std::move(question));
}

}  // namespace wardcase::supervisor

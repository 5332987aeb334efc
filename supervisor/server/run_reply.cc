// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_reply.h"

#include <memory>

#include "supervisor/server/run_answers.h"

namespace wardcase::supervisor {

namespace {

class ReplyOnceTaken : public PendingAnswer {
 public:
  ReplyOnceTaken(KnownRun& run, AnswerKind kind, bool is_async, Exchange& exchange)
      : run_(run),
        kind_(kind),
        is_async_(is_async),
        exchange_(exchange),
        reader_(run, 0, WorkReader::Bond::waits, [this] { look(); }) {}

 private:
  void look() {
    if (is_done_ || !(run_.is_taken() || run_.state() == WorkState::ended)) return;
    is_done_ = true;
    if (run_.failure()) return exchange_.answer(record_of(run_));
    answer(run_, kind_, is_async_, exchange_);
  }

  KnownRun& run_;
  AnswerKind kind_;
  bool is_async_;
  Exchange& exchange_;
  bool is_done_ = false;
  WorkReader reader_;
};

}  // namespace

void reply_once_taken(KnownRun& run, AnswerKind kind, bool is_async, Exchange& exchange) {
  const bool says_it_is_there = is_async || kind != AnswerKind::json;
  if (says_it_is_there && !run.is_taken() && run.state() != WorkState::ended) {
    return exchange.hold(std::make_unique<ReplyOnceTaken>(run, kind, is_async, exchange));
  }
  answer(run, kind, is_async, exchange);
}

}  // namespace wardcase::supervisor

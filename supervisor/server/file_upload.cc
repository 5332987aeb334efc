// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/file_upload.h"

#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/server/session_question.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// Sends the body once the keeper has a place for it, a piece whenever the one before was taken.
class Upload : public PendingAnswer {
 public:
  Upload(EventLoop& loop, const ApiCall& call, std::string path)
      : exchange_(call.exchange),
        path_(std::move(path)),
        content_(call.request.body),
        link_(
            make_keeper_link(loop, {.on_part = [this](char, std::string_view) { begin(); },
                                    .on_last = [this](const json::object* last) { on_last(last); },
                                    .on_drained = [this] { send_more(); }})) {}

  [[nodiscard]] bool ask(const KnownSession& session, std::string op) {
    if (!link_->open(session.socket())) return false;
    KeeperRequest request;
    request.op = std::move(op);
    request.path = path_;
    link_->ask(request);
    return true;
  }

 private:
  void begin() {
    may_send_ = true;
    send_more();
  }

  // An empty piece is the end.
  void send_more() {
    while (may_send_ && link_->waiting() == 0) {
      const std::string_view piece = std::string_view(content_).substr(sent_, kFileChunk);
      sent_ += piece.size();
      may_send_ = !piece.empty();
      link_->send(piece);
    }
  }

  void on_last(const json::object* last) {
    if (last == nullptr) return exchange_.answer(to_response(no_such_session()));
    if (!text_of(*last, "error").empty()) return exchange_.answer(to_response(refusal_of(*last)));
    HttpResponse response =
        json_response(json::object{{"path", to_json_text(path_)}, {"size", content_.size()}});
    response.status = 201;
    exchange_.answer(response);
  }

  Exchange& exchange_;
  std::string path_;
  std::string content_;
  std::size_t sent_ = 0;
  bool may_send_ = false;
  KeeperLinkOwner link_;
};

}  // namespace

void upload(EventLoop& loop, const ApiCall& call, const KnownSession& session, std::string op,
            std::string path) {
  auto made = std::make_unique<Upload>(loop, call, std::move(path));
  if (!made->ask(session, std::move(op))) return call.refuse(no_such_session());
  call.exchange.hold(std::move(made));
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/file_download.h"

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "supervisor/languages/media_type.h"
#include "supervisor/server/byte_range.h"
#include "supervisor/server/session_question.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// What comes and is not taken yet; beyond it the keeper has to wait.
constexpr std::size_t kMostHeld = 256 << 10;

// The connection to the keeper and what came by it, from the question to the last byte.
class Transfer {
 public:
  explicit Transfer(EventLoop& loop)
      : link_(make_keeper_link(
            loop, {.on_part = [this](char kind, std::string_view bytes) { on_part(kind, bytes); },
                   .on_last = [this](const json::object* last) { on_last(last); }})) {}

  // One for who is asked next about what comes.
  std::function<void(const json::object& head)> on_head;
  std::function<void(const json::object* last)> on_over;
  std::function<void()> on_more;

  [[nodiscard]] bool ask(const KnownSession& session, const std::string& op,
                         const std::string& path) {
    if (!link_->open(session.socket())) return false;
    KeeperRequest request;
    request.op = op;
    request.path = path;
    request.wants_head = true;
    link_->ask(request);
    return true;
  }
  void ask_for(const ByteRange& range) {
    KeeperRequest request;
    request.op = "range";
    request.offset = range.offset;
    request.length = range.length;
    left_ = range.length;
    link_->ask(request);
  }
  BodySource::State take(std::string& text) {
    const std::size_t size = held_.size();
    text += held_;
    held_.clear();
    link_->set_paused(false);
    if (left_ == 0 || is_whole_) return BodySource::State::over;
    if (is_over_) return BodySource::State::failed;
    return size == 0 ? BodySource::State::nothing_yet : BodySource::State::more;
  }

 private:
  void on_part(char kind, std::string_view bytes) {
    if (kind == reply::kEvent) {
      json::error_code error;
      const json::value head = json::parse(bytes, error);
      if (!error && head.is_object()) on_head(head.get_object());
      return;
    }
    if (kind != reply::kData) return;
    bytes = bytes.substr(0, left_);
    left_ -= bytes.size();
    taken_ += bytes.size();
    held_ += bytes;
    if (held_.size() > kMostHeld) link_->set_paused(true);
    const auto more = on_more;  // a copy: it may put another in its place
    more();
  }
  void on_last(const json::object* last) {
    is_over_ = true;
    // What has a length is whole by that.
    is_whole_ = left_ == UINT64_MAX - taken_ && last != nullptr && text_of(*last, "error").empty();
    on_over(last);
  }

  KeeperLinkOwner link_;
  std::string held_;
  std::uint64_t left_ = UINT64_MAX;  // until a length is known
  std::uint64_t taken_ = 0;
  bool is_over_ = false;
  bool is_whole_ = false;
};

class FileBody : public BodySource {
 public:
  FileBody(std::unique_ptr<Transfer> transfer, Exchange& exchange)
      : transfer_(std::move(transfer)) {
    transfer_->on_more = [&exchange] { exchange.wake(); };
    transfer_->on_over = [&exchange](const json::object*) { exchange.wake(); };
  }
  State read(std::string& text) override { return transfer_->take(text); }
  [[nodiscard]] std::string heartbeat() const override { return ""; }  // none fits into a file

 private:
  std::unique_ptr<Transfer> transfer_;
};

struct Asked {
  std::string path;
  std::string range;
  std::string if_range;
  std::string if_none_match;
  bool is_head = false;
};

std::string header_or_empty(const HttpRequest& request, std::string_view name) {
  const std::string* const value = request.header(name);
  return value == nullptr ? "" : *value;
}

// Waits for the keeper to say what the file is.
class FileQuestion : public PendingAnswer {
 public:
  FileQuestion(EventLoop& loop, const ApiCall& call, Asked asked)
      : exchange_(call.exchange),
        asked_(std::move(asked)),
        transfer_(std::make_unique<Transfer>(loop)) {
    transfer_->on_head = [this](const json::object& head) { on_head(head); };
    transfer_->on_over = [this](const json::object* last) { on_over(last); };
    transfer_->on_more = [] {};
  }

  [[nodiscard]] bool ask(const KnownSession& session) {
    return transfer_->ask(session, "read", asked_.path);
  }

 private:
  void on_over(const json::object* last) {
    exchange_.answer(to_response(last == nullptr ? no_such_session() : refusal_of(*last)));
  }

  void on_head(const json::object& head) {
    const auto size = static_cast<std::uint64_t>(number_of(head, "size"));
    const std::string tag = '"' + text_of(head, "tag") + '"';
    ByteRange range = {ByteRange::Kind::whole, 0, size};
    // A part of another file than the one that the client has the rest of is of no use.
    if (asked_.if_range.empty() || asked_.if_range == tag) range = parse_range(asked_.range, size);
    HttpResponse response;
    response.content_type = media_type_of(asked_.path, "");
    response.headers = {{"ETag", tag}, {"Accept-Ranges", "bytes"}};
    if (names_tag(asked_.if_none_match, tag)) {
      response.status = 304;
      response.length = size;
      return exchange_.answer(response);
    }
    if (range.kind == ByteRange::Kind::unsatisfiable) {
      HttpResponse refused = to_response(
          Problem{416, "no_such_range", "Range: the file has " + std::to_string(size) + " bytes"});
      refused.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
      return exchange_.answer(refused);
    }
    response.length = range.length;
    if (range.kind == ByteRange::Kind::part) {
      response.status = 206;
      response.headers.emplace_back("Content-Range",
                                    "bytes " + std::to_string(range.offset) + "-" +
                                        std::to_string(range.offset + range.length - 1) + "/" +
                                        std::to_string(size));
    }
    if (asked_.is_head || range.length == 0) return exchange_.answer(response);
    transfer_->ask_for(range);
    exchange_.stream(response, std::make_unique<FileBody>(std::move(transfer_), exchange_));
  }

  Exchange& exchange_;
  Asked asked_;
  std::unique_ptr<Transfer> transfer_;
};

// Waits for its first piece, or for why there is none.
class ArchiveQuestion : public PendingAnswer {
 public:
  ArchiveQuestion(EventLoop& loop, Exchange& exchange)
      : exchange_(exchange), transfer_(std::make_unique<Transfer>(loop)) {
    transfer_->on_head = [](const json::object&) {};
    transfer_->on_more = [this] { begin(); };
    transfer_->on_over = [this](const json::object* last) {
      exchange_.answer(to_response(last == nullptr ? no_such_session() : refusal_of(*last)));
    };
  }

  [[nodiscard]] bool ask(const KnownSession& session, const std::string& path) {
    return transfer_->ask(session, "archive", path);
  }

 private:
  void begin() {
    HttpResponse head;
    head.content_type = "application/x-tar";
    exchange_.stream(head, std::make_unique<FileBody>(std::move(transfer_), exchange_));
  }

  Exchange& exchange_;
  std::unique_ptr<Transfer> transfer_;
};

}  // namespace

void download_archive(EventLoop& loop, const ApiCall& call, const KnownSession& session,
                      const std::string& path) {
  auto question = std::make_unique<ArchiveQuestion>(loop, call.exchange);
  if (!question->ask(session, path)) return call.refuse(no_such_session());
  call.exchange.hold(std::move(question));
}

void download_file(EventLoop& loop, const ApiCall& call, const KnownSession& session,
                   std::string path) {
  Asked asked = {std::move(path), header_or_empty(call.request, "range"),
                 header_or_empty(call.request, "if-range"),
                 header_or_empty(call.request, "if-none-match"), call.request.method == "HEAD"};
  auto question = std::make_unique<FileQuestion>(loop, call, std::move(asked));
  if (!question->ask(session)) return call.refuse(no_such_session());
  call.exchange.hold(std::move(question));
}

}  // namespace wardcase::supervisor

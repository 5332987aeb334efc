// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/session_client.h"

#include <boost/json.hpp>
#include <cerrno>
#include <utility>

#include "supervisor/sessions/keeper_protocol.h"
#include "supervisor/sessions/session_place.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

json::value member_of(const std::string& object, std::string_view key) {
  json::error_code error;
  const json::value value = json::parse(object, error);
  if (error || !value.is_object()) return nullptr;
  const json::value* member = value.get_object().if_contains(key);
  return member == nullptr ? json::value(nullptr) : *member;
}

}  // namespace

SessionClient::SessionClient(EventLoop& loop)
    : loop_(loop),
      channel_(loop, {.frame = kMostReply, .waiting = 2 * kMostRequest},
               {.on_frame = [this](std::string_view frame) { on_frame(frame); },
                .on_closed = [this](const std::string&) { loop_.stop(); },
                .on_drained =
                    [this] {
                      if (drained_) drained_();
                    }}) {}

sys::Status SessionClient::ask(std::string_view id, const KeeperRequest& request, OnPart on_part) {
  auto socket = connect_session(id);
  if (!socket) return tl::unexpected(std::move(socket).error());
  on_part_ = std::move(on_part);
  if (auto opened = channel_.open(*std::move(socket)); !opened) return opened;
  channel_.send(to_json(request));
  return {};
}

void SessionClient::on_frame(std::string_view frame) {
  if (frame.empty()) return;
  if (frame.front() != reply::kLast) return on_part_(frame.front(), frame.substr(1));
  last_ = frame.substr(1);
  loop_.stop();
}

sys::Result<std::string> SessionClient::await() {
  if (auto turned = loop_.run(); !turned) return tl::unexpected(turned.error());
  if (last_.empty()) {
    return tl::unexpected(sys::plain_error("the session has ended, and with it the answer"));
  }
  if (const std::string error = text_member(last_, "error"); !error.empty()) {
    return tl::unexpected(sys::plain_error(error));
  }
  return std::move(last_);
}

std::string text_member(const std::string& object, std::string_view key) {
  const json::value value = member_of(object, key);
  return value.is_string() ? std::string(value.get_string()) : "";
}

std::int64_t number_member(const std::string& object, std::string_view key) {
  json::error_code error;
  const auto number = member_of(object, key).to_number<std::int64_t>(error);
  return error ? 0 : number;
}

std::string member_json(const std::string& object, std::string_view key) {
  return json::serialize(member_of(object, key));
}

sys::Result<std::string> ask_session(std::string_view id, const KeeperRequest& request,
                                     std::chrono::seconds patience) {
  auto loop = EventLoop::create();
  if (!loop) return tl::unexpected(loop.error());
  SessionClient client(*loop);
  if (auto asked = client.ask(id, request, [](char, std::string_view) {}); !asked) {
    return tl::unexpected(asked.error());
  }
  bool is_silent = false;
  loop->at(Clock::now() + patience, [&] {
    is_silent = true;
    loop->stop();
  });
  auto last = client.await();
  if (!is_silent) return last;
  return tl::unexpected(sys::Error{ETIMEDOUT, "ask its keeper"});
}

}  // namespace wardcase::supervisor

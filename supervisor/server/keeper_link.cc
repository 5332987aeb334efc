// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/keeper_link.h"

#include <boost/json.hpp>
#include <utility>

#include "supervisor/sessions/keeper_protocol.h"
#include "supervisor/sessions/session_place.h"

namespace wardcase::supervisor {

namespace json = boost::json;

KeeperLink::KeeperLink(EventLoop& loop, Events events)
    : events_(std::move(events)),
      channel_(loop, {.frame = kMostReply, .waiting = 2 * kMostRequest},
               {.on_frame = [this](std::string_view frame) { on_frame(frame); },
                .on_closed = [this](const std::string&) { conclude(nullptr); },
                .on_drained =
                    [this] {
                      if (events_.on_drained) events_.on_drained();
                    }}) {}

sys::Status KeeperLink::open(const std::string& socket) {
  auto connected = connect_to_keeper(socket);
  if (!connected) return tl::unexpected(std::move(connected).error());
  return channel_.open(*std::move(connected));
}

void KeeperLink::on_frame(std::string_view frame) {
  if (frame.empty() || is_over_) return;
  if (frame.front() != reply::kLast) return events_.on_part(frame.front(), frame.substr(1));
  json::error_code error;
  const json::value last = json::parse(frame.substr(1), error);
  conclude(error ? nullptr : last.if_object());
}

void KeeperLink::conclude(const json::object* last) {
  if (std::exchange(is_over_, true)) return;
  events_.on_last(last);
}

void KeeperLink::leave() {
  is_over_ = true;
  channel_.close();
}

void LeaveKeeperLink::operator()(KeeperLink* link) const {
  link->leave();
  loop->post([gone = std::shared_ptr<KeeperLink>(link)] {});
}

KeeperLinkOwner make_keeper_link(EventLoop& loop, KeeperLink::Events events) {
  return {new KeeperLink(loop, std::move(events)), LeaveKeeperLink{&loop}};
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* const member = object.if_contains(key);
  return member != nullptr && member->is_string() ? std::string(member->get_string()) : "";
}

std::int64_t number_of(const json::object& object, std::string_view key) {
  const json::value* const member = object.if_contains(key);
  json::error_code error;
  const auto number = member == nullptr ? 0 : member->to_number<std::int64_t>(error);
  return error ? 0 : number;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/keeper.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/server/keeper_client.h"

namespace wardcase::supervisor {

namespace {

constexpr std::chrono::seconds kLook{1};
constexpr std::chrono::seconds kFarewell{2};
constexpr std::chrono::milliseconds kFarewellLook{10};
constexpr std::size_t kMostClients = 128;

// The directory is ours alone; whoever came in all the same is nobody to talk to.
bool is_ours(int socket) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

Keeper::Keeper(EventLoop& loop, Host& host, Listener listener, SessionSpec spec,
               KeeperOptions options)
    : loop_(loop),
      host_(host),
      listener_(std::move(listener)),
      socket_path_(listener_.address().substr(std::string_view("unix:").size())),
      options_(std::move(options)),
      session_(loop, host, std::move(spec), [this] { on_closed(); }),
      expires_at_(created_at_ + options_.ttl) {}

Keeper::~Keeper() {
  loop_.cancel(timer_);
  loop_.forget(listener_.fd());
}

sys::Status Keeper::open() {
  look_around();
  return loop_.watch(listener_.fd(), EPOLLIN, [this](std::uint32_t) { accept(); });
}

// Who waits is told before the session goes.
void Keeper::close() {
  loop_.cancel(std::exchange(timer_, 0));
  loop_.forget(listener_.fd());
  session_.close();
}

void Keeper::extend(std::chrono::milliseconds ttl) { expires_at_ = Clock::now() + ttl; }

void Keeper::accept() {
  sys::UniqueFd socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open() || clients_.size() >= kMostClients || !is_ours(socket.get())) return;
  auto client = std::make_unique<KeeperClient>(*this);
  if (client->open(std::move(socket))) clients_.emplace(client.get(), std::move(client));
}

void Keeper::forget(KeeperClient& client) {
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second == &client; });
  auto node = clients_.extract(&client);
  if (node.empty()) return;
  loop_.post([gone = std::shared_ptr<KeeperClient>(std::move(node.mapped()))] {});
}

sys::Result<std::string> Keeper::exec(ExecRequest request, KeeperClient* client) {
  auto id = session_.exec(std::move(request), this);
  if (id && client != nullptr) listeners_.emplace(*id, client);
  return id;
}

KeeperClient* Keeper::listener_of(const std::string& id) {
  const auto found = listeners_.find(id);
  return found == listeners_.end() ? nullptr : found->second;
}

void Keeper::on_start(std::string_view id) {
  running_ = id;
  log_.events().on_start(id);
  if (KeeperClient* client = listener_of(running_)) client->on_start(id);
}

void Keeper::on_output(Stream stream, std::string_view bytes) {
  log_.events().on_output(stream, bytes);
  if (KeeperClient* client = listener_of(running_)) client->on_output(stream, bytes);
}

void Keeper::on_waiting_for_input() {
  log_.add("waiting_for_input", running_);
  if (KeeperClient* client = listener_of(running_)) client->on_waiting_for_input();
}

void Keeper::on_end(const RunRecord& record) {
  touch();
  log_.events().on_end(record);
  if (record.id == running_) running_.clear();
  KeeperClient* const client = listener_of(record.id);
  listeners_.erase(record.id);
  if (client != nullptr) client->on_end(record);
}

// The name is free before anybody is told.
void Keeper::on_closed() {
  { const Listener gone = std::move(listener_); }
  for (const auto& [client, owned] : clients_) client->on_session_closed();
  end_when_told(Clock::now() + kFarewell);
}

// Who was told something has time to take it.
void Keeper::end_when_told(Clock::time_point latest) {
  const bool all_know = std::ranges::all_of(
      clients_, [](const auto& entry) { return entry.second->is_up_to_date(); });
  if (all_know || Clock::now() >= latest) return loop_.stop();
  timer_ = loop_.at(Clock::now() + kFarewellLook, [this, latest] { end_when_told(latest); });
}

// Nobody tells us that a runtime directory goes, or how late it is.
void Keeper::look_around() {
  const Clock::time_point now = Clock::now();
  const bool is_gone = ::access(socket_path_.c_str(), F_OK) < 0;
  const auto idle_since = session_.idle_since();
  const bool is_idle = options_.idle_ttl.count() != 0 && idle_since &&
                       now >= std::max(*idle_since, last_used_) + options_.idle_ttl;
  if (is_gone || is_idle || now >= expires_at_) return close();
  timer_ = loop_.at(now + kLook, [this] { look_around(); });
}

}  // namespace wardcase::supervisor

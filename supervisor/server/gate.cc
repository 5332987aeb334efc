// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/gate.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "supervisor/server/accounts.h"
#include "supervisor/server/request_target.h"

namespace wardcase::supervisor {

namespace {

constexpr std::string_view kScheme = "bearer ";

tl::unexpected<Problem> unauthorized(const std::string& why) {
  return tl::unexpected(Problem{401, "unauthorized", why});
}

tl::unexpected<Problem> forbidden(const std::string& why) {
  return tl::unexpected(Problem{403, "forbidden", why});
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

// The name without the port.
std::string_view name_in(std::string_view host) {
  const bool has_brackets = host.starts_with('[');
  const std::size_t end = has_brackets ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return host;
  return host.substr(0, end + (has_brackets ? 1 : 0));
}

// What a page's own name can never be: it would have to be reached by the address itself.
bool is_address(std::string_view host) {
  std::array<unsigned char, sizeof(in6_addr)> place;
  std::string text(host);
  if (text.starts_with('[') && text.ends_with(']')) {
    return ::inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(), place.data()) == 1;
  }
  return ::inet_pton(AF_INET, text.c_str(), place.data()) == 1;
}

// What it takes to ask for a path; nullopt: any scope will do.
std::optional<Scope> scope_of(std::string_view path) {
  const auto is_below = [&](std::string_view parent) {
    return path == parent || (path.starts_with(parent) && path[parent.size()] == '/');
  };
  if (is_below("/v1/runs") || is_below("/v1/batches")) return Scope::run;
  if (is_below("/v1/sessions")) return Scope::session;
  return std::nullopt;
}

// Tells that the service lives to those who can show no token, as probes.
bool is_open(std::string_view path) { return path == "/livez"; }

}  // namespace

sys::Result<Gate> Gate::read(const policies::ServiceSettings& settings,
                             const std::optional<std::string>& token_file) {
  Gate gate;
  for (const policies::Setting<policies::AccessRule>& setting : settings.access) {
    const policies::AccessRule& asked = setting.value;
    Rule rule = {std::nullopt, std::nullopt, asked.role};
    sys::Status found;
    if (!asked.user.empty()) {
      found = find_user_id(asked.user).map([&](uid_t id) { rule.user = id; });
    } else {
      found = find_group_id(asked.group).map([&](gid_t id) { rule.group = id; });
    }
    if (!found) return tl::unexpected(sys::Error(found.error()).while_doing(setting.origin));
    gate.rules_.push_back(rule);
  }
  if (settings.hosts) gate.hosts_ = settings.hosts->value;
  if (!token_file) return gate;
  auto tokens = read_token_file(*token_file);
  if (!tokens) return tl::unexpected(std::move(tokens).error().while_doing("tokens"));
  gate.tokens_ = *std::move(tokens);
  return gate;
}

tl::expected<Caller, Problem> Gate::admit(const HttpRequest& request, const Peer& peer,
                                          std::string_view path) const {
  if (peer.transport == Transport::tcp) {
    if (auto problem = refuse_browsers(request)) return tl::unexpected(*std::move(problem));
  }
  if (is_open(path)) return Caller{"anybody", false, std::nullopt, {}, {}};
  auto caller = caller_of(request, peer);
  if (!caller) return caller;
  const auto scope = scope_of(path);
  if (!scope || caller->may(*scope)) return caller;
  return forbidden("the token of this request has no scope '" + std::string(scope_name(*scope)) +
                   "'");
}

bool Gate::knows_host(std::string_view host) const {
  const std::string name = lower_case(name_in(host));
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  // By an address beyond this host it is reached by who has a token alone.
  if (tokens_ && is_address(name)) return true;
  return std::ranges::find(hosts_, name) != hosts_.end();
}

// A page in somebody's browser can reach what listens on TCP: by a name of its own that leads to
// this host, or by a request that is sent from it.
std::optional<Problem> Gate::refuse_browsers(const HttpRequest& request) const {
  const std::string* host = request.header("host");
  if (host == nullptr || !knows_host(*host)) {
    return Problem{421, "wrong_host",
                   "the Host header has to name this host, as localhost, or as [server] hosts of "
                   "its configuration says"};
  }
  if (request.count("origin") > 0) {
    return Problem{403, "origin_refused", "requests of web pages (with an Origin) are refused"};
  }
  return std::nullopt;
}

tl::expected<Caller, Problem> Gate::caller_of(const HttpRequest& request, const Peer& peer) const {
  const std::size_t count = request.count("authorization");
  if (count > 1) return unauthorized("send one Authorization header");
  if (count == 1) return holder_of(*request.header("authorization"));
  if (peer.transport == Transport::unix_socket) return user_at(peer);
  if (!tokens_) return Caller{"anybody"};
  return unauthorized("send a token: Authorization: Bearer TOKEN");
}

tl::expected<Caller, Problem> Gate::holder_of(const std::string& authorization) const {
  if (lower_case(std::string_view(authorization).substr(0, kScheme.size())) != kScheme) {
    return unauthorized("the only way is Authorization: Bearer TOKEN");
  }
  if (!tokens_) return unauthorized("this service has no tokens; send no Authorization header");
  const std::string_view secret = std::string_view(authorization).substr(kScheme.size());
  const Token* const token = find_token(*tokens_, hash_token(secret));
  if (token == nullptr) return unauthorized("there is no such token");
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (token->is_expired(now)) return unauthorized("the token has expired");
  return Caller{"token:" + token->name, token->has(Scope::admin), std::nullopt, {}, token->scopes};
}

tl::expected<Caller, Problem> Gate::user_at(const Peer& peer) const {
  // Of one that it can't tell, nothing is allowed.
  if (!peer.uid) return forbidden("the kernel does not tell who asks");
  const uid_t uid = *peer.uid;
  Caller caller = {"uid:" + std::to_string(uid), false, uid, peer.groups};
  caller.is_admin = uid == 0 || uid == ::geteuid();
  if (caller.is_admin || rules_.empty()) return caller;
  bool is_known = false;
  for (const Rule& rule : rules_) {
    const bool is_meant = rule.user
                              ? *rule.user == uid
                              : std::ranges::find(peer.groups, *rule.group) != peer.groups.end();
    if (!is_meant) continue;
    is_known = true;
    caller.is_admin = caller.is_admin || rule.role == policies::Role::admin;
  }
  if (is_known) return caller;
  return forbidden("no [[access]] of this service's configuration is about user " +
                   std::to_string(uid) + " or one of its groups");
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/api.h"

#include <sys/utsname.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/run/version.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/request_spec.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr int kRetrySeconds = 1;
constexpr int kRestartSeconds = 5;

HttpResponse to_response(const json::object& body) {
  HttpResponse response;
  response.body = json::serialize(body) + "\n";
  return response;
}

Problem draining() {
  return {503, "draining", "the service is being stopped", "", kRestartSeconds};
}

HttpResponse version() {
  utsname system = {};
  (void)::uname(&system);  // fails only on a bad address
  return to_response({{"name", "wardcase"},
                      {"version", json::string_view(kVersion.data(), kVersion.size())},
                      {"api", "v1"},
                      {"architecture", static_cast<const char*>(system.machine)}});
}

// Without the scheme and authority of the absolute form, and without a query.
std::string_view path_of(std::string_view target) {
  if (!target.starts_with('/')) {
    const std::size_t authority = target.find("://");
    if (authority == std::string_view::npos) return target;
    target.remove_prefix(authority + 3);
    const std::size_t path = target.find('/');
    if (path == std::string_view::npos) return "/";
    target.remove_prefix(path);
  }
  return target.substr(0, target.find('?'));
}

// The name without the port.
bool names_this_host(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  const bool has_end = end != std::string_view::npos;
  const std::string_view name =
      has_end ? host.substr(0, end + (host.starts_with('[') ? 1 : 0)) : host;
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

// A page in somebody's browser can reach what listens on TCP: by a name of its own that leads to
// this host, or by a request that is sent from it.
std::optional<Problem> refuse_browsers(const HttpRequest& request) {
  const std::string* host = request.header("host");
  if (host == nullptr || !names_this_host(*host)) {
    return Problem{421, "wrong_host", "the Host header has to name this host, as localhost"};
  }
  if (request.count("origin") > 0) {
    return Problem{403, "origin_refused", "requests of web pages (with an Origin) are refused"};
  }
  return std::nullopt;
}

bool is_json(const HttpRequest& request) {
  const std::string* type = request.header("content-type");
  if (type == nullptr) return true;
  std::string media = type->substr(0, type->find(';'));
  while (!media.empty() && (media.back() == ' ' || media.back() == '\t')) media.pop_back();
  std::ranges::transform(media, media.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return media == "application/json";
}

enum class Route : std::uint8_t { live, ready, version, runs };
struct Path {
  std::string_view path;
  Route route;
  std::string_view allowed;
};
constexpr Path kPaths[] = {
    {"/livez", Route::live, "GET, HEAD"},
    {"/readyz", Route::ready, "GET, HEAD"},
    {"/v1/version", Route::version, "GET, HEAD"},
    {"/v1/runs", Route::runs, "POST"},
};

}  // namespace

std::optional<RunQueue::Ticket> Api::handle(const HttpRequest& request, Transport transport,
                                            const Answer& answer) {
  const auto refuse = [&](const Problem& problem) {
    answer(supervisor::to_response(problem));
    return std::nullopt;
  };
  if (transport == Transport::tcp) {
    if (const auto problem = refuse_browsers(request)) return refuse(*problem);
  }
  const std::string_view path = path_of(request.target);
  const auto* const found = std::ranges::find(kPaths, path, &Path::path);
  if (found == std::end(kPaths)) {
    std::string paths;
    for (const Path& each : kPaths) paths += (paths.empty() ? "" : ", ") + std::string(each.path);
    return refuse({404, "not_found", "there is " + paths});
  }
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (found->route == Route::runs ? request.method != "POST" : !is_read) {
    HttpResponse response = supervisor::to_response(
        {405, "method_not_allowed", "this path takes " + std::string(found->allowed)});
    response.headers.emplace_back("Allow", found->allowed);
    answer(response);
    return std::nullopt;
  }
  switch (found->route) {
    case Route::live:
      answer(to_response({{"status", "live"}}));
      return std::nullopt;
    case Route::ready:
      answer(ready());
      return std::nullopt;
    case Route::version:
      answer(version());
      return std::nullopt;
    case Route::runs:
      break;
  }
  return run(request, answer);
}

HttpResponse Api::ready() const {
  json::array reasons;
  if (is_draining_) reasons.emplace_back(to_json_text(draining().detail));
  if (!readiness_.why_not().empty()) reasons.emplace_back(to_json_text(readiness_.why_not()));
  if (reasons.empty()) return to_response({{"status", "ready"}});
  HttpResponse response = supervisor::to_response(
      {503, is_draining_ ? "draining" : "not_ready", "see reasons", "", kRestartSeconds});
  json::object body = json::parse(response.body).as_object();
  body["reasons"] = std::move(reasons);
  response.body = json::serialize(body) + "\n";
  return response;
}

std::optional<RunQueue::Ticket> Api::run(const HttpRequest& request, const Answer& answer) {
  const auto refuse = [&](const Problem& problem) {
    answer(supervisor::to_response(problem));
    return std::nullopt;
  };
  if (is_draining_) return refuse(draining());
  if (!is_json(request)) {
    return refuse({415, "unsupported_media_type", "send Content-Type: application/json"});
  }
  const auto asked = parse_run_request(request.body);
  if (!asked) return refuse(asked.error());
  auto settled = settle_request(*asked, host_);
  if (!settled) return refuse(settled.error());
  const OutputForm form = asked->form;
  const auto tell = [this, form, answer](const RunRecord* record) {
    if (record == nullptr) return answer(supervisor::to_response(draining()));
    if (record->status == RunStatus::setup_failed) readiness_.doubt();
    HttpResponse response;
    response.body = to_json(*record, form) + "\n";
    answer(response);
  };
  if (settled->refusal) {
    tell(&*settled->refusal);
    return std::nullopt;
  }
  const auto ticket = queue_.submit(std::move(settled->job), held_bytes(*asked), tell);
  if (ticket) return ticket;
  return refuse({429, "queue_full", "too many runs wait already", "", kRetrySeconds});
}

}  // namespace wardcase::supervisor

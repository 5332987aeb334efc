// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/api.h"

#include <string>
#include <utility>

#include "supervisor/server/request_target.h"

namespace wardcase::supervisor {

namespace {

// Everybody whose methods a route can have.
struct Handlers {
  ServiceHandlers& service;
  RunHandlers& runs;
  BatchHandlers& batches;
  SessionHandlers& sessions;
  SessionFileHandlers& files;
  HostHandlers& host;
};

struct Route {
  std::string_view method;
  std::string_view path;
  void (*handle)(const Handlers& handlers, const ApiCall& call);
};

// lint: table
constexpr Route kRoutes[] = {
    {"GET", "/livez", [](const auto& h, const auto& call) { h.service.live(call); }},
    {"GET", "/readyz", [](const auto& h, const auto& call) { h.service.ready(call); }},
    {"GET", "/metrics", [](const auto& h, const auto& call) { h.service.metrics(call); }},
    {"GET", "/openapi.json", [](const auto& h, const auto& call) { h.service.openapi(call); }},
    {"GET", "/v1/version", [](const auto& h, const auto& call) { h.service.version(call); }},
    {"GET", "/v1/languages", [](const auto& h, const auto& call) { h.host.languages(call); }},
    {"GET", "/v1/policies", [](const auto& h, const auto& call) { h.host.policies(call); }},
    {"GET", "/v1/limits", [](const auto& h, const auto& call) { h.host.limits(call); }},
    {"GET", "/v1/doctor", [](const auto& h, const auto& call) { h.host.doctor(call); }},
    {"POST", "/v1/runs", [](const auto& h, const auto& call) { h.runs.begin(call); }},
    {"GET", "/v1/runs", [](const auto& h, const auto& call) { h.runs.list(call); }},
    {"GET", "/v1/runs/{id}", [](const auto& h, const auto& call) { h.runs.show(call); }},
    {"DELETE", "/v1/runs/{id}", [](const auto& h, const auto& call) { h.runs.stop(call); }},
    {"GET", "/v1/runs/{id}/events", [](const auto& h, const auto& call) { h.runs.follow(call); }},
    {"POST", "/v1/batches", [](const auto& h, const auto& call) { h.batches.begin(call); }},
    {"GET", "/v1/batches/{id}", [](const auto& h, const auto& call) { h.batches.show(call); }},
    {"DELETE", "/v1/batches/{id}", [](const auto& h, const auto& call) { h.batches.stop(call); }},
    {"GET", "/v1/batches/{id}/events",
     [](const auto& h, const auto& call) { h.batches.follow(call); }},
    {"POST", "/v1/sessions", [](const auto& h, const auto& call) { h.sessions.create(call); }},
    {"GET", "/v1/sessions", [](const auto& h, const auto& call) { h.sessions.list(call); }},
    {"GET", "/v1/sessions/{id}", [](const auto& h, const auto& call) { h.sessions.show(call); }},
    {"PATCH", "/v1/sessions/{id}",
     [](const auto& h, const auto& call) { h.sessions.extend(call); }},
    {"DELETE", "/v1/sessions/{id}",
     [](const auto& h, const auto& call) { h.sessions.remove(call); }},
    {"POST", "/v1/sessions/{id}/exec",
     [](const auto& h, const auto& call) { h.sessions.exec(call); }},
    {"POST", "/v1/sessions/{id}/interrupt",
     [](const auto& h, const auto& call) { h.sessions.interrupt(call); }},
    {"POST", "/v1/sessions/{id}/input",
     [](const auto& h, const auto& call) { h.sessions.input(call); }},
    {"POST", "/v1/sessions/{id}/reset",
     [](const auto& h, const auto& call) { h.sessions.reset(call); }},
    {"GET", "/v1/sessions/{id}/files", [](const auto& h, const auto& call) { h.files.list(call); }},
    {"GET", "/v1/sessions/{id}/files/{path}",
     [](const auto& h, const auto& call) { h.files.read(call); }},
    {"PUT", "/v1/sessions/{id}/files/{path}",
     [](const auto& h, const auto& call) { h.files.write(call); }},
    {"DELETE", "/v1/sessions/{id}/files/{path}",
     [](const auto& h, const auto& call) { h.files.remove(call); }},
    {"GET", "/v1/sessions/{id}/archive",
     [](const auto& h, const auto& call) { h.files.archive(call); }},
    {"PUT", "/v1/sessions/{id}/archive",
     [](const auto& h, const auto& call) { h.files.unpack(call); }},
};

void add_to(std::string& list, std::string_view word) {
  if (list.find(word) != std::string::npos) return;
  list += (list.empty() ? "" : ", ") + std::string(word);
}

HttpResponse not_found() {
  std::string paths;
  for (const Route& route : kRoutes) add_to(paths, route.path);
  return to_response(Problem{404, "not_found", "there is " + paths});
}

HttpResponse not_allowed(const std::string& methods) {
  HttpResponse response =
      to_response(Problem{405, "method_not_allowed", "this path takes " + methods});
  response.headers.emplace_back("Allow", methods);
  return response;
}

}  // namespace

std::optional<HttpResponse> Api::refuse(const HttpRequest& head, const Peer& peer) const {
  const auto caller = configuration_.gate().admit(head, peer, path_of(head.target));
  if (caller) return std::nullopt;
  return to_response(caller.error());
}

void Api::handle(const HttpRequest& request, Exchange& exchange) {
  const std::string_view path = path_of(request.target);
  const auto caller = configuration_.gate().admit(request, exchange.peer(), path);
  if (!caller) return exchange.answer(to_response(caller.error()));
  const std::string_view method =
      request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  std::string methods;
  ApiCall call = {request, exchange, *caller, {}, {}};
  for (const Route& route : kRoutes) {
    if (!matches(path, route.path, call.id, call.rest)) continue;
    if (route.method == method) {
      return route.handle({service_, runs_, batches_, sessions_, files_, host_}, call);
    }
    add_to(methods, route.method);
    if (route.method == "GET") add_to(methods, "HEAD");
  }
  exchange.answer(methods.empty() ? not_found() : not_allowed(methods));
}

void Api::begin_drain() {
  service_.begin_drain();
  runs_.begin_drain();
  batches_.begin_drain();
  sessions_.begin_drain();
}

}  // namespace wardcase::supervisor

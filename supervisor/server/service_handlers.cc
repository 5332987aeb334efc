// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/service_handlers.h"

#include <sys/utsname.h>

#include <boost/json.hpp>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/run/version.h"
#include "supervisor/server/openapi_text.h"

namespace wardcase::supervisor {

namespace json = boost::json;

Problem draining() {
  return {503, "draining", "the service is being stopped", "", kRestartSeconds};
}

HttpResponse json_response(const json::object& body) {
  HttpResponse response;
  response.body = json::serialize(body) + "\n";
  return response;
}

void ServiceHandlers::live(const ApiCall& call) {
  call.exchange.answer(json_response(json::object{{"status", "live"}}));
}

void ServiceHandlers::ready(const ApiCall& call) const {
  json::array reasons;
  if (is_draining_) reasons.emplace_back(to_json_text(draining().detail));
  if (!readiness_.why_not().empty()) reasons.emplace_back(to_json_text(readiness_.why_not()));
  if (reasons.empty()) {
    json::object body = {{"status", "ready"}};
    if (const std::string& warning = readiness_.warning(); !warning.empty()) {
      body["warnings"] = json::array{to_json_text(warning)};
    }
    return call.exchange.answer(json_response(body));
  }
  HttpResponse response = to_response(
      Problem{503, is_draining_ ? "draining" : "not_ready", "see reasons", "", kRestartSeconds});
  json::object body = json::parse(response.body).as_object();
  body["reasons"] = std::move(reasons);
  response.body = json::serialize(body) + "\n";
  call.exchange.answer(response);
}

void ServiceHandlers::version(const ApiCall& call) {
  utsname system = {};
  (void)::uname(&system);  // fails only on a bad address
  call.exchange.answer(
      json_response(json::object{{"name", "wardcase"},
                                 {"version", json::string_view(kVersion.data(), kVersion.size())},
                                 {"api", "v1"},
                                 {"architecture", static_cast<const char*>(system.machine)}}));
}

void ServiceHandlers::metrics(const ApiCall& call) const {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = telemetry_.metrics();
  call.exchange.answer(response);
}

void ServiceHandlers::openapi(const ApiCall& call) {
  HttpResponse response;
  response.body = openapi_text();
  call.exchange.answer(response);
}

}  // namespace wardcase::supervisor

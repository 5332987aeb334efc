// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/problem.h"

#include <boost/json.hpp>

#include "supervisor/run/record_parts.h"

namespace wardcase::supervisor {

namespace json = boost::json;

std::string_view status_title(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Internal Server Error";
  }
}

HttpResponse to_response(const Problem& problem) {
  json::object body = {{"type", "about:blank"},
                       {"title", status_title(problem.status)},
                       {"status", problem.status},
                       {"detail", to_json_text(problem.detail)},
                       {"code", to_json_text(problem.code)},
                       {"retryable", problem.retry_after_seconds > 0}};
  if (!problem.field.empty()) body["field"] = to_json_text(problem.field);
  HttpResponse response;
  response.status = problem.status;
  response.content_type = "application/problem+json";
  response.body = json::serialize(body) + "\n";
  if (problem.status == 401) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"wardcase\"");
  }
  if (problem.retry_after_seconds > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(problem.retry_after_seconds));
  }
  return response;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A line is the target, and each one after it a header: NAME:VALUE.
#include "supervisor/server/request_terms.h"

#include <array>
#include <string>
#include <string_view>

#include "supervisor/server/request_target.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using wardcase::supervisor::AnswerKind;
using wardcase::supervisor::HttpRequest;

namespace {

HttpRequest request_of(std::string_view text) {
  HttpRequest request;
  std::size_t end = text.find('\n');
  request.target = text.substr(0, end);
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    request.headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
  }
  return request;
}

void check_target(const std::string& target) {
  const std::string_view path = wardcase::supervisor::path_of(target);
  require(path == "/" || target.find(path) != std::string::npos, "a path is a part of the target");
  std::string_view id;
  if (wardcase::supervisor::matches(path, "/v1/runs/{id}/events", id)) {
    require(!id.empty() && id.find('/') == std::string_view::npos, "an id is one segment");
  }
  const auto after = wardcase::supervisor::parameter_of(target, "after");
  require(!after || after->find('&') == std::string_view::npos, "a parameter ends");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const HttpRequest request = request_of({reinterpret_cast<const char*>(data), size});
  check_target(request.target);
  constexpr std::array kOffered = {AnswerKind::ndjson, AnswerKind::sse};
  const auto kind = choose_kind(request, kOffered);
  require(!kind || *kind != AnswerKind::json, "what is chosen was offered");
  (void)prefers_async(request);
  const auto key = idempotency_key(request);
  require(key ? key->size() <= 255 : !key.error().detail.empty(), "a key is short, or refused");
  const std::string trace = trace_id(request);
  require(trace.empty() || trace.size() == 32, "a trace has its length");
  const std::string own = wardcase::supervisor::own_traceparent(trace);
  HttpRequest next;
  next.headers.emplace_back("traceparent", own);
  require(trace_id(next).size() == 32, "what is answered can be read");
  return 0;
}

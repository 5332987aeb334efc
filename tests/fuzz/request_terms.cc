// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A line is the target, and each one after it a header: NAME:VALUE.
#include "supervisor/server/request_terms.h"

#include <array>
#include <string>
#include <string_view>

#include "supervisor/server/box_archive.h"
#include "supervisor/server/byte_range.h"
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

// As of an entry of a tar.
void check_name(const std::string& text) {
  const auto name = wardcase::supervisor::name_in_archive(text);
  if (!name) return;
  require(!name->starts_with('/') && ("/" + *name + "/").find("/../") == std::string::npos,
          "a name of an entry leads down");
  require(wardcase::supervisor::name_in_archive(*name) == name, "and stays as it is");
  require(!wardcase::supervisor::stays_in_box(*name, "/" + text), "no link is absolute");
}

void check_target(const std::string& target) {
  const std::string_view path = wardcase::supervisor::path_of(target);
  require(path == "/" || target.find(path) != std::string::npos, "a path is a part of the target");
  std::string_view id;
  std::string_view rest;
  if (wardcase::supervisor::matches(path, "/v1/runs/{id}/events", id, rest)) {
    require(!id.empty() && id.find('/') == std::string_view::npos, "an id is one segment");
  }
  constexpr std::string_view kFile = "/v1/sessions/{id}/files/{path}";
  if (wardcase::supervisor::matches(path, kFile, id, rest)) {
    require(!id.empty() && id.find('/') == std::string_view::npos, "an id is one segment");
    require(!rest.empty() && path.ends_with(rest), "the path of a file is the end of the path");
    const auto decoded = wardcase::supervisor::percent_decode(rest);
    require(!decoded || decoded->size() <= rest.size(), "what is decoded becomes no longer");
    check_name(decoded.value_or(""));
  }
  const auto after = wardcase::supervisor::parameter_of(target, "after");
  require(!after || after->find('&') == std::string_view::npos, "a parameter ends");
}

void check_range(const std::string& header) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}}) {
    const auto range = wardcase::supervisor::parse_range(header, size);
    require(range.offset <= size && range.length <= size - range.offset, "a range is of the file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const HttpRequest request = request_of({reinterpret_cast<const char*>(data), size});
  check_target(request.target);
  if (const std::string* const range = request.header("range")) check_range(*range);
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

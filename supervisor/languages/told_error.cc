// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/told_error.h"

#include <algorithm>
#include <charconv>

#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kLongestType = 128;
constexpr std::size_t kLongestText = 8 * 1024;
constexpr std::size_t kLongestTraceback = 64 * 1024;

// Cut before it is decoded, which can make three bytes of one.
std::string text_of(std::string_view value, std::size_t most) {
  return to_utf8(value.substr(0, most));
}

template <typename Number>
Number number_of(std::string_view value) {
  Number number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() ? number : 0;
}

void take_field(std::string_view name, std::string_view value, ToldError& told) {
  if (name == "type") {
    told.type = text_of(value, kLongestType);
  } else if (name == "message") {
    told.message = text_of(value, kLongestText);
  } else if (name == "traceback") {
    told.traceback = text_of(value, kLongestTraceback);
  } else if (name == "code") {
    told.code = text_of(value, kLongestType);
  } else if (name == "module") {
    told.module = text_of(value, kLongestText);
  } else if (name == "path") {
    told.path = text_of(value, kLongestText);
  } else if (name == "errno") {
    told.error_number = number_of<int>(value);
  } else if (name == "file") {
    told.file = text_of(value, kLongestText);
  } else if (name == "line") {
    told.line = number_of<unsigned>(value);
  } else if (name == "prelude") {
    told.prelude = value == "done" ? PreludeState::done : PreludeState::begun;
  }
}

// {"header":{"reportVersion":3,"event":"Allocation failed - JavaScript heap out of memory",...
void take_report(std::string_view report, ToldError& told) {
  constexpr std::string_view kEvent = R"("event":")";
  constexpr std::string_view kFullHeap = "JavaScript heap out of memory";
  report = report.substr(0, kLongestText);
  if (!report.starts_with(R"({"header":{)")) return;
  const std::size_t at = report.find(kEvent);
  if (at == std::string_view::npos) return;
  report.remove_prefix(at + kEvent.size());
  report = report.substr(0, report.find('"'));
  if (report.find(kFullHeap) == std::string_view::npos) return;
  told = {.type = "MemoryError", .message = std::string(kFullHeap), .prelude = told.prelude};
}

}  // namespace

ToldError parse_told(std::string_view bytes) {
  ToldError told;
  bytes = bytes.substr(0, kMostTold);
  while (true) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) break;
    const std::string_view field = bytes.substr(0, end);
    const std::size_t equals = std::min(field.find('='), field.size());
    if (equals < field.size()) take_field(field.substr(0, equals), field.substr(equals + 1), told);
    bytes.remove_prefix(end + 1);
  }
  take_report(bytes, told);
  return told;
}

}  // namespace wardcase::supervisor

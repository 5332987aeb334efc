// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_log.h"

#include <algorithm>
#include <charconv>

#include "supervisor/run/json_text.h"

namespace wardcase::supervisor {

RunLog::RunLog(OutputForm form, std::size_t most_bytes)
    : events_([this](std::string_view line) { keep(line); }, form), most_bytes_(most_bytes) {}

void RunLog::fail(std::string_view code, std::string_view message) {
  events_.on_event("error",
                   "\"code\":" + json_string(code) + ",\"message\":" + json_string(message));
}

void RunLog::restore(std::string_view last) {
  constexpr std::string_view kBefore = "{\"seq\":";
  if (last.starts_with(kBefore)) {
    const std::string_view number = last.substr(kBefore.size());
    (void)std::from_chars(number.data(), number.data() + number.size(), newest_);
  }
  newest_ -= std::min<std::uint64_t>(newest_, 1);
  keep(last);
}

std::string_view RunLog::line(std::uint64_t sequence) const {
  return lines_.at(sequence - oldest()).text;
}

std::size_t RunLog::bytes_after(std::uint64_t sequence) const {
  if (lines_.empty() || sequence >= newest_) return 0;
  if (sequence < oldest()) return end_ - (lines_.front().end - lines_.front().text.size());
  return end_ - lines_.at(sequence - oldest()).end;
}

// An exit event has the members of the record behind its own.
std::optional<std::string> RunLog::record() const {
  if (lines_.empty()) return std::nullopt;
  const std::string& last = lines_.back().text;
  const std::string head = "{\"seq\":" + std::to_string(newest_) + ",\"type\":\"exit\",";
  if (!last.starts_with(head)) return std::nullopt;
  return "{" + last.substr(head.size());
}

void RunLog::keep(std::string_view line) {
  ++newest_;
  end_ += line.size();
  lines_.push_back({std::string(line), end_});
  while (bytes() > most_bytes_ && lines_.size() > 1) lines_.pop_front();
}

}  // namespace wardcase::supervisor

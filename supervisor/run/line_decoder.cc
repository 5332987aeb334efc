// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/line_decoder.h"

#include <algorithm>

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kLongestWait = 64UL * 1024;

}  // namespace

void LineDecoder::decode(std::string_view bytes, std::string& text) {
  if (fallback_ == nullptr) return plain_.decode(bytes, text);
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    const bool is_whole = line.size() < bytes.size();
    const std::size_t clear = waiting_.empty() ? skip_ascii(line, 0) : 0;
    text.append(line.substr(0, clear));
    waiting_ += line.substr(clear);
    if (is_whole) {
      finish(text);
      text += '\n';
    } else if (waiting_.size() >= kLongestWait) {
      waiting_.erase(0, waiting_.size() - settle(text, /*is_whole=*/false));
    }
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
  }
}

void LineDecoder::finish(std::string& text) {
  if (fallback_ == nullptr) return plain_.finish(text);
  (void)settle(text, /*is_whole=*/true);
  waiting_.clear();
}

std::size_t LineDecoder::cut(std::string& text) {
  if (fallback_ == nullptr) return plain_.drop_unfinished();
  const std::size_t dropped = settle(text, /*is_whole=*/false);
  waiting_.clear();
  return dropped;
}

std::size_t LineDecoder::settle(std::string& text, bool is_whole) {
  TextDecoder utf8;
  std::string decoded;
  utf8.decode(waiting_, decoded);
  if (utf8.errors() == 0 && (!is_whole || utf8.unfinished() == 0)) {
    text += decoded;
    return utf8.unfinished();
  }
  const auto converted = fallback_->convert(waiting_);
  if (converted && (!is_whole || converted->unfinished == 0)) {
    text += converted->text;
    return converted->unfinished;
  }
  plain_.decode(waiting_, text);
  if (is_whole) plain_.finish(text);
  return plain_.drop_unfinished();
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/output_store.h"

#include <algorithm>

#include "supervisor/run/line_decoder.h"

namespace wardcase::supervisor {
namespace {

// How much of `tail` is the end of a character whose start was left out.
std::size_t cut_character_bytes(std::string_view tail) {
  const std::size_t most = std::min<std::size_t>(3, tail.size());
  std::size_t bytes = 0;
  while (bytes < most && (static_cast<unsigned char>(tail[bytes]) & 0xC0U) == 0x80U) ++bytes;
  return bytes;
}

// Which byte of a character stands first in a line whose start was left out can't be
// told, save in UTF-8: such a line is left out, too.
std::size_t cut_line_bytes(std::string_view tail) {
  const std::size_t line_end = tail.find('\n');
  if (line_end == std::string_view::npos) return 0;
  TextDecoder utf8;
  std::string ignored;
  utf8.decode(tail.substr(0, line_end), ignored);
  return utf8.errors() + utf8.unfinished() > 0 ? line_end + 1 : 0;
}

}  // namespace

OutputStore::OutputStore(std::uint64_t cap, const EncodingFallback* fallback)
    : fallback_(fallback), head_cap_(cap / 2), tail_cap_(cap - cap / 2) {}

// Each half is reserved whole when its first byte comes: growing by doubling
// would go above the cap, and pages that nothing is written to cost nothing.
void OutputStore::append(std::string_view bytes) {
  total_ += bytes.size();
  const std::string_view to_head = bytes.substr(0, head_cap_ - head_.size());
  if (!to_head.empty()) {
    head_.reserve(head_cap_);
    head_ += to_head;
    bytes.remove_prefix(to_head.size());
  }
  if (!bytes.empty()) append_to_tail(bytes);
}

void OutputStore::append_to_tail(std::string_view bytes) {
  tail_.reserve(tail_cap_);
  if (bytes.size() >= tail_cap_) {
    tail_ = bytes.substr(bytes.size() - tail_cap_);
    tail_start_ = 0;
    return;
  }
  const std::string_view fresh = bytes.substr(0, tail_cap_ - tail_.size());
  tail_ += fresh;
  bytes.remove_prefix(fresh.size());
  // Full from here on: the oldest are written over, around the end if need be.
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, tail_cap_ - tail_start_);
    piece.copy(tail_.data() + tail_start_, piece.size());
    tail_start_ = (tail_start_ + piece.size()) % tail_cap_;
    bytes.remove_prefix(piece.size());
  }
}

KeptOutput OutputStore::kept() const {
  KeptOutput kept;
  kept.bytes = total_;
  kept.truncated = total_ > head_.size() + tail_.size();

  LineDecoder decoder(fallback_);
  decoder.decode(head_, kept.text);
  kept.raw = head_;
  std::string tail = tail_.substr(tail_start_) + tail_.substr(0, tail_start_);
  if (kept.truncated) {
    kept.raw.resize(head_.size() - decoder.cut(kept.text));
    tail.erase(0, cut_character_bytes(tail));
    if (fallback_ != nullptr) tail.erase(0, cut_line_bytes(tail));
    const std::uint64_t omitted = total_ - kept.raw.size() - tail.size();
    if (!kept.text.empty() && kept.text.back() != '\n') kept.text += '\n';
    kept.text += "[wardcase: " + std::to_string(omitted) + " bytes omitted]\n";
    kept.encoding_errors = decoder.errors();
    decoder = LineDecoder(fallback_);
  }
  kept.raw += tail;
  decoder.decode(tail, kept.text);
  decoder.finish(kept.text);
  kept.encoding_errors += decoder.errors();
  return kept;
}

}  // namespace wardcase::supervisor

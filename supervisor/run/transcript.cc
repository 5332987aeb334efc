// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/transcript.h"

#include <algorithm>
#include <string>

namespace wardcase::supervisor {

void Transcript::keep(std::uint64_t capture, const EncodingFallback* fallback) {
  for (Kept& kept : streams_) {
    kept.store.emplace(capture, fallback);
    kept.decoder = LineDecoder(fallback);
  }
  merged_.emplace(2 * capture);
}

std::string_view Transcript::take(Stream stream, std::string_view bytes,
                                  std::optional<std::uint64_t> most) {
  Kept& kept = streams_[static_cast<std::size_t>(stream)];
  const std::uint64_t room = most ? *most - std::min(*most, kept.bytes) : bytes.size();
  kept.bytes += bytes.size();
  const std::string_view within = bytes.substr(0, std::min<std::uint64_t>(room, bytes.size()));
  if (within.empty() || !kept.store) return within;
  kept.store->append(within);
  std::string text;  // so that a character of one stream is never cut by the other
  kept.decoder.decode(within, text);
  merged_->append(text);
  return within;
}

void Transcript::tell(RunRecord& record) const {
  std::optional<OutputStore> merged = merged_;
  record.encoding_errors = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Kept& kept = streams_[i];
    KeptOutput& output = i == 0 ? record.out : record.err;
    if (kept.store) output = kept.store->kept();
    output.bytes = kept.bytes;
    output.truncated = output.truncated || (kept.store && kept.store->total() < kept.bytes);
    record.encoding_errors += output.encoding_errors;
    LineDecoder decoder = kept.decoder;
    std::string rest;
    decoder.finish(rest);
    if (merged) merged->append(rest);
  }
  if (merged) record.output = merged->kept().text;
}

}  // namespace wardcase::supervisor

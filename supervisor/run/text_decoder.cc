// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/text_decoder.h"

#include <cstring>
#include <utility>

namespace wardcase::supervisor {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

enum class Form : std::uint8_t { complete, unfinished, bad };

struct Sequence {
  Form form;
  std::size_t length;
};

// What a first byte promises: how long its character is, and between which
// values the second byte must lie (the narrower ones refuse overlong forms,
// surrogates and what is above U+10FFFF: the Unicode Standard, table 3-7).
struct Lead {
  std::size_t length;  // 0: no character begins so
  unsigned char second_first = 0x80;
  unsigned char second_last = 0xBF;
};

constexpr Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

// The sequence at the start of `bytes`, which are not empty. The length of a bad
// one is its maximal part: what still was the start of a character.
Sequence scan(std::string_view bytes) {
  const Lead lead = lead_of(static_cast<unsigned char>(bytes[0]));
  if (lead.length == 0) return {Form::bad, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Form::unfinished, i};
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const unsigned char first = i == 1 ? lead.second_first : 0x80;
    const unsigned char last = i == 1 ? lead.second_last : 0xBF;
    if (byte < first || byte > last) return {Form::bad, i};
  }
  return {Form::complete, lead.length};
}

}  // namespace

// Eight bytes a step, since nearly all output is ASCII.
std::size_t skip_ascii(std::string_view bytes, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t word = 0;
  for (; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  return at;
}

void TextDecoder::decode(std::string_view bytes, std::string& text) {
  bytes = finish_pending(bytes, text);
  std::size_t done = 0;  // all before it is in text
  for (std::size_t at = skip_ascii(bytes, 0); at < bytes.size(); at = skip_ascii(bytes, at)) {
    const Sequence sequence = scan(bytes.substr(at));
    if (sequence.form == Form::complete) {
      at += sequence.length;
      continue;
    }
    text.append(bytes.substr(done, at - done));
    at += sequence.length;
    done = at;
    if (sequence.form == Form::bad) {
      replace_bad(text);
    } else {
      pending_ = bytes.substr(at - sequence.length);
    }
  }
  text.append(bytes.substr(done));
}

// Completes or gives up the character that the last call left; returns what
// of `bytes` does not belong to it.
std::string_view TextDecoder::finish_pending(std::string_view bytes, std::string& text) {
  while (!pending_.empty() && !bytes.empty()) {
    const Sequence sequence = scan(pending_ + bytes.front());
    if (sequence.form == Form::bad) {  // the byte begins something else
      replace_bad(text);
      pending_.clear();
      break;
    }
    pending_ += bytes.front();
    bytes.remove_prefix(1);
    if (sequence.form == Form::complete) {
      text += pending_;
      pending_.clear();
    }
  }
  return bytes;
}

void TextDecoder::finish(std::string& text) {
  if (pending_.empty()) return;
  replace_bad(text);
  pending_.clear();
}

std::size_t TextDecoder::drop_unfinished() { return std::exchange(pending_, {}).size(); }

void TextDecoder::replace_bad(std::string& text) {
  text += kReplacement;
  ++errors_;
}

std::string to_utf8(std::string_view bytes) {
  TextDecoder decoder;
  std::string text;
  text.reserve(bytes.size());
  decoder.decode(bytes, text);
  decoder.finish(text);
  return text;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/source_error.h"

#include <algorithm>
#include <utility>

#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {
namespace {

using policies::SourceError;

constexpr std::size_t kMostLines = 200;
constexpr std::size_t kLongestLine = 160;

// Up to the next line end, which is taken, too.
std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<SourceError> match_any(policies::Words patterns, std::string_view line) {
  for (const std::string_view pattern : patterns) {
    if (auto error = policies::match_error(pattern, line)) return error;
  }
  return std::nullopt;
}

// 0: it marks none.
std::uint32_t marked_column(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos || line[at] != '^') return 0;
  if (line.find_first_not_of("^~ ", at) != std::string_view::npos) return 0;
  return static_cast<std::uint32_t>(at) + 1;
}

// As the caller knows it: where its directory is says nothing to him.
std::string shown_name(std::string name) {
  for (const std::string_view prefix : {"./", "/box/", "/workspace/", "/run/wardcase/"}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return name;
}

// The text is a program's or a compiler's: without control characters, in valid UTF-8.
std::string plain(std::string_view text) {
  std::string shown = to_utf8(text.substr(0, kLongestLine));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  const std::size_t begin = shown.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : shown.substr(begin, shown.find_last_not_of(' ') + 1 - begin);
}

void take_place(const SourceError& from, SourceError& to) {
  to.file = from.file;
  to.line = from.line;
  to.column = from.column;
}

std::string_view line_of(std::string_view source, std::uint32_t number) {
  for (std::uint32_t at = 1; at < number && !source.empty(); ++at) (void)take_line(source);
  return take_line(source);
}

}  // namespace

std::optional<SourceError> first_error(policies::Words patterns, std::string_view written) {
  SourceError found;
  std::string_view first_line;
  for (std::size_t i = 0; i < kMostLines && !written.empty() && found.text.empty(); ++i) {
    const std::string_view line = take_line(written);
    if (first_line.empty()) first_line = line;
    if (found.line != 0 && found.column == 0) found.column = marked_column(line);
    auto error = match_any(patterns, line);
    if (!error) continue;
    if (error->line != 0) take_place(*error, found);
    found.text = std::move(error->text);
    if (found.text.empty() || error->line != 0) continue;
    // Its place may stand right below, in place of one that was another's.
    error = match_any(patterns, take_line(written));
    if (error && error->text.empty()) take_place(*error, found);
  }
  if (found.text.empty()) found.text = plain(first_line);
  if (found.text.empty() && found.line == 0) return std::nullopt;
  found.file = shown_name(plain(found.file));
  found.text = plain(found.text);
  return found;
}

std::string sentence_of(const SourceError& error) {
  std::string sentence = error.file;
  if (error.line != 0) sentence += ":" + std::to_string(error.line);
  if (error.line != 0 && error.column != 0) sentence += ":" + std::to_string(error.column);
  return sentence.empty() ? error.text : sentence + ": " + error.text;
}

void tell_error(SourceError error, std::string_view source_name, std::string_view source,
                PartFailure& failure) {
  // Without namespaces its directory has a name of its own.
  if (error.file.ends_with("/" + std::string(source_name))) error.file = source_name;
  failure.error = sentence_of(error);
  failure.error_message = error.text;
  if (error.line == 0 || error.file != source_name) return;
  const std::string line = plain(line_of(source, error.line));
  if (!line.empty()) failure.hint = "line " + std::to_string(error.line) + ": " + line;
}

}  // namespace wardcase::supervisor

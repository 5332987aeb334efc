// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/toml_document.h"

#define TOML_EXCEPTIONS 0
// Its parser asserts, right before it refuses them, things that a file can break ("[$]").
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <optional>

// The one file that compiles toml++, which takes longer than all the rest of policies/.
namespace wardcase::policies {
namespace {

TomlPlace place_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

// Values nest no deeper than toml++ parses, which is bounded.
TomlNode copy(const toml::node& node) {
  TomlNode made;
  made.place = place_of(node.source());
  if (const auto* text = node.as_string()) {
    made.kind = TomlNode::Kind::text;
    made.text = text->get();
  } else if (const auto* number = node.as_integer()) {
    made.kind = TomlNode::Kind::integer;
    made.integer = number->get();
  } else if (const auto* real = node.as_floating_point()) {
    made.kind = TomlNode::Kind::real;
    made.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    made.kind = TomlNode::Kind::boolean;
    made.boolean = boolean->get();
  } else if (const auto* list = node.as_array()) {
    made.kind = TomlNode::Kind::list;
    for (const toml::node& element : *list) made.elements.push_back(copy(element));
  } else if (const auto* table = node.as_table()) {
    for (auto&& [key, value] : *table) {
      made.keys.push_back({std::string(key.str()), place_of(key.source())});
      made.elements.push_back(copy(value));
    }
  } else {
    made.kind = TomlNode::Kind::date;
  }
  return made;
}

// Where a string that begins at `at` is over.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool has_escapes = quote == '"';
  const std::string fence(3, quote);
  const bool is_long = text.substr(at).starts_with(fence);
  for (at += is_long ? 3 : 1; at < text.size(); ++at) {
    if (has_escapes && text[at] == '\\') {
      ++at;
    } else if (is_long && text.substr(at).starts_with(fence)) {
      return std::min(text.find_first_not_of(quote, at), text.size());
    } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    }
  }
  return text.size();
}

// Whether a quote at `at` belongs to the word before it: toml++ reads `1"a"` as one.
bool is_glued(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  const char before = text[at - 1];
  return (before >= '0' && before <= '9') || (before >= 'a' && before <= 'z') ||
         (before >= 'A' && before <= 'Z') ||
         std::string_view("_+-.:").find(before) != std::string_view::npos;
}

// Outside of strings and comments TOML is ASCII. toml++ has undefined behaviour for some
// letters there, so that they are refused before it sees them: the first one's place.
std::optional<TomlPlace> find_stray_letter(std::string_view text) {
  std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if ((text[at] == '"' || text[at] == '\'') && !is_glued(text, at)) {
      at = end_of_string(text, at);
    } else {
      ++at;
    }
  }
  if (at >= text.size()) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  const std::size_t line_end = before.rfind('\n');
  const std::string_view line =
      before.substr(line_end == std::string_view::npos ? 0 : line_end + 1);
  const auto is_character = [](char byte) { return (byte & 0xC0) != 0x80; };
  return TomlPlace{static_cast<std::uint32_t>(1 + std::ranges::count(before, '\n')),
                   static_cast<std::uint32_t>(1 + std::ranges::count_if(line, is_character))};
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &Key::name);
  if (found == keys.end()) return nullptr;
  return &elements[static_cast<std::size_t>(found - keys.begin())];
}

sys::Error error_at(std::string_view file, TomlPlace place, std::string_view what) {
  return sys::plain_error(std::string(file) + ":" + std::to_string(place.line) + ":" +
                          std::to_string(place.column) + ": " + std::string(what));
}

sys::Result<TomlNode> parse_toml(std::string_view text, std::string_view file) {
  if (const auto place = find_stray_letter(text)) {
    return tl::unexpected(error_at(file, *place, "not an ASCII letter; put it in quotes"));
  }
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    return tl::unexpected(
        error_at(file, place_of(parsed.error().source()), parsed.error().description()));
  }
  return copy(parsed.table());
}

}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/toml_document.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>

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
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    return tl::unexpected(
        error_at(file, place_of(parsed.error().source()), parsed.error().description()));
  }
  return copy(parsed.table());
}

}  // namespace wardcase::policies

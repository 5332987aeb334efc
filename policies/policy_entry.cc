// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_entry.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "policies/spelling.h"

namespace wardcase::policies {

std::string Entry::origin() const {
  return std::string(reading.file) + ":" + std::to_string(node.place.line);
}

tl::unexpected<sys::Error> wrong(const Entry& entry, std::string_view what) {
  return tl::unexpected(error_at(entry.reading.file, entry.node.place, what));
}

std::string written(const TomlNode& node) {
  std::array<char, 40> text;
  switch (node.kind) {
    case TomlNode::Kind::text:
      return "'" + node.text + "'";
    case TomlNode::Kind::integer:
      return std::to_string(node.integer);
    case TomlNode::Kind::real:
      (void)std::snprintf(text.data(), text.size(), "%.9g", node.real);  // fits
      return text.data();
    case TomlNode::Kind::boolean:
      return node.boolean ? "true" : "false";
    case TomlNode::Kind::date:
      return "a date";
    case TomlNode::Kind::list:
      return "a list";
    case TomlNode::Kind::table:
      break;
  }
  return "a table";
}

tl::unexpected<sys::Error> refused(const Entry& entry, std::string_view accepted) {
  return wrong(entry, entry.key + ": " + written(entry.node) + ": not " + std::string(accepted));
}

tl::unexpected<sys::Error> unknown_key(const Reading& reading, const TomlNode& table,
                                       std::size_t index, std::string_view section,
                                       std::span<const std::string_view> known) {
  const TomlNode::Key& key = table.keys[index];
  return tl::unexpected(error_at(reading.file, key.place,
                                 "unknown key '" + key.name + "'" +
                                     (section.empty() ? "" : " in [" + std::string(section) + "]") +
                                     did_you_mean(key.name, known)));
}

sys::Result<std::string> text_of(const Entry& entry, std::string_view accepted) {
  if (entry.text().empty()) return refused(entry, accepted);
  return entry.node.text;
}

sys::Status read_text(const Entry& entry, Maybe<std::string>& place) {
  return text_of(entry, "a text in quotes").map([&](std::string text) {
    keep(entry, place, std::move(text));
  });
}

sys::Status read_texts(const Entry& entry, std::string_view accepted,
                       std::vector<Setting<std::string>>& place) {
  return read_list(entry, accepted, [&](const Entry& element) {
    return text_of(element, accepted).map([&](std::string text) {
      place.push_back({std::move(text), element.origin()});
    });
  });
}

sys::Status read_rows(const Entry& entry, std::string_view section, std::span<const Row> rows) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    const auto row = std::ranges::find(rows, name, &Row::key);
    if (row != rows.end()) return row->read(value);
    std::vector<std::string_view> known;
    for (const Row& candidate : rows) known.push_back(candidate.key);
    return unknown_key(entry.reading, entry.node, index, section, known);
  });
}

sys::Status read_section(const Entry& entry, std::span<const Row> rows) {
  return read_rows(entry, entry.key, rows);
}

sys::Status read_limit(const Entry& entry, const LimitRow& row, LimitSettings& place,
                       bool is_maximum) {
  const bool is_text = entry.node.kind == TomlNode::Kind::text;
  const bool is_number =
      entry.node.kind == TomlNode::Kind::integer || entry.node.kind == TomlNode::Kind::real;
  if (!is_text && !is_number) return refused(entry, "a limit");
  const std::string text = is_text ? entry.node.text : written(entry.node);
  auto& setting = place[static_cast<std::size_t>(row.id)];
  if (is_maximum && text == "none") {
    keep(entry, setting, std::optional<std::uint64_t>());
    return {};
  }
  const auto value = parse_default(row, entry.key, text);
  if (!value) return wrong(entry, value.error().what);
  keep(entry, setting, *value);
  return {};
}

}  // namespace wardcase::policies

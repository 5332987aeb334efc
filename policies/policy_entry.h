// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/policy.h"
#include "policies/toml_document.h"

// How the keys of a policy are read: one row a key, one function a row. Errors
// name the place, the key, the value and what is accepted.
namespace wardcase::policies {

// What is being read: where errors are, and where the values go.
struct Reading {
  std::string_view file;
  Policy policy;
};

// One value and how to speak of it.
struct Entry {
  Reading& reading;
  std::string key;  // "limits.timeout"
  const TomlNode& node;

  [[nodiscard]] std::string origin() const;
  // "" for what is no text.
  [[nodiscard]] std::string_view text() const { return node.text; }
};

[[nodiscard]] tl::unexpected<sys::Error> wrong(const Entry& entry, std::string_view what);
// `KEY: VALUE: not ACCEPTED`.
[[nodiscard]] tl::unexpected<sys::Error> refused(const Entry& entry, std::string_view accepted);
// The key at `index` of a table is none of `known`.
[[nodiscard]] tl::unexpected<sys::Error> unknown_key(const Reading& reading, const TomlNode& table,
                                                     std::size_t index, std::string_view section,
                                                     std::span<const std::string_view> known);

// The value as it might have been written, for messages.
[[nodiscard]] std::string written(const TomlNode& node);

template <typename T>
void keep(const Entry& entry, Maybe<T>& place, T value) {
  place = Setting<T>{std::move(value), entry.origin()};
}

// A text that is not empty.
[[nodiscard]] sys::Result<std::string> text_of(const Entry& entry, std::string_view accepted);
[[nodiscard]] sys::Status read_text(const Entry& entry, Maybe<std::string>& place);
[[nodiscard]] sys::Status read_texts(const Entry& entry, std::string_view accepted,
                                     std::vector<Setting<std::string>>& place);

// A limit's value: a text with its unit, or a bare number. A maximum may be "none".
[[nodiscard]] sys::Status read_limit(const Entry& entry, const LimitRow& row, LimitSettings& place,
                                     bool is_maximum);

// Calls `read` for each element, which is named KEY[0], KEY[1] ...
template <typename Read>
sys::Status read_list(const Entry& entry, std::string_view accepted, Read read) {
  if (entry.node.kind != TomlNode::Kind::list) return refused(entry, accepted);
  for (std::size_t i = 0; i < entry.node.elements.size(); ++i) {
    const Entry element{entry.reading, entry.key + "[" + std::to_string(i) + "]",
                        entry.node.elements[i]};
    if (sys::Status status = read(element); !status) return status;
  }
  return {};
}

// Calls `read` for each value of a table, with its index in it; named KEY.NAME.
template <typename Read>
sys::Status read_table(const Entry& entry, Read read) {
  if (entry.node.kind != TomlNode::Kind::table) {
    return refused(entry, "a table; write [" + entry.key + "]");
  }
  const std::string prefix = entry.key.empty() ? "" : entry.key + ".";
  for (std::size_t i = 0; i < entry.node.keys.size(); ++i) {
    const Entry value{entry.reading, prefix + entry.node.keys[i].name, entry.node.elements[i]};
    if (sys::Status status = read(value, i); !status) return status;
  }
  return {};
}

struct Row {
  std::string_view key;
  sys::Status (*read)(const Entry&);
};

// Each key of the table through its row. `section` is its name in errors, "" for the top.
[[nodiscard]] sys::Status read_rows(const Entry& entry, std::string_view section,
                                    std::span<const Row> rows);
[[nodiscard]] sys::Status read_section(const Entry& entry, std::span<const Row> rows);

}  // namespace wardcase::policies

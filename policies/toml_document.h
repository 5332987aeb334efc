// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::policies {

// Where something stands in a file, counted from 1.
struct TomlPlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A value of a TOML file. Only what belongs to its kind is filled in.
struct TomlNode {
  enum class Kind : std::uint8_t { text, integer, real, boolean, date, list, table };
  struct Key {
    std::string name;
    TomlPlace place;
  };

  Kind kind = Kind::table;
  TomlPlace place;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<Key> keys;           // of a table, in alphabetical order
  std::vector<TomlNode> elements;  // of a list, or of a table by the order of its keys

  // The element of a table; nullptr where this is none, or has no such key.
  [[nodiscard]] const TomlNode* find(std::string_view key) const;
};

// The table at the top of a file; `file` is its name in errors: `FILE:4:1: what is wrong`.
[[nodiscard]] sys::Result<TomlNode> parse_toml(std::string_view text, std::string_view file);

// An error at a place of a file.
[[nodiscard]] sys::Error error_at(std::string_view file, TomlPlace place, std::string_view what);

}  // namespace wardcase::policies

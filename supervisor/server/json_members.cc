// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/json_members.h"

#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <utility>
#include <vector>

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

using Code = json::error_code;
using Text = json::string_view;

// What the parser calls; its names are the parser's. The parsed value has no trace of a member
// that came before another of its name.
struct Members {
  // NOLINTBEGIN(readability-identifier-naming): Boost.JSON asks for these names
  static constexpr std::size_t max_object_size = ~std::size_t{0};
  static constexpr std::size_t max_array_size = ~std::size_t{0};
  static constexpr std::size_t max_key_size = ~std::size_t{0};
  static constexpr std::size_t max_string_size = ~std::size_t{0};
  // NOLINTEND(readability-identifier-naming)

  // Ordered: nobody can choose names that make a search long.
  std::vector<std::set<std::string, std::less<>>> objects;
  std::string key;
  std::optional<std::string> repeated;

  bool on_object_begin(Code& /*error*/) {
    objects.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t /*count*/, Code& /*error*/) {
    objects.pop_back();
    return true;
  }
  bool on_array_begin(Code& /*error*/) { return true; }
  bool on_array_end(std::size_t /*count*/, Code& /*error*/) { return true; }
  bool on_key_part(Text part, std::size_t /*size*/, Code& /*error*/) {
    key.append(part.data(), part.size());
    return true;
  }
  bool on_key(Text part, std::size_t /*size*/, Code& error) {
    key.append(part.data(), part.size());
    std::string name = std::exchange(key, {});
    auto& names = objects.back();
    if (names.contains(name)) {
      repeated = std::move(name);
      error = json::error::extra_data;
      return false;
    }
    if (names.size() < kMostMembers) names.insert(std::move(name));
    return true;
  }

  bool on_document_begin(Code& /*error*/) { return true; }
  bool on_document_end(Code& /*error*/) { return true; }
  bool on_string_part(Text /*part*/, std::size_t /*size*/, Code& /*error*/) { return true; }
  bool on_string(Text /*part*/, std::size_t /*size*/, Code& /*error*/) { return true; }
  bool on_number_part(Text /*part*/, Code& /*error*/) { return true; }
  bool on_int64(std::int64_t /*value*/, Text /*text*/, Code& /*error*/) { return true; }
  bool on_uint64(std::uint64_t /*value*/, Text /*text*/, Code& /*error*/) { return true; }
  bool on_double(double /*value*/, Text /*text*/, Code& /*error*/) { return true; }
  bool on_bool(bool /*value*/, Code& /*error*/) { return true; }
  bool on_null(Code& /*error*/) { return true; }
  bool on_comment_part(Text /*part*/, Code& /*error*/) { return true; }
  bool on_comment(Text /*part*/, Code& /*error*/) { return true; }
};

}  // namespace

std::optional<std::string> find_repeated_member(std::string_view json) {
  json::basic_parser<Members> parser{json::parse_options()};
  Code error;
  (void)parser.write_some(/*more=*/false, json.data(), json.size(), error);
  return parser.handler().repeated;
}

}  // namespace wardcase::supervisor

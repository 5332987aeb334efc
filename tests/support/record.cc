// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <ostream>

namespace wardcase::test {
namespace json = boost::json;

Record::Record(json::value value) : value_(std::make_shared<const json::value>(std::move(value))) {}

Record Record::parse(std::string_view text) {
  json::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) {
    ADD_FAILURE() << "not a JSON object (" << error.message() << "): " << text.substr(0, 2000);
    return {};
  }
  return Record(std::move(value));
}

const json::value* Record::find(std::string_view path) const {
  const json::value* at = value_.get();
  while (at != nullptr && !path.empty()) {
    const std::string_view key = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    const json::object* object = at->if_object();
    const json::array* array = at->if_array();
    std::size_t index = 0;
    if (array != nullptr) {
      const auto read = std::from_chars(key.data(), key.data() + key.size(), index);
      at = read.ec == std::errc() ? array->if_contains(index) : nullptr;
    } else {
      at = object != nullptr ? object->if_contains(key) : nullptr;
    }
  }
  return at;
}

bool Record::is_null(std::string_view path) const {
  const json::value* value = find(path);
  return value != nullptr && value->is_null();
}

bool Record::is_true(std::string_view path) const {
  const json::value* value = find(path);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string Record::text(std::string_view path) const {
  const json::value* value = find(path);
  if (value == nullptr || !value->is_string()) return {};
  const json::string& found = value->get_string();
  return {found.data(), found.size()};
}

std::optional<std::int64_t> Record::number(std::string_view path) const {
  const json::value* value = find(path);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  if (value->is_double()) return static_cast<std::int64_t>(value->get_double());
  return value->to_number<std::int64_t>();
}

bool Record::lists(std::string_view path, std::string_view wanted) const {
  const json::value* value = find(path);
  if (value == nullptr || !value->is_array()) return false;
  for (const json::value& item : value->get_array()) {
    if (item.is_string() && std::string_view(item.get_string()) == wanted) return true;
  }
  return false;
}

std::optional<std::int64_t> Record::denied(std::string_view call) const {
  const json::value* value = find("denied_syscalls");
  if (value == nullptr || !value->is_array()) return std::nullopt;
  for (const json::value& item : value->get_array()) {
    if (Record(item).text("name") == call) return Record(item).number("count");
  }
  return std::nullopt;
}

bool Record::is_degraded(std::string_view feature) const {
  const json::value* value = find("isolation.degraded");
  if (value == nullptr || !value->is_array()) return false;
  for (const json::value& item : value->get_array()) {
    if (Record(item).text("feature") == feature) return true;
  }
  return false;
}

std::string Record::json(std::string_view path) const {
  const boost::json::value* value = find(path);
  return value != nullptr ? boost::json::serialize(*value) : std::string();
}

std::string Record::serialized() const {
  return value_ != nullptr ? json::serialize(*value_) : std::string();
}

std::ostream& operator<<(std::ostream& out, const Record& record) {
  constexpr std::size_t kEnough = 3000;
  const std::string text = record.serialized();
  return out << std::string_view(text).substr(0, kEnough) << (text.size() > kEnough ? "..." : "");
}

}  // namespace wardcase::test

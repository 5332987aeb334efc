// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace wardcase::test {

// A record as wardcase printed it. Members are named by path: "limits.memory_bytes",
// "artifacts.0.path".
// What is not there reads as empty, so that an expectation names what is missing.
class Record {
 public:
  Record() = default;
  explicit Record(boost::json::value value);
  // Text that is not one JSON object fails the test and gives an empty record.
  static Record parse(std::string_view text);

  [[nodiscard]] bool has(std::string_view path) const { return find(path) != nullptr; }
  [[nodiscard]] bool is_null(std::string_view path) const;
  [[nodiscard]] bool is_true(std::string_view path) const;
  [[nodiscard]] std::string text(std::string_view path) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view path) const;
  // True if the list holds that text.
  [[nodiscard]] bool lists(std::string_view path, std::string_view wanted) const;
  // How often denied_syscalls has the call; nullopt: it is not there.
  [[nodiscard]] std::optional<std::int64_t> denied(std::string_view call) const;
  // True if isolation.degraded names the feature.
  [[nodiscard]] bool is_degraded(std::string_view feature) const;

  [[nodiscard]] std::string status() const { return text("status"); }
  [[nodiscard]] std::string out() const { return text("stdout"); }
  [[nodiscard]] std::string err() const { return text("stderr"); }
  // A member of any kind as JSON; "" if it is not there.
  [[nodiscard]] std::string json(std::string_view path) const;
  // The whole of it as JSON.
  [[nodiscard]] std::string serialized() const;

 private:
  [[nodiscard]] const boost::json::value* find(std::string_view path) const;
  // Behind a pointer so that tests need not compile Boost.JSON; null: empty.
  std::shared_ptr<const boost::json::value> value_;
};

// For EXPECT messages: the record without most of its output.
std::ostream& operator<<(std::ostream& out, const Record& record);

}  // namespace wardcase::test

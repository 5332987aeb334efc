// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

// Parts of a record that other JSON has as well, in the same form. Boost.JSON hands bad
// bytes on as they are; these make them valid UTF-8.
[[nodiscard]] boost::json::string to_json_text(std::string_view bytes);
[[nodiscard]] boost::json::array to_json_texts(const std::vector<std::string>& values);
[[nodiscard]] boost::json::value number_or_null(const std::optional<std::uint64_t>& value);
// As the record has it under limits: null where there is none.
[[nodiscard]] boost::json::value limit_value(const policies::LimitRow& row,
                                             std::optional<std::uint64_t> value);

[[nodiscard]] std::int64_t milliseconds(std::chrono::microseconds time);
// compile or install.
[[nodiscard]] boost::json::value stage_value(const std::optional<StageRecord>& stage);

// limits and enforced_by.
void add_limits(boost::json::object& object, const RunRecord& record);
// isolation.
void add_isolation(boost::json::object& object, const RunRecord& record);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/fwd.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "supervisor/server/problem.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// What the readers of a request's members have in common.
using Read = tl::expected<void, Problem>;

inline constexpr std::size_t kShownBytes = 64;
// As a sentence shows it: a name may be as long as the body.
[[nodiscard]] std::string shown(std::string_view text);

// Status 400. The sentence begins with the field.
[[nodiscard]] tl::unexpected<Problem> refuse(std::string code, std::string field,
                                             const std::string& what);
[[nodiscard]] tl::unexpected<Problem> invalid(const std::string& field, const std::string& what);

// A body that is one JSON object without a member twice, of which `read` takes the members.
[[nodiscard]] Read read_body(std::string_view body,
                             const std::function<Read(const boost::json::object& object)>& read);
// What is wrong with the inside of a member: `program` and then `limits.pids`.
[[nodiscard]] Problem within(const std::string& outer, Problem problem);

[[nodiscard]] Read read_limits(const boost::json::value& value, RunRequest::Limits& limits);
[[nodiscard]] Read read_deadline(const boost::json::value& value,
                                 std::optional<std::chrono::milliseconds>& deadline);
// How long a session lives.
[[nodiscard]] Read read_ttl(const std::string& field, const boost::json::value& value,
                            std::chrono::milliseconds& ttl);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_field.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "policies/limits.h"
#include "policies/spelling.h"
#include "supervisor/server/json_members.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// 1.5 processors are written as such, all else is whole.
Read read_limit(const policies::LimitRow& row, const json::value& value,
                std::optional<std::uint64_t>& limit) {
  const std::string field = "limits." + std::string(row.json_key);
  if (value.is_null()) {
    limit.reset();
    return {};
  }
  if (row.unit == policies::Unit::millicpus) {
    constexpr double kMost = 1e6;
    if (!value.is_number()) return invalid(field, "write a number, as 1 or 0.5");
    const double cpus = value.to_number<double>();
    if (!(cpus > 0) || cpus > kMost) return invalid(field, "write a number above 0");
    limit = static_cast<std::uint64_t>(std::llround(cpus * 1000));
    return {};
  }
  json::error_code error;
  const auto number = value.to_number<std::uint64_t>(error);
  if (error || value.is_double()) return invalid(field, "write a whole number above 0");
  limit = number;
  return {};
}

Read read_time(const std::string& field, const json::value& value, std::chrono::milliseconds most,
               std::chrono::milliseconds& time) {
  json::error_code error;
  const auto number = value.to_number<std::uint64_t>(error);
  if (error || value.is_double() || number == 0 ||
      number > static_cast<std::uint64_t>(most.count())) {
    return invalid(field, "write a whole number from 1 to " + std::to_string(most.count()));
  }
  time = std::chrono::milliseconds(number);
  return {};
}

}  // namespace

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytes) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, kShownBytes)) + "...'";
}

tl::unexpected<Problem> refuse(std::string code, std::string field, const std::string& what) {
  Problem problem = {400, std::move(code), field.empty() ? what : field + ": " + what};
  problem.field = std::move(field);
  return tl::unexpected(std::move(problem));
}

tl::unexpected<Problem> invalid(const std::string& field, const std::string& what) {
  return refuse("invalid_field", field, what);
}

Read read_body(std::string_view body, const std::function<Read(const json::object& object)>& read) {
  json::error_code error;
  const json::value parsed = json::parse({body.data(), body.size()}, error);
  if (error) return refuse("invalid_json", "", "the body is not JSON: " + error.message());
  if (!parsed.is_object()) return refuse("invalid_json", "", "the body is not a JSON object");
  if (auto taken = read(parsed.get_object()); !taken) return taken;
  // Last: there are few members by now, however long the body is.
  const auto name = find_repeated_member(body);
  if (!name) return {};
  return refuse("invalid_json", "", "the member " + shown(*name) + " stands there twice");
}

Problem within(const std::string& outer, Problem problem) {
  const bool is_named = !problem.field.empty() && problem.detail.starts_with(problem.field);
  problem.detail.insert(0, outer + (is_named ? "." : ": "));
  problem.field = outer + (problem.field.empty() ? "" : "." + problem.field);
  return problem;
}

Read read_limits(const json::value& value, RunRequest::Limits& limits) {
  if (!value.is_object()) return invalid("limits", "write an object of limits");
  std::vector<std::string_view> known;
  for (const policies::LimitRow& row : policies::limit_table()) known.push_back(row.json_key);
  for (const auto& [key, each] : value.get_object()) {
    const std::string_view name(key.data(), key.size());
    const auto row =
        std::ranges::find(policies::limit_table(), name, &policies::LimitRow::json_key);
    if (row == policies::limit_table().end()) {
      // By the name that policies have it, units being theirs.
      const auto bare = std::ranges::find(policies::limit_table(), name, &policies::LimitRow::key);
      const bool is_bare = bare != policies::limit_table().end();
      return refuse(
          "unknown_field", "limits." + std::string(name.substr(0, kShownBytes)),
          "no such limit" + policies::did_you_mean(is_bare ? bare->json_key : name, known));
    }
    std::optional<std::uint64_t> limit;
    if (auto read = read_limit(*row, each, limit); !read) return read;
    limits[static_cast<std::size_t>(row->id)] = limit;
  }
  return {};
}

Read read_deadline(const json::value& value, std::optional<std::chrono::milliseconds>& deadline) {
  return read_time("deadline_ms", value, std::chrono::hours(24), deadline.emplace());
}

Read read_ttl(const std::string& field, const json::value& value, std::chrono::milliseconds& ttl) {
  return read_time(field, value, kLongestTtl, ttl);
}

}  // namespace wardcase::supervisor

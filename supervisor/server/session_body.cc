// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_body.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <vector>

#include "policies/limits.h"
#include "policies/spelling.h"
#include "supervisor/run/json_text.h"
#include "supervisor/sessions/keeper_request.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

using Members = tl::expected<json::object, Problem>;

// An object with some of these members and no others.
Members parse_object(std::string_view body, const std::vector<std::string_view>& known) {
  json::error_code error;
  const json::value parsed = json::parse({body.data(), body.size()}, error);
  if (error) return refuse("invalid_json", "", "the body is not JSON: " + error.message());
  if (!parsed.is_object()) return refuse("invalid_json", "", "the body is not a JSON object");
  for (const auto& [key, value] : parsed.get_object()) {
    const std::string name(key);
    if (std::ranges::find(known, name) != known.end()) continue;
    return refuse("unknown_field", name.substr(0, kShownBytes),
                  "no such field" + policies::did_you_mean(name, known));
  }
  return parsed.get_object();
}

}  // namespace

tl::expected<std::chrono::milliseconds, Problem> parse_extension(std::string_view body) {
  const auto members = parse_object(body, {"ttl_ms"});
  if (!members) return tl::unexpected(members.error());
  const json::value* const value = members->if_contains("ttl_ms");
  if (value == nullptr) {
    return refuse("missing_field", "ttl_ms", "say how long it is to live from now on");
  }
  std::chrono::milliseconds ttl{0};
  if (auto read = read_ttl("ttl_ms", *value, ttl); !read) return tl::unexpected(read.error());
  return ttl;
}

tl::expected<SessionInput, Problem> parse_input(std::string_view body) {
  const auto members = parse_object(body, {"data", "data_base64", "eof"});
  if (!members) return tl::unexpected(members.error());
  SessionInput input;
  const json::value* const text = members->if_contains("data");
  const json::value* const bytes = members->if_contains("data_base64");
  const json::value* const eof = members->if_contains("eof");
  if (text != nullptr && bytes != nullptr) {
    return invalid("data", "give data or data_base64, not both");
  }
  if (eof != nullptr && !eof->is_bool()) return invalid("eof", "write true or false");
  input.is_last = eof != nullptr && eof->get_bool();
  if (text != nullptr) {
    if (!text->is_string()) return invalid("data", "write a string");
    input.data = std::string(text->get_string());
  }
  if (bytes != nullptr) {
    auto decoded = bytes->is_string() ? decode_base64(bytes->get_string()) : std::nullopt;
    if (!decoded) return invalid("data_base64", "is not base64 (RFC 4648, section 4)");
    input.data = *std::move(decoded);
  }
  if (!input.data.empty() || input.is_last) return input;
  return refuse("missing_field", "data", "give data, or eof where there is no more");
}

Read check_program_limits(const RunRequest& request) {
  for (const policies::LimitRow& row : policies::limit_table()) {
    if (!request.limits[static_cast<std::size_t>(row.id)] || is_limit_of_programs(row.id)) continue;
    return invalid("limits." + std::string(row.json_key),
                   "is a limit of the session's box; give it when that is made");
  }
  return {};
}

}  // namespace wardcase::supervisor

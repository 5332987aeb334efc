// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/keeper_request.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "supervisor/run/json_text.h"
#include "supervisor/run/record_parts.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

using policies::LimitId;

constexpr std::array kOfPrograms = {LimitId::timeout, LimitId::cpu_time, LimitId::idle_timeout,
                                    LimitId::grace,   LimitId::capture,  LimitId::output};
constexpr std::array<std::string_view, 3> kValidations = {"", "first", "alone"};
constexpr std::size_t kMostFiles = 1024;
constexpr std::uint64_t kLongest = 366ULL * 24 * 60 * 60 * 1000;  // milliseconds

// Reads members by their type, and remembers the first that is wrong.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  void text(const char* key, std::string& into) {
    if (const json::value* value = at(key, &json::value::is_string)) into = value->get_string();
  }
  void flag(const char* key, bool& into) {
    if (const json::value* value = at(key, &json::value::is_bool)) into = value->get_bool();
  }
  std::optional<std::uint64_t> number(const char* key) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr) return std::nullopt;
    json::error_code error;
    const auto number = value->to_number<std::uint64_t>(error);
    if (error) refuse(key);
    return number;
  }
  std::optional<std::chrono::milliseconds> time(const char* key) {
    const auto number = this->number(key);
    if (!number) return std::nullopt;
    if (*number > kLongest) refuse(key);
    return std::chrono::milliseconds(*number);
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  void refuse(const std::string& key) {
    if (wrong_.empty()) wrong_ = key;
  }

 private:
  const json::value* at(const char* key, bool (json::value::*is_of_type)() const noexcept) {
    const json::value* value = object_.if_contains(key);
    if (value == nullptr || (value->*is_of_type)()) return value;
    refuse(key);
    return nullptr;
  }

  const json::object& object_;
  std::string wrong_;
};

void read_limits(const json::object& object, Members& members, KeeperRequest& request) {
  const json::value* value = object.if_contains("limits");
  if (value == nullptr) return;
  const json::object* limits = value->if_object();
  if (limits == nullptr) return members.refuse("limits");
  for (const auto& [key, limit] : *limits) {
    const auto row = std::ranges::find(policies::limit_table(), std::string_view(key),
                                       &policies::LimitRow::json_key);
    json::error_code error;
    std::optional<std::uint64_t> number;
    if (!limit.is_null()) number = limit.to_number<std::uint64_t>(error);
    if (row == policies::limit_table().end() || !is_limit_of_programs(row->id) || error) {
      return members.refuse("limits." + std::string(key));
    }
    request.limits.emplace_back(row->id, number);
  }
}

json::array files_to_json(const std::vector<DeliveredFile>& files) {
  json::array all;
  for (const DeliveredFile& file : files) {
    all.emplace_back(json::object{{"name", base64(file.name)}, {"mode", file.mode}});
  }
  return all;
}

void read_files(const json::object& object, Members& members, KeeperRequest& request) {
  const json::value* value = object.if_contains("files");
  if (value == nullptr) return;
  const json::array* files = value->if_array();
  if (files == nullptr || files->size() > kMostFiles) return members.refuse("files");
  for (const json::value& each : *files) {
    const json::object* file = each.if_object();
    if (file == nullptr) return members.refuse("files");
    Members own(*file);
    std::string name;
    own.text("name", name);
    auto bytes = decode_base64(name);
    const std::uint64_t mode = own.number("mode").value_or(0644);
    if (!bytes || !own.wrong().empty()) return members.refuse("files");
    request.files.push_back({*std::move(bytes), static_cast<mode_t>(mode & 0777)});
  }
}

void read_validation(Members& members, KeeperRequest& request) {
  std::string word(kValidations[0]);
  members.text("validate", word);
  const auto* const found = std::ranges::find(kValidations, word);
  if (found == kValidations.end()) return members.refuse("validate");
  request.validation = static_cast<Validation>(found - kValidations.begin());
}

void read_requirements(const json::object& object, Members& members, AskedRequirements& asked) {
  const json::value* value = object.if_contains("requirements");
  if (value == nullptr) return;
  const json::array* const words = value->if_array();
  value = object.if_contains("requirement_files");
  const json::array* const files = value == nullptr ? nullptr : value->if_array();
  if (words == nullptr || files == nullptr) return members.refuse("requirements");
  for (const json::value& word : *words) {
    if (!word.is_string()) return members.refuse("requirements");
    asked.words.emplace_back(word.get_string());
  }
  for (const json::value& file : *files) {
    if (!file.is_object()) return members.refuse("requirement_files");
    Members its(file.get_object());
    RequirementText& read = asked.files.emplace_back();
    its.text("name", read.name);
    its.text("text", read.text);
    if (!its.wrong().empty()) return members.refuse("requirement_files");
  }
}

json::array files_of(const AskedRequirements& asked) {
  json::array files;
  for (const RequirementText& file : asked.files) {
    files.emplace_back(
        json::object{{"name", to_json_text(file.name)}, {"text", to_json_text(file.text)}});
  }
  return files;
}

json::array words_of(const AskedRequirements& asked) {
  json::array words;
  for (const std::string& word : asked.words) words.emplace_back(to_json_text(word));
  return words;
}

}  // namespace

bool is_limit_of_programs(LimitId id) {
  return std::ranges::find(kOfPrograms, id) != kOfPrograms.end();
}

std::string to_json(const KeeperRequest& request) {
  json::object limits;
  for (const auto& [id, value] : request.limits)
    limits[policies::limit_row(id).json_key] = number_or_null(value);
  json::object object = {{"op", request.op},
                         {"id", to_json_text(request.id)},
                         {"language", to_json_text(request.language)},
                         {"name", to_json_text(request.name)},
                         {"code", to_json_text(request.code)},
                         {"limits", std::move(limits)},
                         {"requirements", words_of(request.requirements)},
                         {"requirement_files", files_of(request.requirements)},
                         {"open_input", request.open_input},
                         {"events", request.wants_events},
                         {"output", request.wants_output},
                         {"base64", request.base64},
                         {"word", request.wants_word},
                         {"files", files_to_json(request.files)},
                         {"validate", kValidations[static_cast<std::size_t>(request.validation)]},
                         {"data", base64(request.data)},
                         {"eof", request.ends_input},
                         {"ttl_ms", request.ttl.count()},
                         {"since", request.since},
                         {"follow", request.follow},
                         {"path", base64(request.path)},
                         {"mode", request.mode},
                         {"head", request.wants_head},
                         {"offset", request.offset},
                         {"length", request.length}};
  if (request.yield) object["yield_ms"] = request.yield->count();
  if (request.yield_idle) object["yield_idle_ms"] = request.yield_idle->count();
  return json::serialize(object);
}

sys::Result<KeeperRequest> parse_keeper_request(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return tl::unexpected(sys::plain_error("the request is no JSON object"));
  KeeperRequest request;
  Members members(*object);
  members.text("op", request.op);
  members.text("id", request.id);
  members.text("language", request.language);
  members.text("name", request.name);
  members.text("code", request.code);
  read_limits(*object, members, request);
  read_requirements(*object, members, request.requirements);
  members.flag("open_input", request.open_input);
  members.flag("events", request.wants_events);
  members.flag("output", request.wants_output);
  members.flag("base64", request.base64);
  members.flag("word", request.wants_word);
  members.flag("head", request.wants_head);
  members.flag("eof", request.ends_input);
  request.offset = members.number("offset").value_or(0);
  request.length = members.number("length").value_or(0);
  read_files(*object, members, request);
  read_validation(members, request);
  request.yield = members.time("yield_ms");
  request.yield_idle = members.time("yield_idle_ms");
  request.ttl = members.time("ttl_ms").value_or(request.ttl);
  request.since = members.number("since").value_or(0);
  members.flag("follow", request.follow);
  request.mode = static_cast<unsigned>(members.number("mode").value_or(request.mode) & 0777);
  for (auto [key, into] : {std::pair("data", &request.data), std::pair("path", &request.path)}) {
    std::string encoded;
    members.text(key, encoded);
    auto bytes = decode_base64(encoded);
    if (!bytes) members.refuse(key);
    *into = std::move(bytes).value_or("");
  }
  if (members.wrong().empty()) return request;
  return tl::unexpected(sys::plain_error("the request's '" + members.wrong() + "' makes no sense"));
}

}  // namespace wardcase::supervisor

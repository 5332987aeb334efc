// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/worker_messages.h"

#include <boost/json.hpp>
#include <utility>

#include "supervisor/run/record_parts.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostTypes = 16;  // of one result

const json::object* object_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

std::optional<std::string> text_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

bool is_true(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// Codes of exit(2) alone: another would be read as a signal's.
int exit_code_at(const json::object& object) {
  const json::value* value = object.if_contains("exit_code");
  if (value == nullptr || !value->is_int64()) return 1;
  return static_cast<int>(value->get_int64() & 0xff);
}

std::optional<Result> result_at(const json::object& object) {
  const json::object* told = object_at(object, "result");
  if (told == nullptr) return std::nullopt;
  Result result;
  result.text = text_at(*told, "text").value_or("");
  const json::object* mime = object_at(*told, "mime");
  if (mime == nullptr) return result;
  for (const auto& [type, content] : *mime) {
    if (result.mime.size() == kMostTypes) break;
    if (!content.is_string()) continue;
    result.mime.emplace_back(std::string(type), std::string(content.get_string()));
  }
  return result;
}

WorkerDone done_of(const json::object& object) {
  WorkerDone done;
  done.id = text_at(object, "id").value_or("");
  done.nonce = text_at(object, "nonce").value_or("");
  done.exit_code = exit_code_at(object);
  done.ends = is_true(object, "exit");
  done.interrupted = is_true(object, "interrupted");
  done.result = result_at(object);
  const json::object* const error = object_at(object, "error");
  if (error == nullptr) return done;
  ToldError& told = done.error;
  for (auto [key, into] : {std::pair("type", &told.type), std::pair("message", &told.message),
                           std::pair("traceback", &told.traceback), std::pair("code", &told.code),
                           std::pair("module", &told.module), std::pair("path", &told.path)}) {
    *into = text_at(*error, key).value_or("").substr(0, kMostTold);
  }
  for (auto [key, into] : {std::pair("line", &told.line), std::pair("column", &told.column)}) {
    json::error_code wrong;
    const json::value* const number = error->if_contains(key);
    if (number != nullptr) *into = number->to_number<unsigned>(wrong);
  }
  return done;
}

std::string_view word_of(Handling handling) {
  return handling == Handling::check ? "check" : "exec";
}

}  // namespace

std::string exec_message(Handling handling, std::string_view id, std::string_view name,
                         std::string_view code) {
  return json::serialize(json::object{{"type", word_of(handling)},
                                      {"id", to_json_text(id)},
                                      {"name", to_json_text(name)},
                                      {"code", to_json_text(code)}});
}

std::string exec_lines(Handling handling, std::string_view id, std::string_view name,
                       std::string_view code, std::string_view nonce) {
  std::string plain_name(name);
  for (char& c : plain_name) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
    if (!is_plain) c = '_';
  }
  std::string lines(word_of(handling));
  lines.append(" ").append(id).append(" ").append(plain_name).append(" ");
  lines.append(std::to_string(code.size())).append("\n").append(code);
  return lines.append("nonce ").append(nonce).append("\n");
}

std::string path_message(std::string_view place) {
  return json::serialize(json::object{{"type", "path"}, {"add", to_json_text(place)}});
}

std::string nonce_message(std::string_view nonce) {
  return json::serialize(json::object{{"type", "nonce"}, {"nonce", nonce}});
}

sys::Result<WorkerMessage> parse_worker_message(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return tl::unexpected(sys::plain_error("is no JSON object"));
  WorkerMessage message;
  const std::string type = text_at(*object, "type").value_or("");
  if (type == "ready") {
    message.kind = WorkerMessage::Kind::ready;
    message.version = text_at(*object, "version").value_or("");
  } else if (type == "begun") {
    message.kind = WorkerMessage::Kind::begun;
    message.begun = text_at(*object, "id").value_or("");
  } else if (type == "done") {
    message.kind = WorkerMessage::Kind::done;
    message.done = done_of(*object);
  } else if (type != "ok") {
    return tl::unexpected(sys::plain_error("is of no known type"));
  }
  return message;
}

}  // namespace wardcase::supervisor

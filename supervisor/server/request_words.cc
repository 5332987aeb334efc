// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_words.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "supervisor/languages/box_names.h"
#include "supervisor/run/json_text.h"
#include "supervisor/server/request_binds.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostFiles = 256;
// Of a word, with its zero byte and its pointer.
constexpr std::size_t kWordExtra = 1 + sizeof(char*);

// Looked at before the work that many words make.
Read check_count(const std::string& field, std::size_t count, const Most& most) {
  if (count <= most.words) return {};
  return invalid(field, "are more than " + std::to_string(most.words));
}

Read check_sizes(const std::string& field, const std::vector<std::string>& words,
                 const Most& most) {
  const auto longest = std::ranges::max_element(words, {}, &std::string::size);
  if (longest != words.end() && longest->size() > most.word_bytes) {
    return invalid(
        field, shown(*longest) + " has more than " + std::to_string(most.word_bytes) + " bytes");
  }
  if (bytes_of(words) <= most.bytes) return {};
  return invalid(field, "have more than " + std::to_string(most.bytes) + " bytes in all");
}

Read read_file_content(const std::string& field, const json::value& value, RunRequest::File& file) {
  if (!value.is_object()) return read_text(field, value, file.content);
  const json::object& object = value.get_object();
  if (const json::value* fd = object.if_contains("fd"); fd != nullptr && object.size() == 1) {
    return read_descriptor(field + ".fd", *fd, file.descriptor);
  }
  const json::value* bytes = object.if_contains("base64");
  if (bytes == nullptr || object.size() != 1) {
    return invalid(field, R"(write a string, {"base64": "..."} or {"fd": 0})");
  }
  return read_bytes(field + ".base64", *bytes, file.content);
}

}  // namespace

Read read_text(const std::string& field, const json::value& value, std::string& text) {
  if (!value.is_string()) return invalid(field, "write a string");
  text = std::string(value.get_string());
  return {};
}

// What becomes a word of a command or a name of the kernel.
Read read_word(const std::string& field, const json::value& value, std::string& word) {
  auto read = read_text(field, value, word);
  if (read && word.find('\0') != std::string::npos) {
    return invalid(field, "a zero byte can't be part of it");
  }
  return read;
}

std::size_t bytes_of(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + kWordExtra;
  return bytes;
}

tl::unexpected<Problem> too_long_with_env(const std::string& field) {
  return invalid(
      field, "have, with env, more than " + std::to_string(kMostArguments.bytes) + " bytes in all");
}

Read read_words(const std::string& field, const json::value& value, const Most& most,
                std::vector<std::string>& words) {
  if (!value.is_array()) return invalid(field, "write a list of strings");
  if (auto counted = check_count(field, value.get_array().size(), most); !counted) return counted;
  for (const json::value& each : value.get_array()) {
    words.emplace_back();
    auto read = read_word(field + "[" + std::to_string(words.size() - 1) + "]", each, words.back());
    if (!read) return read;
  }
  return check_sizes(field, words, most);
}

Read read_switch(const std::string& field, const json::value& value, bool& is_on) {
  if (!value.is_bool()) return invalid(field, "write true or false");
  is_on = value.get_bool();
  return {};
}

Read read_bytes(const std::string& field, const json::value& value, std::string& bytes) {
  std::string text;
  auto read = read_text(field, value, text);
  if (!read) return read;
  auto decoded = decode_base64(text);
  if (!decoded) return invalid(field, "is not base64 (RFC 4648, section 4, with padding)");
  bytes = *std::move(decoded);
  return {};
}

Read read_environment(const json::value& value, std::vector<std::string>& environment) {
  if (!value.is_object()) return invalid("env", "write an object of names and values");
  const json::object& variables = value.get_object();
  if (auto counted = check_count("env", variables.size(), kMostVariables); !counted) return counted;
  for (const auto& [key, each] : variables) {
    const std::string name(key);
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos) {
      return invalid("env", shown(name) + " is no name of a variable");
    }
    std::string text;
    if (auto read = read_word("env." + name.substr(0, kShownBytes), each, text); !read) return read;
    environment.push_back(name + "=" + text);
  }
  return check_sizes("env", environment, kMostVariables);
}

Read read_files(const json::value& value, std::vector<RunRequest::File>& files) {
  if (!value.is_object()) return invalid("files", "write an object of names and contents");
  if (value.get_object().size() > kMostFiles) {
    return invalid("files", "are more than " + std::to_string(kMostFiles));
  }
  for (const auto& [key, each] : value.get_object()) {
    RunRequest::File file = {std::string(key), ""};
    if (const auto why = why_no_box_name(file.name); !why.empty()) {
      return invalid("files", "the name " + shown(file.name) + " " + std::string(why));
    }
    for (const RunRequest::File& other : files) {
      if (clash_in_box(other.name, file.name)) {
        return invalid("files",
                       shown(file.name) + " and " + shown(other.name) + " can't both be there");
      }
    }
    if (auto read = read_file_content("files." + file.name, each, file); !read) return read;
    files.push_back(std::move(file));
  }
  return {};
}

}  // namespace wardcase::supervisor

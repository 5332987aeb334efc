// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/code_pattern.h"

#include <re2/re2.h>

#include <algorithm>

namespace wardcase::policies {
namespace {

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

std::string with_lines(const std::string& pattern) { return "(?m:" + pattern + ")"; }

// What is being read is the last one.
DeniedCode& last(const Entry& entry) { return entry.reading.policy.denied_code.back().value; }

sys::Status read_pattern(const Entry& entry) {
  constexpr std::string_view kAccepted = "a regular expression in quotes";
  auto text = text_of(entry, kAccepted);
  if (!text) return tl::unexpected(std::move(text).error());
  const re2::RE2 compiled(with_lines(*text), options());
  if (!compiled.ok()) {
    return wrong(entry, entry.key + ": " + written(entry.node) + ": not " + std::string(kAccepted) +
                            ": " + compiled.error());
  }
  last(entry).pattern = *std::move(text);
  return {};
}

constexpr Row kKeys[] = {
    {"pattern", read_pattern},
    {"languages",
     [](const Entry& entry) {
       std::vector<Setting<std::string>> names;
       auto status = read_texts(entry, "a list of languages", names);
       for (Setting<std::string>& name : names) {
         last(entry).languages.push_back(std::move(name.value));
       }
       return status;
     }},
    {"why",
     [](const Entry& entry) {
       return text_of(entry, "a reason in quotes").map([&](std::string why) {
         last(entry).why = std::move(why);
       });
     }},
};

}  // namespace

sys::Status read_denied_code(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    auto& denied = value.reading.policy.denied_code;
    denied.push_back({{entry.node.keys[index].name, "", {}, ""}, value.origin()});
    if (value.node.kind != TomlNode::Kind::table) return read_pattern(value);
    if (auto status = read_rows(value, "deny_code", kKeys); !status) return status;
    if (last(value).pattern.empty()) return wrong(value, value.key + ": needs pattern");
    return {};
  });
}

std::optional<std::uint32_t> find_code(const std::string& pattern, std::string_view code) {
  const re2::RE2 compiled(with_lines(pattern), options());
  re2::StringPiece found;
  if (!compiled.Match({code.data(), code.size()}, 0, code.size(), re2::RE2::UNANCHORED, &found,
                      1)) {
    return std::nullopt;
  }
  const auto* const begin = code.data();
  return static_cast<std::uint32_t>(1 + std::count(begin, found.data(), '\n'));
}

}  // namespace wardcase::policies

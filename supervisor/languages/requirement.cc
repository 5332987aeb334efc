// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/requirement.h"

#include <algorithm>
#include <cstdint>

namespace wardcase::supervisor {
namespace {

using policies::Installer;

constexpr std::size_t kShown = 64;
constexpr std::size_t kLongestNpmName = 214;  // the registry's own bound
constexpr std::string_view kBlanks = " \t";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_name_byte(char c) { return is_word(c) || c == '-' || c == '_' || c == '.'; }
bool is_one_of(char c, std::string_view bytes) { return bytes.find(c) != std::string_view::npos; }
bool is_version_byte(char c) { return is_word(c) || is_one_of(c, ".!+*-_"); }
bool is_marker_byte(char c) { return is_word(c) || is_one_of(c, " '\"()<>=!~._-,+*"); }
bool is_range_byte(char c) { return is_word(c) || is_one_of(c, " .-+^~<>=|*"); }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

tl::unexpected<sys::Error> wrong(std::string_view text, std::string_view what) {
  std::string shown(text.substr(0, kShown));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > kShown) shown += "...";
  return tl::unexpected(sys::plain_error("requirement '" + shown + "': " + std::string(what)));
}

// PEP 503.
std::string normal_name(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    const bool is_separator = c == '-' || c == '_' || c == '.';
    if (is_separator && normal.ends_with('-')) continue;
    normal += is_separator ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return normal;
}

// Takes a name off the front; "" where there is none.
std::string_view take_name(std::string_view& rest) {
  rest = trimmed(rest);
  std::size_t size = 0;
  while (size < rest.size() && is_name_byte(rest[size])) ++size;
  const std::string_view name = rest.substr(0, size);
  if (name.empty() || !is_word(name.front()) || !is_word(name.back())) return {};
  rest = trimmed(rest.substr(size));
  return name;
}

// `[one,two]`, normalised; nullopt: not well-formed.
std::optional<std::string> take_extras(std::string_view& rest) {
  if (!rest.starts_with('[')) return "";
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view inside = rest.substr(1, end - 1);
  rest = trimmed(rest.substr(end + 1));
  std::vector<std::string> extras;
  while (!trimmed(inside).empty()) {
    const std::string_view extra = take_name(inside);
    if (extra.empty() || (!inside.empty() && inside.front() != ',')) return std::nullopt;
    if (!inside.empty()) inside.remove_prefix(1);
    extras.push_back(normal_name(extra));
  }
  std::ranges::sort(extras);
  std::string text;
  for (const std::string& extra : extras) text += (text.empty() ? "[" : ",") + extra;
  return text.empty() ? text : text + "]";
}

// `>=1.2, !=1.4`, without blanks and in one order; nullopt: not well-formed.
std::optional<std::string> read_versions(std::string_view rest) {
  constexpr std::string_view kOperators[] = {"===", "==", "~=", "!=", "<=", ">=", "<", ">"};
  if (rest.starts_with('(') && rest.ends_with(')')) rest = rest.substr(1, rest.size() - 2);
  std::vector<std::string> clauses;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view clause = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto* const found = std::ranges::find_if(
        kOperators, [&](std::string_view one) { return clause.starts_with(one); });
    if (found == std::end(kOperators)) return std::nullopt;
    const std::string_view version = trimmed(clause.substr(found->size()));
    if (version.empty() || !std::ranges::all_of(version, is_version_byte)) return std::nullopt;
    clauses.push_back(std::string(*found).append(version));
  }
  std::ranges::sort(clauses);
  std::string text;
  for (const std::string& clause : clauses) text += (text.empty() ? "" : ",") + clause;
  return text;
}

// Takes ` --hash=sha256:...` off the end, each; nullopt: another option, or no such hash.
std::optional<std::string> take_hashes(std::string_view& rest) {
  constexpr std::string_view kHash = "--hash=sha256:";
  constexpr std::size_t kDigits = 64;
  std::string_view options;
  if (const std::size_t first = rest.find(" --"); first != std::string_view::npos) {
    options = trimmed(rest.substr(first));
    rest = trimmed(rest.substr(0, first));
  }
  std::vector<std::string> hashes;
  while (!options.empty()) {
    if (!options.starts_with(kHash)) return std::nullopt;
    const std::string_view digits = options.substr(kHash.size(), kDigits);
    if (digits.size() != kDigits ||
        digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
      return std::nullopt;
    }
    hashes.push_back(std::string(kHash).append(digits));
    options.remove_prefix(kHash.size() + kDigits);
    if (!options.empty() && kBlanks.find(options.front()) == std::string_view::npos) {
      return std::nullopt;
    }
    options = trimmed(options);
  }
  std::ranges::sort(hashes);
  std::string text;
  for (const std::string& hash : hashes) text += " " + hash;
  return text;
}

// What both installers take for something else than a name.
std::string_view why_no_name(std::string_view text) {
  if (text.empty()) return "is empty; write a name, with versions if need be";
  if (text.size() > kLongestRequirement) return "is too long";
  if (std::ranges::any_of(text, [](char c) { return c < ' ' || c > '~'; })) {
    return "has bytes that are no printable ASCII";
  }
  if (text.starts_with('-')) return "is an option; write a name, with versions if need be";
  return "";
}

bool is_npm_part(std::string_view part) {
  const auto is_allowed = [](char c) { return is_name_byte(c) && !(c >= 'A' && c <= 'Z'); };
  return !part.empty() && part.front() != '.' && part.front() != '_' && part.front() != '-' &&
         std::ranges::all_of(part, is_allowed);
}

bool is_npm_name(std::string_view name) {
  if (name.size() > kLongestNpmName) return false;
  if (!name.starts_with('@')) return is_npm_part(name);
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && is_npm_part(name.substr(1, slash - 1)) &&
         is_npm_part(name.substr(slash + 1));
}

}  // namespace

sys::Result<Requirement> parse_python_requirement(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (const std::string_view reason = why_no_name(rest); !reason.empty()) {
    return wrong(text, reason);
  }
  const auto hashes = take_hashes(rest);
  if (!hashes) return wrong(text, "has an option; only --hash=sha256:DIGITS may follow a name");
  std::string marker;
  if (const std::size_t semicolon = rest.find(';'); semicolon != std::string_view::npos) {
    marker = trimmed(rest.substr(semicolon + 1));
    rest = trimmed(rest.substr(0, semicolon));
    if (marker.empty() || !std::ranges::all_of(marker, is_marker_byte)) {
      return wrong(text, "has no marker after ';', as python_version < \"3.12\"");
    }
  }
  if (rest.find('@') != std::string_view::npos || rest.find('/') != std::string_view::npos) {
    return wrong(text,
                 "is a path or a URL; only names that the configured index knows are "
                 "installed");
  }
  const std::string_view name = take_name(rest);
  if (name.empty()) return wrong(text, "begins with no name; write one as numpy or numpy==1.26");
  const auto extras = take_extras(rest);
  const auto versions = extras ? read_versions(rest) : std::nullopt;
  if (!versions) {
    return wrong(text, "is not NAME[EXTRA,...] with versions such as ==1.26 or >=1.2,<2");
  }
  std::string whole = normal_name(name) + *extras + *versions;
  if (!marker.empty()) whole += "; " + marker;
  return Requirement{normal_name(name), whole + *hashes};
}

sys::Result<Requirement> parse_npm_requirement(std::string_view text) {
  const std::string_view whole = trimmed(text);
  if (const std::string_view reason = why_no_name(whole); !reason.empty()) {
    return wrong(text, reason);
  }
  const std::size_t at = whole.find('@', 1);
  const std::string_view name = trimmed(whole.substr(0, at));
  if (!is_npm_name(name)) {
    return wrong(text,
                 "is no name of the registry, in lower case; paths, URLs and aliases are "
                 "not installed");
  }
  const std::string range(at == std::string_view::npos ? "latest" : trimmed(whole.substr(at + 1)));
  if (range.empty() || !std::ranges::all_of(range, is_range_byte) || range.starts_with('-')) {
    return wrong(text, "has no range of versions after '@', such as 1.3.0, ^2 or latest");
  }
  return Requirement{std::string(name), std::string(name) + "@" + range};
}

sys::Result<Requirement> parse_requirement(Installer installer, std::string_view text) {
  return installer == Installer::npm ? parse_npm_requirement(text) : parse_python_requirement(text);
}

sys::Result<std::vector<Requirement>> settle_requirements(std::vector<Requirement> requirements) {
  if (requirements.size() > kMostRequirements) {
    return tl::unexpected(sys::plain_error("requirements: there are " +
                                           std::to_string(requirements.size()) + "; at most " +
                                           std::to_string(kMostRequirements)));
  }
  std::ranges::sort(requirements, {}, &Requirement::text);
  const auto rest = std::unique(
      requirements.begin(), requirements.end(),
      [](const Requirement& one, const Requirement& next) { return one.text == next.text; });
  requirements.erase(rest, requirements.end());
  return requirements;
}

std::optional<Installer> installer_of(std::string_view language) {
  if (language == "python") return Installer::pip;
  if (language == "javascript" || language == "typescript") return Installer::npm;
  return std::nullopt;
}

}  // namespace wardcase::supervisor

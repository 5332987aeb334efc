// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/box_names.h"

#include <algorithm>

#include "sandbox/sys/paths.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kLongestPart = 255;  // NAME_MAX
constexpr std::size_t kLongestPath = 1024;

}  // namespace

std::string_view why_no_box_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kLongestPath) return "is too long";
  if (name.find('\0') != std::string_view::npos) return "has a zero byte in it";
  if (name.front() == '/') return "is absolute; write it relative to /box";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return "has an empty part, '.' or '..' in it";
    if (part.size() > kLongestPart) return "has too long a part";
    begin = end + 1;
  }
  return "";
}

bool clash_in_box(std::string_view name, std::string_view other) {
  return sys::is_at_or_below(name, other) || sys::is_at_or_below(other, name);
}

}  // namespace wardcase::supervisor

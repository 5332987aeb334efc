// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/session_terms.h"

#include <algorithm>
#include <cstddef>

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kLongestId = 64;

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId && std::ranges::all_of(text, is_id_character) &&
         text.find_first_not_of('.') != std::string_view::npos;
}

}  // namespace wardcase::supervisor

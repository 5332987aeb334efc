// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/language_store.h"

#include <utility>

namespace wardcase::policies {

std::string_view LanguageStore::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

Words LanguageStore::keep(std::vector<std::string> words) {
  std::vector<std::string_view>& list = lists_.emplace_back();
  for (std::string& word : words) list.push_back(keep(std::move(word)));
  return list;
}

std::span<const Runner> LanguageStore::keep(std::vector<Runner> runners) {
  return runners_.emplace_back(std::move(runners));
}

}  // namespace wardcase::policies

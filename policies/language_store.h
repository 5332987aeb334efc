// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language.h"

namespace wardcase::policies {

// Keeps what a Language of a file has views of. Nothing that was kept moves.
class LanguageStore {
 public:
  std::string_view keep(std::string text);
  Words keep(std::vector<std::string> words);
  std::span<const Runner> keep(std::vector<Runner> runners);

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<std::string_view>> lists_;
  std::deque<std::vector<Runner>> runners_;
};

// A language as a file describes it.
struct ReadLanguage {
  Language language;
  std::unique_ptr<LanguageStore> store;  // what `language` has views of
};

}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policies/language_store.h"
#include "sandbox/sys/error.h"

namespace wardcase::policies {

// The languages that hold: the shipped ones, and those of files, each of which adds one or
// replaces the one of its name.
class LanguageSet {
 public:
  LanguageSet();  // the shipped ones

  // Fails where a name, an alias or a suffix is another language's, or where a file before this one
  // had the language already; names both places.
  [[nodiscard]] sys::Status add(ReadLanguage read);

  [[nodiscard]] const std::vector<Language>& all() const { return languages_; }
  // By name or alias; nullptr if there is none.
  [[nodiscard]] const Language* find(std::string_view name_or_alias) const;
  // By the suffix of a file name; nullptr if there is none.
  [[nodiscard]] const Language* of_file(std::string_view file_name) const;
  // The names of all, in their order.
  [[nodiscard]] std::string names(std::string_view separator) const;

 private:
  std::vector<Language> languages_;
  std::vector<std::shared_ptr<const LanguageStore>> stores_;  // shared by copies
};

}  // namespace wardcase::policies

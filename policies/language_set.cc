// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/language_set.h"

#include <algorithm>
#include <utility>

namespace wardcase::policies {
namespace {

bool contains(Words words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_called(const Language& language, std::string_view name) {
  return language.name == name || contains(language.aliases, name);
}

// The word of `added` that is taken by `other`; "" if none is.
std::string_view find_clash(const Language& added, const Language& other) {
  if (is_called(other, added.name)) return added.name;
  for (const std::string_view alias : added.aliases) {
    if (is_called(other, alias)) return alias;
  }
  for (const std::string_view suffix : added.suffixes) {
    if (contains(other.suffixes, suffix)) return suffix;
  }
  return "";
}

}  // namespace

LanguageSet::LanguageSet() : languages_(shipped_languages().begin(), shipped_languages().end()) {}

sys::Status LanguageSet::add(ReadLanguage read) {
  const Language& added = read.language;
  const auto replaced = std::ranges::find(languages_, added.name, &Language::name);
  for (const Language& other : languages_) {
    if (replaced != languages_.end() && &other == &*replaced) continue;
    const std::string_view clash = find_clash(added, other);
    if (clash.empty()) continue;
    return tl::unexpected(sys::plain_error(
        std::string(added.origin) + ": '" + std::string(clash) + "' is the language '" +
        std::string(other.name) + "' already (" + std::string(other.origin) +
        "); choose another, or replace that one by a file with name = \"" +
        std::string(other.name) + "\""));
  }
  if (replaced == languages_.end()) {
    languages_.push_back(added);
  } else {
    *replaced = added;
  }
  stores_.push_back(std::move(read.store));
  return {};
}

const Language* LanguageSet::find(std::string_view name_or_alias) const {
  const auto found = std::ranges::find_if(
      languages_, [&](const Language& language) { return is_called(language, name_or_alias); });
  return found == languages_.end() ? nullptr : &*found;
}

const Language* LanguageSet::of_file(std::string_view file_name) const {
  const std::string_view name = file_name.substr(file_name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return nullptr;  // ".py" is a hidden file
  const auto found = std::ranges::find_if(languages_, [&](const Language& language) {
    return contains(language.suffixes, name.substr(dot));
  });
  return found == languages_.end() ? nullptr : &*found;
}

std::string LanguageSet::names(std::string_view separator) const {
  std::string names;
  for (const Language& language : languages_) {
    if (!names.empty()) names += separator;
    names += language.name;
  }
  return names;
}

}  // namespace wardcase::policies

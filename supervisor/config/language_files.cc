// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <dirent.h>

#include <algorithm>

#include "policies/language_reader.h"
#include "sandbox/sys/files.h"
#include "supervisor/config/config.h"
#include "supervisor/config/config_files.h"

namespace wardcase::supervisor {
namespace {

constexpr std::string_view kSuffix = ".toml";

std::vector<std::string> language_files(const std::string& directory) {
  std::vector<std::string> names;
  for (const unsigned char type : {DT_REG, DT_LNK}) {
    for (std::string& name : sys::list_directory(directory, type)) {
      if (name.ends_with(kSuffix)) names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

sys::Status add_file(const std::string& path, const std::string& name,
                     policies::LanguageSet& languages) {
  const auto text = read_config_file(path);
  if (!text) return tl::unexpected(text.error());
  if (!*text) return {};  // it went meanwhile
  auto read = policies::read_language(**text, path, name);
  if (!read) return tl::unexpected(std::move(read).error());
  return languages.add(*std::move(read));
}

}  // namespace

sys::Result<policies::LanguageSet> load_languages(const ConfigPlaces& places) {
  policies::LanguageSet languages;
  for (const std::string& place : {places.system, places.user}) {
    if (place.empty()) continue;
    const std::string directory = place + "/languages";
    for (const std::string& file : language_files(directory)) {
      const std::string name = file.substr(0, file.size() - kSuffix.size());
      if (auto added = add_file(directory + "/" + file, name, languages); !added) {
        return tl::unexpected(std::move(added).error());
      }
    }
  }
  return languages;
}

}  // namespace wardcase::supervisor

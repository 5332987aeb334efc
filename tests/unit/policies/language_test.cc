// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace wardcase::policies {
namespace {

std::string name_of(const Language* language) {
  return language == nullptr ? "" : std::string(language->name);
}

TEST(Language, IsFoundByNameAndAlias) {
  for (const char* name : {"python", "py", "python3"}) {
    EXPECT_EQ(name_of(find_language(name)), "python") << name;
  }
  for (const char* name : {"javascript", "js", "node", "nodejs"}) {
    EXPECT_EQ(name_of(find_language(name)), "javascript") << name;
  }
  for (const char* name : {"bash", "sh", "shell"}) {
    EXPECT_EQ(name_of(find_language(name)), "bash") << name;
  }
  for (const char* name : {"", "perl", "Python", "python ", "main.py"}) {
    EXPECT_EQ(find_language(name), nullptr) << name;
  }
}

TEST(Language, IsFoundByTheSuffixOfAFile) {
  EXPECT_EQ(name_of(language_of_file("main.py")), "python");
  EXPECT_EQ(name_of(language_of_file("/a.d/b.min.mjs")), "javascript");
  EXPECT_EQ(name_of(language_of_file("x.cjs")), "javascript");
  EXPECT_EQ(name_of(language_of_file("../run.bash")), "bash");
  for (const char* name :
       {"", "py", ".py", "dir/.py", "dir.py/program", "main.pyc", "main.PY", "main.", "a.py/"}) {
    EXPECT_EQ(language_of_file(name), nullptr) << name;
  }
}

TEST(Language, CallsEverySnippetByItsOwnSuffix) {
  for (const Language& language : languages()) {
    EXPECT_EQ(language_of_file(language.snippet_name), &language);
    EXPECT_FALSE(language.interpreters.empty());
  }
}

TEST(Language, SharesNoNameAndNoSuffix) {
  std::multiset<std::string_view> words;
  for (const Language& language : languages()) {
    words.insert(language.name);
    words.insert(language.aliases.begin(), language.aliases.end());
    words.insert(language.suffixes.begin(), language.suffixes.end());
  }
  for (const std::string_view word : words) EXPECT_EQ(words.count(word), 1U) << word;
}

TEST(Language, LetsPythonStreamInUtf8) {
  const auto environment = find_language("python")->environment;
  for (const std::string_view variable : {"PYTHONUNBUFFERED=1", "PYTHONUTF8=1",
                                          "PYTHONIOENCODING=utf-8", "PYTHONDONTWRITEBYTECODE=1"}) {
    EXPECT_NE(std::ranges::find(environment, variable), environment.end()) << variable;
  }
}

}  // namespace
}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "policies/language_reader.h"
#include "policies/language_set.h"

namespace wardcase::policies {
namespace {

constexpr std::string_view kAwk = R"(
schema       = 1
name         = "awk"
aliases      = ["mawk"]
suffixes     = [".awk"]
interpreters = ["awk"]
snippet_name = "main.awk"
run          = ["{interpreter}", "-f", "{source}"]
)";

std::string name_of(const Language* language) {
  return language == nullptr ? "" : std::string(language->name);
}

sys::Result<ReadLanguage> read(std::string_view text, std::string_view name = "awk") {
  return read_language(text, "awk.toml", name);
}

std::string refusal_of(std::string_view text) {
  const auto language = read(text);
  return language ? "" : language.error().message();
}

std::string with(std::string_view more) { return std::string(kAwk) + std::string(more); }

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kAwk);
  return text.replace(text.find(from), from.size(), to);
}

TEST(Language, IsFoundByNameAndAlias) {
  const LanguageSet languages;
  for (const char* name : {"python", "py", "python3"}) {
    EXPECT_EQ(name_of(languages.find(name)), "python") << name;
  }
  for (const char* name : {"javascript", "js", "node", "nodejs"}) {
    EXPECT_EQ(name_of(languages.find(name)), "javascript") << name;
  }
  for (const char* name : {"bash", "sh", "shell"}) {
    EXPECT_EQ(name_of(languages.find(name)), "bash") << name;
  }
  for (const char* name : {"", "cobol", "Python", "python ", "main.py"}) {
    EXPECT_EQ(languages.find(name), nullptr) << name;
  }
}

TEST(Language, IsFoundByTheSuffixOfAFile) {
  const LanguageSet languages;
  EXPECT_EQ(name_of(languages.of_file("main.py")), "python");
  EXPECT_EQ(name_of(languages.of_file("/a.d/b.min.mjs")), "javascript");
  EXPECT_EQ(name_of(languages.of_file("x.cjs")), "javascript");
  EXPECT_EQ(name_of(languages.of_file("../run.bash")), "bash");
  EXPECT_EQ(name_of(languages.of_file("x.c")), "c");
  EXPECT_EQ(name_of(languages.of_file("x.C")), "c++");
  for (const char* name :
       {"", "py", ".py", "dir/.py", "dir.py/program", "main.pyc", "main.PY", "main.", "a.py/"}) {
    EXPECT_EQ(languages.of_file(name), nullptr) << name;
  }
}

TEST(Language, ThoseOfTheIssueAreShipped) {
  const LanguageSet languages;
  for (const char* name :
       {"python", "py",         "javascript", "js",  "node", "typescript", "bash", "sh",
        "shell",  "powershell", "pwsh",       "ps1", "c",    "c++",        "go",   "rust",
        "java",   "ruby",       "perl",       "php", "lua",  "r"}) {
    EXPECT_NE(languages.find(name), nullptr) << name;
  }
}

TEST(Language, CallsEverySnippetByItsOwnSuffix) {
  const LanguageSet languages;
  for (const Language& language : languages.all()) {
    EXPECT_EQ(languages.of_file(language.snippet_name), &language);
    ASSERT_FALSE(language.runners.empty());
    EXPECT_FALSE(language.runners.front().interpreters.empty());
    const CheckStep& check = language.runners.front().check;
    EXPECT_NE(check.command.empty(), check.refusal.empty()) << language.name;
    EXPECT_EQ(check.command.empty(), check.errors.empty()) << language.name;
  }
}

TEST(Language, SharesNoNameAndNoSuffix) {
  std::multiset<std::string_view> words;
  for (const Language& language : shipped_languages()) {
    words.insert(language.name);
    words.insert(language.aliases.begin(), language.aliases.end());
    words.insert(language.suffixes.begin(), language.suffixes.end());
  }
  for (const std::string_view word : words) EXPECT_EQ(words.count(word), 1U) << word;
}

TEST(Language, LetsPythonStreamInUtf8) {
  const auto environment = LanguageSet().find("python")->environment;
  for (const std::string_view variable : {"PYTHONUNBUFFERED=1", "PYTHONUTF8=1",
                                          "PYTHONIOENCODING=utf-8", "PYTHONDONTWRITEBYTECODE=1"}) {
    EXPECT_NE(std::ranges::find(environment, variable), environment.end()) << variable;
  }
}

TEST(Languages, OneMoreIsOneFile) {
  LanguageSet languages;
  ASSERT_TRUE(languages.add(read(kAwk).value()));
  const Language* const awk = languages.find("mawk");
  ASSERT_NE(awk, nullptr);
  EXPECT_EQ(awk->origin, "awk.toml");
  EXPECT_EQ(languages.of_file("sum.awk"), awk);
  EXPECT_EQ(awk->runners.front().run.size(), 3U);
  EXPECT_EQ(awk->runners.front().version.front(), "--version");
}

TEST(Languages, TheSameNameReplaces) {
  LanguageSet languages;
  const std::size_t count = languages.all().size();
  const auto lua = [](const char* snippet) {
    std::string text = replaced("\"awk\"", "\"lua\"");
    text.replace(text.find("main.awk"), 8, snippet);
    return read(text, "lua").value();
  };
  ASSERT_TRUE(languages.add(lua("a.awk")));
  EXPECT_EQ(languages.find("lua")->snippet_name, "a.awk");
  EXPECT_EQ(languages.of_file("x.lua"), nullptr);
  ASSERT_TRUE(languages.add(lua("b.awk")));
  EXPECT_EQ(languages.find("lua")->snippet_name, "b.awk");
  EXPECT_EQ(languages.all().size(), count);
}

TEST(Languages, AWordOfAnotherLanguageIsRefusedWithBothPlaces) {
  for (const auto& [from, to, clash] :
       {std::tuple{"\"mawk\"", "\"py\"", "'py' is the language 'python' already (built in)"},
        std::tuple{"\"mawk\"", "\"ruby\"", "'ruby' is the language 'ruby'"},
        std::tuple{".awk\"]", ".js\"]", "'.js' is the language 'javascript'"}}) {
    LanguageSet languages;
    const auto added = languages.add(read(replaced(from, to)).value());
    ASSERT_FALSE(added) << to;
    EXPECT_NE(added.error().message().find(clash), std::string::npos) << added.error().message();
    EXPECT_EQ(added.error().message().find("awk.toml: "), 0U);
  }
}

TEST(LanguageReader, RefusesWhatItDoesNotKnowWithItsPlace) {
  EXPECT_EQ(refusal_of(with("suffix = []")),
            "awk.toml:9:1: unknown key 'suffix'; did you mean 'suffixes'?");
  EXPECT_NE(refusal_of(with("[check]\ncomand = []")).find("10:1: unknown key 'comand' in [check]"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("etc_paths = [\"/usr/x\"]")).find("etc_paths[0]: '/usr/x': not"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("etc_paths = [\"/etc/../root\"]")), "");
  EXPECT_NE(refusal_of(with("environment = [\"NOVALUE\"]")), "");
  EXPECT_NE(refusal_of(with("environment = [\"A={source}\"]")).find("unknown placeholder {source}"),
            std::string::npos);
  EXPECT_NE(refusal_of(replaced("schema       = 1", "schema = 2")), "");
  EXPECT_NE(refusal_of(replaced("{source}", "{sorce}")).find("unknown placeholder {sorce}"),
            std::string::npos);
  EXPECT_NE(refusal_of(replaced("\"{interpreter}\", ", "")), "") << "an option for a program";
  EXPECT_NE(refusal_of(replaced("{source}", "{output}")).find("[compile]"), std::string::npos);
  EXPECT_NE(refusal_of(replaced("main.awk", "../main.awk")), "");
  EXPECT_NE(refusal_of(replaced("interpreters = [\"awk\"]", "")).find("interpreters"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("[needs]\nmemory = \"none\"")), "");
}

TEST(LanguageReader, AFileIsCalledAfterItsLanguage) {
  const auto other = read(kAwk, "gawk");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("name = \"gawk\""), std::string::npos);
}

TEST(LanguageReader, ACheckHasACommandOrAReason) {
  EXPECT_NE(refusal_of(with("[check]\nerrors = []")), "");
  EXPECT_NE(refusal_of(with("[check]\nnone = \"x\"\ncommand = [\"awk\"]")), "");
  EXPECT_NE(refusal_of(with("[check]\ncommand = [\"awk\", \"{script}\"]")), "");
  EXPECT_EQ(refusal_of(with("[check]\ncommand = [\"awk\", \"{script}\"]\nscript = \"x\"")), "");
}

TEST(LanguageReader, SeveralRunnersStandByThemselves) {
  EXPECT_NE(refusal_of(with("[[runner]]\ninterpreters = [\"gawk\"]\nrun = [\"gawk\"]"))
                .find("unknown key 'interpreters'"),
            std::string::npos);
  EXPECT_EQ(LanguageSet().find("typescript")->runners.size(), 4U);
}

}  // namespace
}  // namespace wardcase::policies

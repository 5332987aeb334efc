// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/source_error.h"

#include <gtest/gtest.h>

#include "policies/language_set.h"

namespace wardcase::supervisor {
namespace {

std::string compile_error(std::string_view language, std::string_view written) {
  const policies::LanguageSet languages;
  const auto error = first_error(languages.find(language)->runners.front().compile.errors, written);
  return error ? sentence_of(*error) : "none";
}
std::string check_error(std::string_view language, std::string_view written) {
  const policies::LanguageSet languages;
  const auto error = first_error(languages.find(language)->runners.front().check.errors, written);
  return error ? sentence_of(*error) : "none";
}

TEST(SourceErrors, AreFoundAmongWhatElseACompilerSays) {
  EXPECT_EQ(compile_error("c",
                          "In file included from main.c:1:\n"
                          "main.c: In function 'main':\n"
                          "main.c:2:3: warning: unused\n"
                          "main.c:3:14: error: expected ';' before 'return'\n"
                          "main.c:9:1: error: another\n"),
            "main.c:3:14: expected ';' before 'return'");
  EXPECT_EQ(compile_error("c",
                          "/usr/bin/ld: /tmp/x.o: in function `main':\n"
                          "main.c:(.text+0x5): undefined reference to `f'\n"
                          "collect2: error: ld returned 1 exit status\n"),
            "`f'");
  EXPECT_EQ(compile_error("go", "# command-line-arguments\n./main.go:4:2: undefined: x\n"),
            "main.go:4:2: undefined: x");
}

TEST(SourceErrors, MayHaveTheirPlaceOnAnotherLine) {
  EXPECT_EQ(compile_error("rust",
                          "warning: unused\n --> main.rs:1:1\n"
                          "error[E0425]: cannot find value `x` in this scope\n"
                          "  --> main.rs:2:20\n   |\n"),
            "main.rs:2:20: cannot find value `x` in this scope");
  EXPECT_EQ(check_error("javascript",
                        "file:///box/main.mjs:2\nlet x = (;\n         ^\n\n"
                        "SyntaxError: Unexpected token ';'\n    at compile (node:internal)\n"),
            "main.mjs:2:10: Unexpected token ';'");
}

TEST(SourceErrors, WithoutAPatternAreTheFirstLine) {
  EXPECT_EQ(compile_error("c", "\n\x1b[31mgcc: no input\x07 files\nmore\n"),
            "[31mgcc: no input  files");
  EXPECT_EQ(compile_error("c", "\n\n"), "none");
  EXPECT_EQ(compile_error("c", ""), "none");
}

TEST(SourceErrors, HaveTheLineAsHintAndNoControlCharacters) {
  PartFailure failure = {.status = RunStatus::syntax_error};
  tell_error({"/tmp/somewhere/box/a.py", 2, 3, "invalid"}, "a.py", "x\n  y\tz\x1b[0m\n", failure);
  EXPECT_EQ(failure.error, "a.py:2:3: invalid");
  EXPECT_EQ(failure.hint, "line 2: y z [0m");
  EXPECT_EQ(failure.error_message, "invalid");
  PartFailure beyond = {.status = RunStatus::syntax_error};
  tell_error({"a.py", 99, 1, "unexpected end"}, "a.py", "x\n", beyond);
  EXPECT_EQ(beyond.hint, "");
  PartFailure header = {.status = RunStatus::syntax_error};
  tell_error({"other.h", 1, 1, "x"}, "a.c", "x\n", header);
  EXPECT_EQ(header.hint, "");
}

}  // namespace
}  // namespace wardcase::supervisor

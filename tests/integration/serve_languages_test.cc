// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What belongs to a program beside its run, by HTTP as by the command line.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/installs.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using ServeLanguages = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeLanguages);

TEST_P(ServeLanguages, ProgramsAreCompiledWithARecordOfThat) {
  if (::access("/usr/bin/gcc", X_OK) != 0) GTEST_SKIP() << "needs gcc";
  const Service service = start();
  const Record record = service.run(
      code_body("c", "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 7; }"));
  EXPECT_EQ(record.out(), "compiled\n") << record;
  EXPECT_EQ(record.number("exit_code"), 7);
  EXPECT_EQ(record.text("compile.status"), "exited");
  const Record wrong = service.run(code_body("c", "int main(void) { return x; }"));
  EXPECT_EQ(wrong.status(), "compile_failed") << wrong;
  EXPECT_NE(wrong.text("error").find("main.c:1"), std::string::npos) << wrong;
}

TEST_P(ServeLanguages, SyntaxIsLookedAtBeforeAnythingRuns) {
  const Service service = start();
  const Record wrong =
      service.run(code_body("python", "print('ran')\nx = (\n", R"("validate": true)"));
  EXPECT_EQ(wrong.status(), "syntax_error") << wrong;
  EXPECT_EQ(wrong.text("error_type"), "SyntaxError");
  EXPECT_EQ(wrong.out(), "");
  EXPECT_EQ(service.run(code_body("python", "print('ran')", R"("validate": true)")).out(), "ran\n");
}

TEST_P(ServeLanguages, APreludeRunsBeforeTheProgramInItsInterpreter) {
  const Service service = start();
  const Record record =
      service.run(code_body("python", "from __future__ import annotations\nprint(given)\n1/0",
                            R"("prelude": "given = 'by the prelude'")"));
  EXPECT_EQ(record.out(), "by the prelude\n") << record;
  EXPECT_NE(record.text("traceback").find("line 3"), std::string::npos) << record;
}

TEST_P(ServeLanguages, WhatIsLeftBehindIsListed) {
  const Service service = start();
  const Record record = service.run(code_body(
      "bash", "mkdir sub; printf 1,2 > sub/data.csv; ln -s /etc/passwd p; mkfifo f; cat given",
      R"("files": {"given": "given\n"})"));
  EXPECT_EQ(record.out(), "given\n");
  EXPECT_EQ(record.text("artifacts.0.path"), "sub/data.csv") << record;
  EXPECT_EQ(record.number("artifacts.0.size"), 3);
  EXPECT_EQ(record.text("artifacts.0.mime"), "text/csv");
  EXPECT_FALSE(record.has("artifacts.1"));
}

class ServeInstalls : public WithInstalls {};
WARDCASE_AS_ROOT_AND_USER(ServeInstalls);

TEST_P(ServeInstalls, RequirementsAreInstalledOnceFromWhereThePolicySays) {
  const ScratchDirectory directory(caller());
  std::filesystem::create_directories(directory.path() / "wardcase");
  (void)directory.write("wardcase/wardcase.toml",
                        "schema = 1\n[install]\nfind_links = [\"" + index_.links() + "\"]\n");
  const Service service(caller(), {}, "XDG_CONFIG_HOME=" + directory.path().string());
  const std::string code = "import one; print(one.value)";
  const Record first = service.run(code_body("python", code, R"("requirements": ["one"])"));
  EXPECT_EQ(first.out(), "one and two\n") << first;
  EXPECT_EQ(first.text("install.status"), "exited");
  const Record second = service.run(code_body("python", code, R"("requirements": ["one"])"));
  EXPECT_TRUE(second.is_true("install.cached")) << second;
  const Record missing =
      service.run(code_body("python", code, R"("requirements": ["nonexistent-pkg-zz"])"));
  EXPECT_EQ(missing.status(), "install_failed") << missing;
  EXPECT_NE(missing.text("install.stderr").find("nonexistent-pkg-zz"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Syntax is looked at in a box, and nothing of the program is executed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

struct Mistake {
  const char* name;
  const char* code;
  const char* place;  // what the sentence begins with
};
// lint: table
constexpr Mistake kMistakes[] = {
    {"a.py", "x = 1\ndef f(:\n  pass\n", "a.py:2:7: "},
    {"b.js", "let a = 1;\nlet b = ;\n", "b.js:2:9: "},
    {"c.mjs", "import fs from 'fs';\nlet x = (;\n", "c.mjs:2:10: "},
    {"d.sh", "echo 1\necho 'open\n", "d.sh:2: "},
    {"e.c", "int main(void) {\n  return 0\n}\n", "e.c:2:11: "},
    {"f.cpp", "int main() {\n  return 0\n}\n", "f.cpp:2:11: "},
    {"g.rb", "puts 1\nx = = 2\n", "g.rb:2: "},
    {"h.php", "<?php\necho 1\necho 2;\n", "h.php:3: "},
    {"i.lua", "x = 1\ny = = 2\n", "i.lua:2: "},
};

struct Deed {
  const char* name;
  const char* code;  // makes /out/deed where it is executed
};
// lint: table
constexpr Deed kDeeds[] = {
    {"a.py", "open('/out/deed', 'w').close()"},
    {"b.js", "require('fs').writeFileSync('/out/deed', '')"},
    {"c.mjs", "import fs from 'fs';\nfs.writeFileSync('/out/deed', '');"},
    {"d.sh", ": > /out/deed"},
    {"e.c",
     "#include <stdio.h>\n__attribute__((constructor)) static void f(void) { "
     "fclose(fopen(\"/out/deed\", "
     "\"w\")); }\nint main(void) { return 0; }\n"},
    {"g.rb", "BEGIN { File.write('/out/deed', '') }"},
    {"h.php", "<?php file_put_contents('/out/deed', '');"},
    {"i.lua", "io.open('/out/deed', 'w'):close()"},
};

class Checks : public WithCaller {
 protected:
  Checks() : files_(caller()) {}

  [[nodiscard]] std::string file(const std::string& name, std::string_view text) const {
    return files_.write(name, text);
  }
  [[nodiscard]] Outcome call(std::vector<std::string> arguments) const {
    return Command(caller(), std::move(arguments))
        .environment("XDG_CACHE_HOME=" + files_.path().string())
        .finish();
  }
  [[nodiscard]] std::filesystem::path directory() const { return files_.path(); }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Checks);

TEST_P(Checks, AMistakeIsToldWithItsPlace) {
  for (const Mistake& mistake : kMistakes) {
    const Outcome outcome = call({"check", "--json", file(mistake.name, mistake.code)});
    const Record record = outcome.record();
    EXPECT_EQ(outcome.exit_code, 1) << outcome;
    EXPECT_EQ(record.status(), "syntax_error") << record;
    EXPECT_EQ(record.text("error_type"), "SyntaxError");
    EXPECT_EQ(record.text("error").find(mistake.place), 0U) << record.text("error");
    EXPECT_EQ(record.text("error"), mistake.place + record.text("error_message"));
    EXPECT_NE(record.text("error_message"), "") << mistake.name;
    EXPECT_EQ(record.text("hint").find("line "), 0U) << mistake.name << ": " << record;
    EXPECT_TRUE(record.is_null("exit_code"));
    EXPECT_TRUE(record.is_null("traceback"));
  }
}

TEST_P(Checks, NothingOfTheProgramIsExecuted) {
  for (const Deed& deed : kDeeds) {
    const std::string program = file(deed.name, deed.code);
    const ScratchDirectory out(caller());
    const std::string shown = out.path().string() + ":/out:rw";
    for (std::vector<std::string> words :
         {std::vector<std::string>{"check"}, {"run", "--validate"}}) {
      words.insert(words.end(), {"-v", shown, program});
      const Outcome checked = call(words);
      EXPECT_EQ(checked.exit_code, 0) << checked;
      EXPECT_EQ(checked.out() + checked.err(), "");
      EXPECT_FALSE(std::filesystem::exists(out.path() / "deed")) << deed.name;
    }
    const Outcome ran = call({"run", "-v", shown, program});
    EXPECT_EQ(ran.exit_code, 0) << ran;
    EXPECT_TRUE(std::filesystem::exists(out.path() / "deed")) << "the control: " << deed.name;
  }
}

TEST_P(Checks, ALanguageWithoutOneSaysWhy) {
  const Outcome outcome = call({"check", "-l", "perl", "-c", "BEGIN { print 'ran' }"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(outcome.out(), "");
  EXPECT_NE(outcome.err().find("perl -c runs what is in BEGIN blocks"), std::string::npos)
      << outcome;
}

TEST_P(Checks, SeveralFilesAreLookedAtAndTheWrongOnesTold) {
  const std::string good = file("good.py", "print(1)");
  const std::string bad = file("bad.py", "print(");
  const std::string worse = file("worse.sh", "fi");
  const Outcome outcome = call({"check", good, bad, worse, good});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err().find("bad.py:1:6: "), std::string::npos) << outcome;
  EXPECT_NE(outcome.err().find("worse.sh:1: "), std::string::npos) << outcome;
  EXPECT_EQ(call({"check", good, good}).exit_code, 0);
}

TEST_P(Checks, CodeAndStdinAreLookedAtToo) {
  EXPECT_EQ(call({"check", "-l", "bash", "-c", "if true; then echo; fi"}).exit_code, 0);
  EXPECT_EQ(call({"check", "-l", "bash", "-c", "if true; then echo"}).exit_code, 1);
  EXPECT_EQ(Command(caller(), {"check", "-l", "python", "-"}).input("x = 1").finish().exit_code, 0);
  const Outcome outcome = Command(caller(), {"check", "-l", "python", "-"}).input("x =").finish();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err().find("main.py:1:4: invalid syntax"), std::string::npos) << outcome;
}

TEST_P(Checks, ADirectoryThatIsShownHasItsHeaders) {
  (void)file("answer.h", "#define ANSWER 42\n");
  const std::string program =
      file("uses.c", "#include \"answer.h\"\nint main(void) { return ANSWER; }");
  EXPECT_EQ(call({"check", "--workspace", directory().string(), program}).exit_code, 0);
  const Outcome alone = call({"check", program});
  EXPECT_EQ(alone.exit_code, 1) << alone;
  EXPECT_NE(alone.err().find("uses.c:1:10: answer.h"), std::string::npos) << alone;
}

TEST_P(Checks, WithoutNamespacesTheySayTheSame) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  for (const char* name : {"a.py", "b.js", "d.sh"}) {
    const Mistake& mistake =
        *std::find_if(std::begin(kMistakes), std::end(kMistakes),
                      [&](const Mistake& one) { return std::string_view(one.name) == name; });
    const Outcome outcome =
        call({"check", "--json", "--policy", "landlock-only", file(mistake.name, mistake.code)});
    EXPECT_EQ(outcome.record().text("error").find(mistake.place), 0U) << outcome;
  }
}

TEST_P(Checks, WhatTakesForeverIsEnded) {
  // A header that never ends.
  const std::string program = file("endless.c", "#include \"/dev/zero\"\nint main(void) {}\n");
  const Outcome outcome = call({"check", "--timeout", "2", "-m", "256m", "--json", program});
  EXPECT_EQ(outcome.record().status(), "syntax_error") << outcome;
  EXPECT_NE(outcome.record().text("error").find("ended by a limit"), std::string::npos) << outcome;
  EXPECT_LT(outcome.elapsed, std::chrono::seconds(30));
}

TEST_P(Checks, CodeThatAPolicyDeniesIsRefusedBeforeItRuns) {
  const std::string policy = file("p.toml",
                                  "schema = 1\n[deny_code]\nrm-root = { pattern = "
                                  "'rm\\s+-rf\\s+/(\\s|$)', why = \"it is the root\" }\n"
                                  "no-eval = { pattern = 'eval', languages = [\"py\"] }\n");
  const char* const code = "echo ran\ntrue || rm -rf /\n";
  const Outcome outcome = call({"run", "--json", "--policy", policy, "-l", "bash", "-c", code});
  const Record record = outcome.record();
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(record.status(), "invalid_request") << record;
  EXPECT_EQ(record.text("error_type"), "PermissionError");
  EXPECT_EQ(record.text("error"), "line 2 has what the policy denies as 'rm-root': it is the root");
  EXPECT_NE(record.text("hint").find("deny_code.rm-root is set in " + policy + ":3"),
            std::string::npos);
  EXPECT_EQ(record.out(), "");
  EXPECT_EQ(call({"run", "--policy", policy, "--", "rm", "-rf", "/"}).exit_code, 125);
  EXPECT_EQ(call({"run", "--policy", policy, "-l", "bash", "-c", "eval 'exit 3'"}).exit_code, 3);
  EXPECT_EQ(call({"run", "--policy", policy, "-l", "python", "-c", "eval('1')"}).exit_code, 125);
  EXPECT_EQ(call({"run", "-l", "bash", "-c", code}).out(), "ran\n")
      << "the control: off by default";
}

TEST_P(Checks, WrongUseIsTold) {
  EXPECT_EQ(call({"check"}).exit_code, 125);
  EXPECT_EQ(call({"check", "--", "ls"}).exit_code, 125);
  EXPECT_EQ(call({"run", "--validate", "--", "ls"}).exit_code, 125);
  EXPECT_EQ(call({"check", "-c", "1"}).exit_code, 125);
  EXPECT_EQ(call({"check", "--save-output", "x", "a.py"}).exit_code, 125);
  EXPECT_EQ(call({"check", file("unknown.xyz", "x")}).exit_code, 125);
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Languages as data: those of the binary, and those of files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

struct Greeting {
  const char* language;
  const char* code;  // prints "6 times 7 is 42" and ends with 3
  bool is_needed;    // this host must have it: packaging/deps, group test
};
// lint: table
constexpr Greeting kGreetings[] = {
    {"bash", "echo 6 times 7 is $((6 * 7)); exit 3", true},
    {"c", "#include <stdio.h>\nint main(void) { printf(\"6 times 7 is %d\\n\", 6 * 7); return 3; }",
     true},
    {"c++",
     "#include <iostream>\nint main() { std::cout << \"6 times 7 is \" << 6 * 7 << '\\n'; return "
     "3; }",
     true},
    {"go",
     "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(\"6 times 7 is\", 6*7); "
     "os.Exit(3) }",
     false},
    {"java",
     "class Main { public static void main(String[] a) { System.out.println(\"6 times 7 is \" + 6 "
     "* "
     "7); System.exit(3); } }",
     false},
    {"javascript", "console.log('6 times 7 is', 6 * 7); process.exit(3)", true},
    {"lua", "print('6 times 7 is ' .. 6 * 7) os.exit(3)", true},
    {"perl", "print '6 times 7 is ', 6 * 7, \"\\n\"; exit 3", true},
    {"php", "<?php echo '6 times 7 is ', 6 * 7, \"\\n\"; exit(3);", true},
    {"powershell", "Write-Output \"6 times 7 is $(6 * 7)\"; exit 3", false},
    {"python", "import sys; print('6 times 7 is', 6 * 7); sys.exit(3)", true},
    {"r", "cat('6 times 7 is', 6 * 7, '\\n', sep = ' '); quit(status = 3)", false},
    {"ruby", "puts \"6 times 7 is #{6 * 7}\"; exit 3", true},
    {"rust", "fn main() { println!(\"6 times 7 is {}\", 6 * 7); std::process::exit(3) }", false},
    {"typescript", "const x: number = 7; console.log('6 times 7 is', 6 * x); process.exit(3)",
     false},
};

constexpr std::string_view kAwk = R"(
schema       = 1
name         = "awk"
aliases      = ["mawk"]
suffixes     = [".awk"]
interpreters = ["awk"]
version      = []
snippet_name = "main.awk"
run          = ["{interpreter}", "-v", "memory={memory_mib}", "-f", "{source}"]

[check]
none = "a test says so"
)";

class Languages : public WithCaller {
 protected:
  Languages() : files_(caller()) {}

  // `wardcase ARGUMENTS` with caches and configuration of this test's own.
  [[nodiscard]] Outcome call(std::vector<std::string> arguments) const {
    return Command(caller(), std::move(arguments))
        .environment("XDG_CONFIG_HOME=" + files_.path().string())
        .environment("XDG_CACHE_HOME=" + files_.path().string())
        .finish();
  }
  void add(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(files_.path() / "wardcase/languages");
    (void)files_.write("wardcase/languages/" + name + ".toml", text);
  }
  // What `wardcase languages` tells of one; empty where it is not listed.
  [[nodiscard]] Record told(const std::string& language) const {
    const Record all = call({"languages", "--json"}).record();
    for (int i = 0; all.has("languages." + std::to_string(i)); ++i) {
      const std::string path = "languages." + std::to_string(i);
      if (all.text(path + ".name") == language) return Record::parse(all.json(path));
    }
    return {};
  }
  [[nodiscard]] std::string file(const std::string& name, std::string_view text) const {
    return files_.write(name, text);
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Languages);

TEST_P(Languages, EachThatThisHostHasRunsItsPrograms) {
  for (const Greeting& greeting : kGreetings) {
    const bool is_usable = told(greeting.language).is_true("usable");
    EXPECT_TRUE(is_usable || !greeting.is_needed) << told(greeting.language).serialized();
    if (!is_usable) continue;
    const Outcome outcome =
        call({"run", "--timeout", "60", "-m", "1g", "-l", greeting.language, "-c", greeting.code});
    EXPECT_EQ(outcome.exit_code, 3) << greeting.language << ": " << outcome;
    std::string out = outcome.out();
    std::erase(out, ' ');
    EXPECT_EQ(out, "6times7is42\n") << greeting.language;
  }
}

TEST_P(Languages, ThatAreUsableSayByWhat) {
  const Record python = told("python");
  EXPECT_EQ(python.text("interpreter"), "/usr/bin/python3") << python.serialized();
  EXPECT_EQ(python.text("version").find("Python 3."), 0U);
  EXPECT_TRUE(python.lists("aliases", "py"));
  EXPECT_EQ(python.text("origin"), "built in");
  EXPECT_TRUE(told("c").is_true("compiled"));
  EXPECT_FALSE(told("perl").is_true("checked"));
}

TEST_P(Languages, ThatAreNotUsableSayWhy) {
  add("fantasy", R"(
schema       = 1
name         = "fantasy"
interpreters = ["no-such-interpreter", "nor-this-one"]
package      = "fantasy-tools"
snippet_name = "main.fantasy"
run          = ["{interpreter}", "{source}"]
)");
  add("future", R"(
schema          = 1
name            = "future"
interpreters    = ["bash"]
minimum_version = "999"
snippet_name    = "main.future"
run             = ["{interpreter}", "{source}"]
)");
  const Record fantasy = told("fantasy");
  EXPECT_FALSE(fantasy.is_true("usable"));
  EXPECT_NE(fantasy.text("problem").find("no-such-interpreter, nor-this-one"), std::string::npos);
  EXPECT_NE(fantasy.text("fix").find("apt install fantasy-tools"), std::string::npos);
  const Record future = told("future");
  EXPECT_FALSE(future.is_true("usable"));
  EXPECT_NE(future.text("problem").find("too old"), std::string::npos) << future.serialized();
  EXPECT_EQ(call({"run", "-l", "fantasy", "-c", "x"}).exit_code, 127);
}

TEST_P(Languages, ANewOneIsOneFileAndNothingElse) {
  EXPECT_EQ(call({"run", "-l", "awk", "-c", "BEGIN { }"}).exit_code, 125);
  add("awk", kAwk);
  const char* const code = "BEGIN { print 6 * 7, memory; exit 3 }";
  for (const char* name : {"awk", "mawk"}) {
    const Outcome outcome = call({"run", "-m", "64m", "-l", name, "-c", code});
    EXPECT_EQ(outcome.out(), "42 64\n") << outcome;
    EXPECT_EQ(outcome.exit_code, 3);
  }
  const Outcome by_suffix = call({"run", "--json", file("sum.awk", code)});
  EXPECT_EQ(by_suffix.record().text("language"), "awk") << by_suffix;
  EXPECT_TRUE(told("awk").is_true("usable"));
  EXPECT_NE(told("awk").text("origin").find("wardcase/languages/awk.toml"), std::string::npos);
  const Outcome checked = call({"check", "-l", "awk", "-c", code});
  EXPECT_EQ(checked.exit_code, 125);
  EXPECT_NE(checked.err().find("a test says so"), std::string::npos) << checked;
}

TEST_P(Languages, WhatOneNeedsRaisesADefaultAndNothingThatWasAskedFor) {
  add("awk", std::string(kAwk) + "[needs]\nmemory = \"2GiB\"\npids = 8\n");
  const auto limits = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"run", "--json"});
    flags.insert(flags.end(), {"-l", "awk", "-c", "BEGIN { }"});
    const Record record = call(flags).record();
    return record.json("limits.memory_bytes") + " " + record.json("limits.pids");
  };
  EXPECT_EQ(limits({}), "2147483648 256");  // of the second there was more than it needs
  EXPECT_EQ(limits({"-m", "64m"}), "67108864 256");
}

TEST_P(Languages, AFileReplacesTheOneOfItsName) {
  add("lua", R"(
schema       = 1
name         = "lua"
suffixes     = [".lua"]
interpreters = ["bash"]
snippet_name = "main.lua"
run          = ["{interpreter}", "{source}"]
)");
  EXPECT_EQ(call({"run", "-l", "lua", "-c", "echo not lua"}).out(), "not lua\n");
}

TEST_P(Languages, AFileThatIsWrongIsToldWithItsPlaceAndNothingRuns) {
  add("awk", std::string(kAwk) + "suffix = []\n");
  const Outcome outcome = call({"run", "-l", "bash", "-c", "echo ran"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(outcome.out(), "");
  EXPECT_NE(outcome.err().find("languages/awk.toml:13:1: unknown key 'suffix'"), std::string::npos)
      << outcome;
}

TEST_P(Languages, AWordOfAnotherLanguageIsRefused) {
  std::string text(kAwk);
  text.replace(text.find("mawk"), 4, "py");
  add("awk", text);
  const Outcome outcome = call({"languages"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.err().find("'py' is the language 'python' already (built in)"),
            std::string::npos)
      << outcome;
}

TEST_P(Languages, AnUnknownOneIsRefusedWithThoseThereAre) {
  const Outcome outcome = call({"run", "-l", "cobol", "-c", "x"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.err().find("'cobol' is not known; it is one of bash, c++, c, go"),
            std::string::npos)
      << outcome;
}

TEST_P(Languages, APieceOfCodeThatIsAModuleIsOne) {
  const Outcome outcome =
      call({"run", "-l", "js", "-c", "import { sep } from 'path';\nconsole.log(sep);"});
  EXPECT_EQ(outcome.out(), "/\n") << outcome;
  const Outcome script = call(
      {"run", "-l", "js", "-c", "const { sep } = require('path'); console.log(sep, `\nimport x`)"});
  EXPECT_EQ(script.out(), "/ \nimport x\n") << script;
}

TEST_P(Languages, TakeCodeOfAnyLength) {
  const std::string long_code = "x = '" + std::string(1 << 20, 'a') + "'\nprint(len(x))\n";
  const Outcome outcome = Command(caller(), {"run", "-l", "python", "-"}).input(long_code).finish();
  EXPECT_EQ(outcome.out(), "1048576\n") << outcome.exit_code;
  EXPECT_EQ(call({"run", "-l", "python", "-c", ""}).exit_code, 0);
  EXPECT_EQ(call({"run", "-l", "bash", "-c", ""}).exit_code, 0);
  using namespace std::string_literals;
  const Outcome zero =
      Command(caller(), {"run", "-l", "python", "-"}).input("print(1)\nx = '\0'\n"s).finish();
  EXPECT_EQ(zero.exit_code, 1) << zero;
}

}  // namespace
}  // namespace wardcase::test

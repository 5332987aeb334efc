// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/hints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace wardcase::supervisor {
namespace {

// A host that has these files.
HintScene scene(std::string_view errors, std::set<std::string> files = {}) {
  HintScene made;
  made.errors = errors;
  made.program_directory = ".";
  made.is_python = true;
  made.may_use_network = true;
  made.exists = [files = std::move(files)](const std::string& path) {
    return files.contains(path);
  };
  return made;
}

TEST(Hints, NameTheMissingFileInTheWordsOfManyPrograms) {
  const std::string wanted = "data.csv is outside the box; add --workspace .";
  for (const char* errors : {
           "Traceback ...\nFileNotFoundError: [Errno 2] No such file or directory: 'data.csv'\n",
           "cat: data.csv: No such file or directory\n",
           "cat: /box/data.csv: No such file or directory\n",
           "ls: cannot access 'data.csv': No such file or directory\n",
           "Can't open data.csv: No such file or directory at x line 1.\n",
           "Error: ENOENT: no such file or directory, open 'data.csv'\n",
           "Error: ENOENT: no such file or directory, open '/box/data.csv'\n",
           "bash: line 1: ./data.csv: No such file or directory\n",
           "python3: can't open file '/box/data.csv': [Errno 2] No such file or directory",
       }) {
    EXPECT_EQ(find_hint(scene(errors, {"./data.csv"})), wanted) << errors;
    EXPECT_EQ(find_hint(scene(errors)), "") << errors;  // it is not on the host, either
  }
}

TEST(Hints, LookBesideTheFileAndThenInTheWorkingDirectory) {
  HintScene beside = scene("cat: a: No such file or directory", {"my dir/a"});
  beside.program_directory = "my dir";
  EXPECT_EQ(find_hint(beside), "a is outside the box; add --workspace 'my dir'");
  HintScene elsewhere = scene("cat: a: No such file or directory", {"./a"});
  elsewhere.program_directory = "sub";
  EXPECT_EQ(find_hint(elsewhere), "a is outside the box; add --workspace .");
}

TEST(Hints, ModulesBesideTheProgramAreFiles) {
  EXPECT_EQ(find_hint(scene("ModuleNotFoundError: No module named 'own.part'", {"./own"})),
            "own is outside the box; add --workspace .");
  EXPECT_EQ(find_hint(scene("ModuleNotFoundError: No module named 'own'", {"./own.py"})),
            "own.py is outside the box; add --workspace .");
  EXPECT_EQ(find_hint(scene("Error: Cannot find module './lib'\nRequire", {"./lib.js"})),
            "lib.js is outside the box; add --workspace .");
  EXPECT_EQ(find_hint(scene("Error: Cannot find module 'left'", {"./node_modules/left"})),
            "node_modules/left is outside the box; add --workspace .");
}

TEST(Hints, AWorkspaceIsNotAskedForTwice) {
  HintScene shown = scene("cat: a: No such file or directory", {"./a"});
  shown.has_own_files = true;
  EXPECT_EQ(find_hint(shown), "");
}

// A program must neither write to the terminal through us nor learn of the host at large.
TEST(Hints, OnlyPlainNamesBelowTheDirectoryAreLookedFor) {
  std::set<std::string> asked;
  for (const char* name :
       {"/etc/shadow", "../secret", "a/../../b", "\x1b[2Jx", "a\u009bb", "x\xffy", "", "."}) {
    HintScene odd = scene("");
    const std::string errors = std::string("cat: ") + name + ": No such file or directory\n" +
                               "No such file or directory: '" + name + "'";
    odd.errors = errors;
    odd.exists = [&](const std::string& path) {
      asked.insert(path);
      return true;
    };
    EXPECT_EQ(find_hint(odd), "") << name;
  }
  EXPECT_EQ(asked, std::set<std::string>());
  HintScene longest = scene("");
  const std::string errors = "cat: " + std::string(300, 'a') + ": No such file or directory";
  longest.errors = errors;
  longest.exists = [](const std::string&) { return true; };
  EXPECT_EQ(find_hint(longest), "");
}

TEST(Hints, AFloodOfNamesCostsFewLooks) {
  std::string errors;
  for (int i = 0; i < 5000; ++i)
    errors += "x" + std::to_string(i) + ": No such file or directory\n";
  int looks = 0;
  HintScene flood = scene(errors);
  flood.exists = [&](const std::string&) {
    ++looks;
    return false;
  };
  EXPECT_EQ(find_hint(flood), "");
  EXPECT_GT(looks, 0);
  EXPECT_LT(looks, 64);
}

TEST(Hints, AVirtualEnvironmentIsToldByItsInterpreter) {
  HintScene outside = scene("ModuleNotFoundError: No module named 'pandas'", {"/v/bin/python"});
  EXPECT_EQ(find_hint(outside), "");
  outside.virtual_environment = "/v";
  EXPECT_EQ(find_hint(outside),
            "your virtual environment is outside the box; add --interpreter /v/bin/python");
  outside.has_interpreter = true;
  EXPECT_EQ(find_hint(outside), "");
  outside.has_interpreter = false;
  outside.is_python = false;
  EXPECT_EQ(find_hint(outside), "");
}

TEST(Hints, ANetworkIsOfferedWhereItMayBeHad) {
  for (const char* errors : {"curl: (6) Could not resolve host: example.org",
                             "socket.gaierror: [Errno -3] Temporary failure in name resolution",
                             "OSError: [Errno 101] Network is unreachable",
                             "Error: getaddrinfo EAI_AGAIN example.org"}) {
    HintScene none = scene(errors);
    EXPECT_EQ(find_hint(none), "the box has no network; add --network host") << errors;
    none.may_use_network = false;
    EXPECT_EQ(find_hint(none), "");
  }
}

TEST(Hints, StdinComesLast) {
  HintScene waiting = scene("EOFError: EOF when reading a line");
  EXPECT_EQ(find_hint(waiting), "");
  waiting.has_waiting_stdin = true;
  EXPECT_EQ(find_hint(waiting), "stdin was not passed; add -i");
  waiting.errors = "Network is unreachable";
  EXPECT_EQ(find_hint(waiting), "the box has no network; add --network host");
}

}  // namespace
}  // namespace wardcase::supervisor

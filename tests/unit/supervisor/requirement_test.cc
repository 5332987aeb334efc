// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/requirement.h"

#include <gtest/gtest.h>

#include "supervisor/languages/requirement_files.h"

namespace wardcase::supervisor {
namespace {

std::string python(std::string_view text) {
  const auto parsed = parse_python_requirement(text);
  return parsed ? parsed->text : "refused: " + parsed.error().what;
}

std::string npm(std::string_view text) {
  const auto parsed = parse_npm_requirement(text);
  return parsed ? parsed->text : "refused: " + parsed.error().what;
}

bool is_refused(const std::string& text) { return text.starts_with("refused: requirement '"); }

TEST(Requirement, OfPythonHasOneSpelling) {
  EXPECT_EQ(python("pandas"), "pandas");
  EXPECT_EQ(python("  NumPy == 1.26 "), "numpy==1.26");
  EXPECT_EQ(python("zope.interface>=5, <7"), "zope-interface<7,>=5");
  EXPECT_EQ(python("A_-.b"), "a-b");
  EXPECT_EQ(python("requests[Socks, use_chardet] ~=2.1"), "requests[socks,use-chardet]~=2.1");
  EXPECT_EQ(python("x (>=1)"), "x>=1");
  EXPECT_EQ(python("x==1.0.*"), "x==1.0.*");
  EXPECT_EQ(python("tomli; python_version < \"3.11\""), "tomli; python_version < \"3.11\"");
}

TEST(Requirement, OfPythonMayBringItsHashes) {
  const std::string a(64, 'a');
  const std::string b(64, 'b');
  EXPECT_EQ(python("x==1 --hash=sha256:" + b + " --hash=sha256:" + a),
            "x==1 --hash=sha256:" + a + " --hash=sha256:" + b);
  EXPECT_TRUE(is_refused(python("x==1 --hash=md5:" + a)));
  EXPECT_TRUE(is_refused(python("x==1 --hash=sha256:" + a + "b")));
}

TEST(Requirement, OfPythonIsNoOptionPathOrUrl) {
  for (const std::string_view text : {"",
                                      " ",
                                      "-r other.txt",
                                      "--index-url=https://h/",
                                      "-e .",
                                      "./local",
                                      "/etc/passwd",
                                      "x @ https://h/x.whl",
                                      "x@file:///x",
                                      "git+https://h/x",
                                      "https://h/x.whl",
                                      "x==",
                                      "x=1",
                                      "x 1.0",
                                      "x,y",
                                      "x[",
                                      "x[a b]",
                                      "x;",
                                      "x; a\nb",
                                      "x\n--pre",
                                      "x --pre",
                                      "x==1 --global-option=y",
                                      "x\x01",
                                      "x\xc3\xa9",
                                      "_x",
                                      "x_",
                                      "x==1;os.system(`a`)"}) {
    EXPECT_TRUE(is_refused(python(text))) << text << ": " << python(text);
  }
  EXPECT_TRUE(is_refused(python(std::string(2000, 'x'))));
}

TEST(Requirement, OfNpmIsANameAndARange) {
  EXPECT_EQ(npm("left-pad"), "left-pad@latest");
  EXPECT_EQ(npm("left-pad@1.3.0"), "left-pad@1.3.0");
  EXPECT_EQ(npm("@scope/name"), "@scope/name@latest");
  EXPECT_EQ(npm("@scope/name@^2 || >=3 <5"), "@scope/name@^2 || >=3 <5");
  EXPECT_EQ(parse_npm_requirement("@scope/name@2")->name, "@scope/name");
}

TEST(Requirement, OfNpmIsNoOptionPathUrlOrAlias) {
  for (const std::string_view text : {"",
                                      "-g",
                                      "--registry=https://h",
                                      "./local",
                                      "../up",
                                      "/etc",
                                      "x@file:../up",
                                      "x@npm:other@1",
                                      "x@git+https://h/x",
                                      "x@https://h/x.tgz",
                                      "user/repo",
                                      "@scope",
                                      "@/x",
                                      "@a/b/c",
                                      "X",
                                      "x@",
                                      "x@-1",
                                      ".hidden",
                                      "_x",
                                      "x@a b;c",
                                      "x@\"",
                                      "x y"}) {
    EXPECT_TRUE(is_refused(npm(text))) << text << ": " << npm(text);
  }
}

TEST(Requirement, SettledOnesAreInOneOrderAndOnce) {
  const auto settled =
      settle_requirements({*parse_python_requirement("b"), *parse_python_requirement("a"),
                           *parse_python_requirement("B")});
  ASSERT_TRUE(settled);
  ASSERT_EQ(settled->size(), 2U);
  EXPECT_EQ((*settled)[0].text, "a");
  EXPECT_FALSE(settle_requirements(std::vector<Requirement>(kMostRequirements + 1)));
}

std::string listed(const sys::Result<std::vector<Requirement>>& requirements) {
  if (!requirements) return "refused: " + requirements.error().what;
  std::string text;
  for (const Requirement& each : *requirements) text += each.text + "|";
  return text;
}

TEST(RequirementFiles, ARequirementsFileHasLinesCommentsAndContinuations) {
  const std::string hash(64, 'c');
  EXPECT_EQ(listed(parse_requirements_txt("# head\n\na==1 # why\nb \\\n  >=2\r\nc==1 \\\n"
                                          "  --hash=sha256:" +
                                              hash + "\n",
                                          "r.txt")),
            "a==1|b>=2|c==1 --hash=sha256:" + hash + "|");
}

TEST(RequirementFiles, AnOptionInARequirementsFileIsRefusedByItsLine) {
  EXPECT_EQ(listed(parse_requirements_txt("a\n\n-r more.txt\n", "r.txt")),
            "refused: r.txt:3: requirement '-r more.txt': is an option; write a name, with "
            "versions if need be");
}

TEST(RequirementFiles, APackageFileGivesItsDependenciesAlone) {
  EXPECT_EQ(listed(parse_package_json(
                R"({"name":"p","scripts":{"install":"x"},"dependencies":{"a":"^1","@s/b":""},)"
                R"("optionalDependencies":{"c":"latest"},"devDependencies":{"d":"1"}})",
                "package.json")),
            "a@^1|@s/b@*|c@latest|");
  EXPECT_TRUE(listed(parse_package_json(R"({"dependencies":{"a":"file:../x"}})", "p.json"))
                  .starts_with("refused: p.json: dependencies: requirement 'a@file:../x'"));
  EXPECT_TRUE(listed(parse_package_json("[1", "p.json")).starts_with("refused: p.json: not a"));
  EXPECT_TRUE(listed(parse_package_json(std::string(100'000, '['), "p.json"))
                  .starts_with("refused: p.json: not a"));
}

TEST(RequirementFiles, AProgramsOwnHeadNamesItsDependencies) {
  EXPECT_EQ(listed(parse_script_block("#!/usr/bin/env python3\n# /// script\n# requires-python = "
                                      "\">=3.8\"\n# dependencies = [\n#   \"b\",\n#   'a==1',\n"
                                      "# ]\n# ///\nprint(1)\n",
                                      "main.py")),
            "b|a==1|");
  EXPECT_EQ(listed(parse_script_block("print('# /// script')\n", "main.py")), "");
  EXPECT_EQ(listed(parse_script_block("# /// script\n# dependencies = [\"a\"]\nprint()\n# ///\n",
                                      "main.py")),
            "");  // never ended: no block
  EXPECT_EQ(listed(parse_script_block("# /// other\n# x = 1\n# ///\n", "main.py")), "");
}

TEST(RequirementFiles, AHeadThatIsNotWellFormedIsAnError) {
  EXPECT_TRUE(listed(parse_script_block("# /// script\n# dependencies = [\n# ///\n", "main.py"))
                  .starts_with("refused: main.py: its head:"));
  EXPECT_TRUE(
      listed(parse_script_block("# /// script\n# dependencies = [\"-r x\"]\n# ///\n", "main.py"))
          .starts_with("refused: main.py: its head: requirement '-r x'"));
  EXPECT_TRUE(listed(parse_script_block("# /// script\n# ///\n\n# /// script\n# ///\n", "main.py"))
                  .starts_with("refused: main.py: its head: there is more than one"));
  EXPECT_TRUE(listed(parse_script_block("# /// script\n# dependencies = \"a\"\n# ///\n", "main.py"))
                  .starts_with("refused: main.py: its head: dependencies"));
}

}  // namespace
}  // namespace wardcase::supervisor

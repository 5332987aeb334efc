// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Requirements of JavaScript, by npm: from a registry on this host, and from the one that npm of
// this host is configured for.
#include <gtest/gtest.h>

#include "tests/support/installs.h"

namespace wardcase::test {
namespace {

class NpmInstalls : public WithInstalls {
 protected:
  void SetUp() override {
    WithCaller::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists("/usr/bin/npm")) GTEST_SKIP() << "needs npm";
    index_.begin();
    index_.add_npm("little", "module.exports = 'little'");
  }
  [[nodiscard]] std::string registry() const {
    return policy(policy_of_index("npm", "\"" + index_.npm_url() + "\""));
  }
  [[nodiscard]] Record script(const std::string& policy, const std::string& requirement,
                              const std::string& code) const {
    return command({"--json", "--policy", policy, "--requirement", requirement, "-l", "javascript",
                    "-c", code})
        .finish()
        .record();
  }
};
WARDCASE_AS_ROOT_AND_USER(NpmInstalls);

TEST_P(NpmInstalls, APackageIsInstalledOnceForRequireAndForImport) {
  const std::string code =
      "console.log(require('little'), require.resolve('little'));"
      "import('little').then(it => console.log(it.default));";
  const Record first = script(registry(), "little@1.0.0", code);
  EXPECT_EQ(first.out(), "little /node_modules/little/index.js\nlittle\n")
      << first << first.json("install");
  EXPECT_FALSE(first.is_true("install.cached"));
  index_.end();
  const Record second = script(registry(), "little@1.0.0", code);
  EXPECT_EQ(second.out(), first.out()) << second;
  EXPECT_TRUE(second.is_true("install.cached"));
}

TEST_P(NpmInstalls, APackageFileNamesWhatIsNeeded) {
  const std::string file =
      files_.write("package.json",
                   R"({"scripts": {"install": "touch /tmp/x"}, "dependencies": {"little": "^1"}})");
  const Record record = command({"--json", "--policy", registry(), "--requirements", file, "-l",
                                 "javascript", "-c", "console.log(require('little'))"})
                            .finish()
                            .record();
  EXPECT_EQ(record.out(), "little\n") << record << record.json("install");
}

TEST_P(NpmInstalls, AnUnknownNameIsToldInNpmsWordsAndNothingRuns) {
  const Record record = script(registry(), "nonexistent-pkg-zz", "console.log('ran')");
  EXPECT_EQ(record.status(), "install_failed") << record;
  EXPECT_EQ(record.out(), "");
  EXPECT_NE(record.text("install.stderr").find("404"), std::string::npos) << record.json("install");
  EXPECT_NE(record.text("error").find("nonexistent-pkg-zz"), std::string::npos) << record;
  EXPECT_EQ(environments(), 0);
}

TEST_P(NpmInstalls, WithoutARegistryTheKeyIsNamed) {
  const Record record = script(policy("schema = 1\n"), "little", "console.log('ran')");
  EXPECT_EQ(record.status(), "install_failed") << record;
  EXPECT_NE(record.text("error").find("network.install.npm"), std::string::npos) << record;
}

// The one that npm of this host uses, by names and with encryption.
TEST_P(NpmInstalls, TheHostsOwnRegistryIsReached) {
  const Outcome asked =
      Command::other(caller(), {"/usr/bin/npm", "config", "get", "registry"}).finish();
  ASSERT_EQ(asked.exit_code, 0) << asked;
  const std::string url = asked.out().substr(0, asked.out().find('\n'));
  const Outcome there =
      Command::other(caller(), {"/usr/bin/npm", "view", "left-pad", "version"}).finish();
  if (there.exit_code != 0) GTEST_SKIP() << "npm of this host reaches no registry";
  const Record record = script(policy(policy_of_index("npm", "\"" + url + "\"")), "left-pad@1.3.0",
                               "console.log(require('left-pad')('x', 3))");
  EXPECT_EQ(record.out(), "  x\n") << record << record.json("install");
}

}  // namespace
}  // namespace wardcase::test

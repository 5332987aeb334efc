// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include "policies/policy_merge.h"
#include "policies/policy_reader.h"
#include "policies/policy_text.h"
#include "policies/web_address.h"

namespace wardcase::policies {
namespace {

sys::Result<Policy> read(std::string_view text) {
  return read_policy("schema = 1\n" + std::string(text), "f.toml", FileKind::configuration);
}

std::string complaint(std::string_view text) {
  const auto policy = read(text);
  return policy ? "" : policy.error().what;
}

constexpr std::string_view kWhole =
    "[network.install]\npip = [\"https://pypi.org/simple\", \"https://files.pythonhosted.org\"]\n"
    "npm = [\"http://127.0.0.1:4873\"]\n[install]\nfind_links = [\"/srv/wheels\"]\n"
    "timeout = \"90s\"\nmemory = \"3GiB\"\n";

TEST(InstallKeys, AreReadAndWrittenBack) {
  const auto policy = read(kWhole);
  ASSERT_TRUE(policy) << policy.error().message();
  EXPECT_EQ(policy->install.urls_of(Installer::pip)->value.size(), 2U);
  EXPECT_EQ(policy->install.urls_of(Installer::npm)->origin, "f.toml:4");
  EXPECT_EQ(policy->install.find_links->value.front(), "/srv/wheels");
  const std::string text = to_toml(*policy, Origins::left_out);
  const auto again = read_policy(text, "again.toml", FileKind::configuration);
  ASSERT_TRUE(again) << again.error().message() << text;
  EXPECT_EQ(to_toml(*again, Origins::left_out), text);
}

TEST(InstallKeys, GiveTheLimitsOfInstallationsUnderTheSameMaxima) {
  const auto policy = read(std::string(kWhole) + "[limits.max]\nmemory = \"2GiB\"\n");
  ASSERT_TRUE(policy) << policy.error().message();
  Limits limits = install_limits_of(lay_over(built_in_policy(), *policy));
  ASSERT_TRUE(limits.resolve(2, /*captured=*/true));
  EXPECT_EQ(limits.get(LimitId::timeout), 90'000U);
  EXPECT_EQ(limits.get(LimitId::memory), 2ULL << 30);
  Limits built_in = install_limits_of(built_in_policy());
  EXPECT_EQ(built_in.get(LimitId::timeout), 300'000U);
}

TEST(InstallKeys, AWrongUrlIsNamedWithWhatToWrite) {
  EXPECT_EQ(
      complaint("[network.install]\npip = [\"http://pypi.org/simple\"]"),
      "f.toml:3:8: network.install.pip[0]: 'http://pypi.org/simple': write https: http only for "
      "this host itself (127.0.0.1)");
  for (const std::string_view url :
       {"pypi.org", "ftp://h/", "https://u:p@h/", "https://h/?a", "https://h/#a", "https://h:0/",
        "https:///x", "https://h h/", "https://h:99999/", "https://[::1/"}) {
    EXPECT_NE(complaint("[network.install]\npip = [\"" + std::string(url) + "\"]"), "") << url;
  }
  EXPECT_NE(complaint("[install]\nfind_links = [\"wheels\"]"), "");
  EXPECT_NE(complaint("[install]\ntimout = \"1s\"").find("timeout"), std::string::npos);
  EXPECT_NE(complaint("[network.install]\ncargo = []"), "");
  EXPECT_NE(complaint("[network]\ninstall = [\"https://h\"]"), "");
}

TEST(InstallKeys, AProjectMayOnlyTightenThem) {
  const auto with_project = [](std::string_view text) {
    PolicyLayers layers;
    layers.policy = built_in_policy();
    layers.project = *read(text);
    return combine(layers);
  };
  EXPECT_FALSE(with_project("[network.install]\npip = [\"https://h/\"]"));
  EXPECT_FALSE(with_project("[install]\nfind_links = [\"/home\"]"));
  EXPECT_FALSE(with_project("[install]\ntimeout = \"301s\""));
  EXPECT_TRUE(with_project("[install]\ntimeout = \"10s\""));
}

TEST(WebAddress, SaysWhomToTalkTo) {
  EXPECT_EQ(*parse_web_address("https://Pypi.org/simple"), (WebAddress{"pypi.org", 443, true}));
  EXPECT_EQ(*parse_web_address("http://127.0.0.1:8000/"), (WebAddress{"127.0.0.1", 8000, false}));
  EXPECT_EQ(*parse_web_address("http://[::1]:80"), (WebAddress{"::1", 80, false}));
  EXPECT_FALSE(parse_web_address("http://127.0.0.1.evil.example/"));
}

}  // namespace
}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "sandbox/seccomp_filter.h"
#include "tests/support/workplace.h"

namespace wardcase::supervisor {
namespace {

namespace fs = std::filesystem;

class Config : public testing::Test {
 protected:
  Config()
      : scratch_(test::Caller::user),
        places{path("etc"), path("home"), path("project/.wardcase.toml")} {}

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << "schema = 1\n" << text;
  }
  [[nodiscard]] std::optional<std::uint64_t> timeout(std::optional<std::string> asked = {}) const {
    const auto loaded = load_configuration(places, asked);
    EXPECT_TRUE(loaded) << loaded.error().message();
    return loaded ? policies::limits_of(loaded->policy).get(policies::LimitId::timeout)
                  : std::nullopt;
  }
  [[nodiscard]] std::string refusal(std::optional<std::string> asked = {}) const {
    const auto loaded = load_configuration(places, asked);
    return loaded ? "" : loaded.error().message();
  }

 private:
  test::ScratchDirectory scratch_;

 protected:
  ConfigPlaces places;
};

TEST_F(Config, WithoutFilesHoldsWhatIsBuiltIn) {
  EXPECT_EQ(timeout(), 60'000U);
  EXPECT_EQ(timeout("default"), 60'000U);
}

TEST_F(Config, FilesCountInTheOrderOfPrecedence) {
  write("etc/wardcase.toml", "[limits]\ntimeout = 50");
  EXPECT_EQ(timeout(), 50'000U);
  write("home/wardcase.toml", "[limits]\ntimeout = 40");
  EXPECT_EQ(timeout(), 40'000U);
  EXPECT_EQ(timeout("strict"), 30'000U);
  write("project/.wardcase.toml", "[limits]\ntimeout = 20");
  EXPECT_EQ(timeout(), 20'000U);
  EXPECT_EQ(timeout("strict"), 20'000U);
}

TEST_F(Config, AConfigurationChoosesThePolicyThatIsUsedWithoutAName) {
  write("etc/wardcase.toml", "policy = \"strict\"");
  EXPECT_EQ(timeout(), 30'000U);
  EXPECT_EQ(timeout("default"), 60'000U);
  write("home/wardcase.toml", "policy = \"multiuser\"");
  EXPECT_EQ(timeout(), 60'000U);
}

TEST_F(Config, PoliciesAreFoundByNameAndByPath) {
  write("etc/policies/ours.toml", "extends = \"strict\"\n[limits]\ntimeout = 9");
  write("home/policies/ours.toml", "[limits]\ntimeout = 8");
  write("home/policies/mine.toml", "[limits]\ntimeout = 7");
  write("home/policies/strict.toml", "[limits]\ntimeout = 500");
  EXPECT_EQ(timeout("ours"), 9000U);  // the administrator's comes first
  EXPECT_EQ(timeout("mine"), 7000U);
  EXPECT_EQ(timeout("strict"), 30'000U);  // always the shipped one
  EXPECT_EQ(timeout(path("home/policies/ours.toml")), 8000U);
  EXPECT_NE(refusal("nobody").find("policy 'nobody': there is none"), std::string::npos);
  EXPECT_NE(refusal("groups"), "");
}

TEST_F(Config, ExtendsGoesOneLevel) {
  write("home/policies/one.toml", "extends = \"strict\"");
  write("home/policies/two.toml", "extends = \"one\"");
  EXPECT_EQ(timeout("one"), 30'000U);
  EXPECT_NE(refusal("two").find("one level is all"), std::string::npos);
}

TEST_F(Config, WhatIsThereAndCantBeUsedIsAnError) {
  write("home/wardcase.toml", "[limits]\ntimeout = \"soon\"");
  EXPECT_NE(refusal().find("home/wardcase.toml:3:"), std::string::npos);
  write("home/wardcase.toml", "[limits]\ntimeout = 5\ngrace = 9");
  EXPECT_NE(refusal().find("limits.grace"), std::string::npos);
  fs::remove(path("home/wardcase.toml"));
  fs::create_directories(path("project"));
  ASSERT_EQ(::mkfifo(path("project/.wardcase.toml").c_str(), 0600), 0);
  EXPECT_NE(refusal().find("not a regular file"), std::string::npos);
}

TEST_F(Config, AProjectCantLoosen) {
  write("project/.wardcase.toml", "[limits]\ntimeout = 61");
  EXPECT_NE(refusal().find("may only tighten"), std::string::npos);
}

TEST_F(Config, AllShippedPoliciesHaveFiltersThatCompile) {
  write("home/policies/all.toml",
        "extends = \"base\"\n[syscalls]\nallow = [\"@basic-io\", \"@files\", \"@memory\", "
        "\"@threads\", \"@processes\", \"@signals\", \"@time\", \"@network\", \"@identity\"]");
  for (const char* name : {"base", "default", "strict", "landlock-only", "multiuser", "all"}) {
    const auto loaded = load_policy(places, name);
    ASSERT_TRUE(loaded) << loaded.error().message();
    for (const bool refuse : {false, true}) {
      const auto rules =
          policies::default_syscall_policy({.refuse_setid_modes = refuse, .pin_affinity = refuse});
      const auto filter = sandbox::compile_filter(policies::change(rules, loaded->syscalls));
      EXPECT_TRUE(filter) << name << ": " << filter.error().message();
    }
  }
}

TEST_F(Config, ListsEachNameOnce) {
  write("etc/policies/ours.toml", "description = \"of all\"");
  write("home/policies/ours.toml", "");
  write("home/policies/broken.toml", "x = 1");
  const auto listed = list_policies(places);
  ASSERT_EQ(listed.size(), 7U);
  EXPECT_EQ(listed[5].description, "of all");
  EXPECT_EQ(listed[6].description.find("can't be used: "), 0U);
}

}  // namespace
}  // namespace wardcase::supervisor

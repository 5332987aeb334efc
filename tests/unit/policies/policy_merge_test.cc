// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_merge.h"

#include <gtest/gtest.h>

#include "policies/policy_check.h"
#include "policies/policy_reader.h"

namespace wardcase::policies {
namespace {

Policy layer(std::string_view file, std::string_view text,
             FileKind kind = FileKind::configuration) {
  auto policy = read_policy("schema = 1\n" + std::string(text), file, kind);
  EXPECT_TRUE(policy) << policy.error().message();
  return policy.value_or(Policy());
}

Limits combined(const PolicyLayers& layers) {
  const auto policy = combine(layers);
  EXPECT_TRUE(policy) << policy.error().message();
  Limits limits = policy ? limits_of(*policy) : Limits();
  EXPECT_TRUE(limits.resolve(8, /*captured=*/true));
  return limits;
}

std::string refusal(const PolicyLayers& layers) {
  const auto policy = combine(layers);
  return policy ? "" : policy.error().message();
}

std::string contradictions(std::string_view text) {
  const auto checked =
      check_policy(lay_over(built_in_policy(), layer("p", text, FileKind::policy)));
  return checked ? "" : checked.error().message();
}

TEST(PolicyLayers, TheStrongerFileCounts) {
  PolicyLayers layers;
  layers.system = layer("/etc", "[limits]\ntimeout = 5\npids = 10\nmemory = \"2m\"");
  layers.user = layer("~", "[limits]\ntimeout = 6\npids = 11");
  layers.policy = layer("strict", "[limits]\ntimeout = 7");
  const Limits limits = combined(layers);
  EXPECT_EQ(limits.get(LimitId::timeout), 7000U);
  EXPECT_EQ(limits.get(LimitId::pids), 11U);
  EXPECT_EQ(limits.get(LimitId::memory), 2U << 20);
}

TEST(PolicyLayers, TheBuiltInPolicyOverridesNoFile) {
  PolicyLayers layers;
  layers.user = layer("~", "[limits]\ntimeout = 6");
  layers.policy = built_in_policy();
  EXPECT_EQ(combined(layers).get(LimitId::timeout), 6000U);
}

TEST(PolicyLayers, MaximaLowerDefaultsAndRefuseFlagsByTheirOrigin) {
  PolicyLayers layers;
  layers.system = layer("/etc/wardcase/wardcase.toml", "[limits.max]\ntimeout = \"30s\"\ncpus = 1");
  const auto policy = combine(layers);
  ASSERT_TRUE(policy);
  Limits limits = limits_of(*policy);
  const auto asked =
      parse_limit(limit_row(LimitId::timeout), "40s", limits.maximum(LimitId::timeout));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message(),
            "--timeout 40s: maximum is 30s (limits.max.timeout, /etc/wardcase/wardcase.toml:3); "
            "raise it there");
  ASSERT_TRUE(limits.resolve(8, true));
  EXPECT_EQ(limits.get(LimitId::timeout), 30'000U);
  EXPECT_EQ(limits.get(LimitId::cpus), 1000U);
}

TEST(PolicyLayers, NoneIsAboveEachMaximumOfAFile) {
  PolicyLayers layers;
  layers.system = layer("/etc", "[limits.max]\ncpu_time = \"5s\"\nidle_timeout = \"9s\"");
  const auto policy = combine(layers);
  ASSERT_TRUE(policy);
  Limits limits = limits_of(*policy);
  EXPECT_FALSE(
      parse_limit(limit_row(LimitId::cpu_time), "none", limits.maximum(LimitId::cpu_time)));
  ASSERT_TRUE(limits.resolve(8, true));
  EXPECT_EQ(limits.get(LimitId::cpu_time), 5000U);
  EXPECT_EQ(limits.get(LimitId::idle_timeout), 9000U);
}

TEST(PolicyLayers, TheUserRaisesBuiltInMaximaButNotTheAdministrators) {
  PolicyLayers layers;
  layers.user = layer("~", "[limits.max]\ntimeout = \"1h\"\n[limits]\ntimeout = \"30m\"");
  EXPECT_EQ(combined(layers).get(LimitId::timeout), 1'800'000U);
  layers.system = layer("/etc", "[limits.max]\ntimeout = \"300s\"");
  EXPECT_EQ(refusal(layers),
            "~:3: limits.max.timeout 3600s is above 300s, which /etc:3 sets and no other file can "
            "raise");
  layers.user = {};
  layers.policy = layer("p", "[limits.max]\ntimeout = \"none\"", FileKind::policy);
  EXPECT_NE(refusal(layers), "");
}

TEST(PolicyLayers, AProjectMayOnlyTighten) {
  PolicyLayers layers;
  layers.project =
      layer(".wardcase.toml",
            "execute_writable = false\noom = \"end_run\"\nrequire = [\"landlock\"]\n"
            "[limits]\ntimeout = 5\ncpu_time = 3\ncpus = 1\n[limits.max]\npids = 9\n"
            "[network]\nallowed = [\"none\"]\n[syscalls]\ndeny = [\"ptrace\"]\nopenable = []");
  const Limits limits = combined(layers);
  EXPECT_EQ(limits.get(LimitId::timeout), 5000U);
  EXPECT_EQ(limits.get(LimitId::pids), 9U);
}

TEST(PolicyLayers, EachLooserValueOfAProjectIsRefusedByName) {
  const auto refused = [](std::string_view text) {
    PolicyLayers layers;
    layers.project = layer(".wardcase.toml", text);
    return refusal(layers);
  };
  EXPECT_EQ(refused("[limits]\ntimeout = \"120s\""),
            ".wardcase.toml:3: limits.timeout 120s is looser than 60s (built in); a project's file "
            "may only tighten");
  for (const char* text :
       {"[limits]\ncpus = 5", "[limits]\noutput = \"none\"", "[limits.max]\npids = 5000",
        "[limits.max]\ntimeout = \"none\"",
        "[network]\ndefault = \"host\"\n[dangerous]\n"
        "host_network = \"r\"",
        "policy = \"default\"", "confinement = \"landlock\"", "execute_writable = true",
        "oom = \"continue\"", "[environment]\nA = \"b\"",
        "[[mount]]\nsource = \"/a\"\ntarget = \"/b\"",
        "[syscalls]\nopenable = [\"@other-processes\", \"mount\"]",
        "[syscalls]\nallow = [\"read\"]", "[syscalls]\ndefault = \"allow\"",
        "[dangerous.syscalls]\nptrace = \"r\""}) {
    EXPECT_NE(refused(text).find("may only tighten"), std::string::npos) << text;
  }
  PolicyLayers layers;
  layers.policy = layer("p", "[network]\nallowed = [\"none\"]", FileKind::policy);
  layers.project = layer(".wardcase.toml", "[network]\nallowed = [\"none\", \"host\"]");
  EXPECT_NE(refusal(layers).find("network.allowed"), std::string::npos);
}

TEST(PolicyCheck, TellsAllContradictionsTogether) {
  const std::string found = contradictions(
      "[limits]\ntimeout = 1\ngrace = 2\nidle_timeout = 3\nfile_size = \"2g\"\npids = 9\n"
      "[limits.max]\npids = 8");
  for (const char* part :
       {"p:4: limits.grace 2s is above limits.timeout 1s (p:3)", "limits.idle_timeout 3s",
        "limits.file_size 2 GiB is above limits.disk 256 MiB (built in)",
        "p:7: limits.pids 9 is above its maximum 8 (limits.max.pids, p:9)"}) {
    EXPECT_NE(found.find(part), std::string::npos) << part << " in " << found;
  }
}

TEST(PolicyCheck, ABuiltInValueIsNeverAtFault) {
  EXPECT_EQ(contradictions("[limits]\ntimeout = 1"), "");
  EXPECT_EQ(contradictions("[limits]\ndisk = \"1m\""), "");
  EXPECT_EQ(contradictions("[limits.max]\ntimeout = \"5s\""), "");
}

TEST(PolicyCheck, WeakeningNeedsAReason) {
  EXPECT_NE(contradictions("[network]\ndefault = \"host\"").find("[dangerous] host_network"),
            std::string::npos);
  EXPECT_EQ(contradictions("[network]\ndefault = \"host\"\n[dangerous]\nhost_network = \"r\""), "");
  EXPECT_NE(contradictions("confinement = \"landlock\"").find("no_namespaces"), std::string::npos);
  EXPECT_NE(contradictions("[syscalls]\nallow = [\"ptrace\"]").find("[dangerous.syscalls] ptrace"),
            std::string::npos);
  EXPECT_EQ(
      contradictions("[syscalls]\nallow = [\"ptrace\"]\n[dangerous.syscalls]\nptrace = \"r\""), "");
  EXPECT_NE(contradictions("[dangerous.syscalls]\nprlimit64 = \"r\""), "");
  EXPECT_NE(contradictions("[syscalls]\nopenable = [\"read\"]"), "");
  EXPECT_EQ(contradictions("[syscalls]\nopenable = [\"read\"]\ndefault = \"kill\""), "");
}

TEST(PolicyCheck, RefusesWhatSwitchesOffWhatItRequires) {
  EXPECT_NE(contradictions("require = [\"network_namespace\"]\n[network]\ndefault = \"host\"\n"
                           "[dangerous]\nhost_network = \"r\"")
                .find("switches it off"),
            std::string::npos);
  EXPECT_NE(contradictions("confinement = \"landlock\"\nrequire = [\"pid_namespace\"]\n"
                           "[dangerous]\nno_namespaces = \"r\"")
                .find("switches it off"),
            std::string::npos);
  EXPECT_NE(contradictions("[network]\nallowed = [\"host\"]"), "");
  EXPECT_NE(contradictions("[syscalls]\nallow = [\"read\"]\ndeny = [\"read\"]"), "");
}

TEST(PolicyCheck, RefusesWritableMountsOfTheSystem) {
  const auto mount = [](const std::string& source, const std::string& mode) {
    return contradictions("[[mount]]\nsource = \"" + source + "\"\ntarget = \"/x\"\nmode = \"" +
                          mode + "\"");
  };
  for (const char* source : {"/", "/usr", "/etc/x", "/usr/lib/", "/var/lib/x", "/root"}) {
    EXPECT_NE(mount(source, "rw").find("directory of the system"), std::string::npos) << source;
    EXPECT_EQ(mount(source, "ro"), "") << source;
  }
  EXPECT_EQ(mount("/srv/data", "rw"), "");
  EXPECT_EQ(mount("/usrlocal", "rw"), "");
}

}  // namespace
}  // namespace wardcase::policies

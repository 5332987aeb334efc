// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/policy_reader.h"

#include <gtest/gtest.h>

#include "policies/policy_check.h"
#include "policies/policy_merge.h"
#include "policies/policy_text.h"
#include "policies/shipped_policies.h"

namespace wardcase::policies {
namespace {

std::string with_schema(std::string_view text) { return "schema = 1\n" + std::string(text); }

std::string refusal(std::string_view text, FileKind kind = FileKind::policy) {
  const auto policy = read_policy(with_schema(text), "p.toml", kind);
  return policy ? "" : policy.error().message();
}

Policy read(std::string_view text, FileKind kind = FileKind::policy) {
  auto policy = read_policy(with_schema(text), "p.toml", kind);
  EXPECT_TRUE(policy) << policy.error().message();
  return policy.value_or(Policy());
}

const auto& limit(const Policy& policy, LimitId id) {
  return policy.limits[static_cast<std::size_t>(id)];
}

TEST(PolicyReader, RefusesATableWithoutANameThatCanBeOne) {
  for (const char* text : {"[$]", "[=]", "[ \x01]", "[[,]]", "[a.$]"}) {
    EXPECT_EQ(refusal(text).rfind("p.toml:2:", 0), 0U) << text << ": " << refusal(text);
  }
}

TEST(PolicyReader, LettersOutsideOfQuotesAreRefusedByTheirPlace) {
  EXPECT_EQ(refusal("name = \"\u00e9\\\"\"\n[é]"),
            "p.toml:3:2: not an ASCII letter; put it in quotes");
  EXPECT_EQ(refusal("name = 'ü' ö"), "p.toml:2:12: not an ASCII letter; put it in quotes");
  const Policy policy = read("# é\nname = \"é\"\ndescription = \"\"\"é\n\\\"\"\"\"\" # é\n");
  EXPECT_EQ(policy.name->value, "é");
  EXPECT_EQ(policy.description->value, "é\n\"\"");
  EXPECT_EQ(read("name = '''é\\''' # ''' é").name->value, "é\\");
}

TEST(PolicyReader, ReadsEachKeyAndRemembersItsLine) {
  const Policy policy = read(R"(extends = "base"
description = "d"
confinement = "namespaces"
oom = "continue"
execute_writable = false
require = ["landlock"]
[limits]
timeout = "10s"
pids = 64
cpus = 0.5
cpu_time = "none"
[limits.max]
memory = "2GiB"
timeout = "none"
[network]
default = "none"
allowed = ["none", "host"]
[[mount]]
source = "/data"
target = "/in"
mode = "rw"
[syscalls]
default = "errno:EPERM"
allow = ["@files", "read"]
openable = ["@other-processes", "unshare"]
deny = ["ptrace", { call = "clone3", as = "errno:ENOSYS", why = "w" }]
[environment]
LANG = "C"
[dangerous]
host_network = "r"
[dangerous.syscalls]
unshare = "u"
)");
  EXPECT_EQ(policy.extends->value, "base");
  EXPECT_EQ(policy.extends->origin, "p.toml:2");
  EXPECT_FALSE(policy.execute_writable->value);
  EXPECT_EQ(policy.oom->value, OomAnswer::go_on);
  EXPECT_EQ(policy.require.at(0).value, "landlock");
  EXPECT_EQ(limit(policy, LimitId::timeout)->value, 10'000U);
  EXPECT_EQ(limit(policy, LimitId::timeout)->origin, "p.toml:9");
  EXPECT_EQ(limit(policy, LimitId::pids)->value, 64U);
  EXPECT_EQ(limit(policy, LimitId::cpus)->value, 500U);
  EXPECT_EQ(limit(policy, LimitId::cpu_time)->value, std::nullopt);
  EXPECT_EQ(policy.maxima[static_cast<std::size_t>(LimitId::memory)]->value, 2ULL << 30);
  EXPECT_EQ(policy.maxima[static_cast<std::size_t>(LimitId::timeout)]->value, std::nullopt);
  EXPECT_EQ(policy.allowed_networks->value.size(), 2U);
  EXPECT_EQ(policy.mounts.at(0).value, (Mount{"/data", "/in", MountMode::read_write}));
  EXPECT_EQ(policy.standard_answer->value, Answer::eperm);
  EXPECT_EQ(policy.allowed_calls.size(), 2U);
  EXPECT_EQ(policy.denied_calls.at(1).value.answer, Answer::enosys);
  EXPECT_EQ(policy.openable_calls->value,
            (std::vector<std::string>{"@other-processes", "unshare"}));
  EXPECT_EQ(policy.environment.at(0).value.value, "C");
  EXPECT_TRUE(has_danger(policy, "host_network"));
  EXPECT_TRUE(has_danger(policy, "syscalls.unshare"));
}

TEST(PolicyReader, NamesAnUnknownKeyItsPlaceAndTheNearest) {
  EXPECT_EQ(refusal("[limits]\nmemry = \"1g\""),
            "p.toml:3:1: unknown key 'memry' in [limits]; did you mean 'memory'?");
  EXPECT_EQ(refusal("limit = 1"), "p.toml:2:1: unknown key 'limit'; did you mean 'limits'?");
  EXPECT_EQ(refusal("zebra = 1"), "p.toml:2:1: unknown key 'zebra'");
  EXPECT_NE(refusal("[syscalls]\nalow = []").find("'alow' in [syscalls]"), std::string::npos);
  EXPECT_NE(refusal("[limits.max]\nmax = 1").find("in [limits.max]"), std::string::npos);
}

TEST(PolicyReader, NamesKeyValueAndWhatIsAccepted) {
  EXPECT_EQ(refusal("[limits]\ntimeout = \"10x\""),
            "p.toml:3:11: limits.timeout: '10x': not a time; write 500ms, 10s or 2m");
  EXPECT_NE(refusal("[limits]\nmemory = true").find("limits.memory: true: not a limit"),
            std::string::npos);
  EXPECT_NE(refusal("[limits]\nmemory = \"none\"").find("can't be left out"), std::string::npos);
  EXPECT_NE(refusal("[limits]\nmemory = \"4k\"").find("minimum is 1 MiB"), std::string::npos);
  EXPECT_NE(refusal("[limits]\npids = -1").find("limits.pids: '-1'"), std::string::npos);
  EXPECT_NE(refusal("[network]\ndefault = \"all\"").find("write \"none\" or \"host\""),
            std::string::npos);
  EXPECT_NE(refusal("require = [\"landlok\"]").find("did you mean 'landlock'?"), std::string::npos);
  EXPECT_NE(refusal("execute_writable = 1").find("not true or false"), std::string::npos);
  EXPECT_NE(refusal("oom = \"ignore\"").find("write \"end_run\" or \"continue\""),
            std::string::npos);
  EXPECT_NE(refusal("limits = 1").find("write [limits]"), std::string::npos);
  EXPECT_NE(refusal("[[mount]]\nsource = \"data\"").find("absolute"), std::string::npos);
  EXPECT_NE(refusal("[[mount]]\nsource = \"/d\"").find("needs source and target"),
            std::string::npos);
  EXPECT_NE(refusal("[syscalls]\ndeny = [{ call = \"x\", as = \"allow\" }]").find("not an answer"),
            std::string::npos);
  EXPECT_NE(refusal("[dangerous]\nhost_network = true").find("a reason"), std::string::npos);
  EXPECT_NE(refusal("[dangerous]\nhost_network = \"\"").find("a reason"), std::string::npos);
}

TEST(PolicyReader, NeedsAFormatThatItKnows) {
  EXPECT_EQ(read_policy("", "p.toml", FileKind::policy).error().message(),
            "p.toml: no schema; write schema = 1 at its top");
  EXPECT_NE(read_policy("schema = 2", "p.toml", FileKind::policy).error().message().find("schema"),
            std::string::npos);
  EXPECT_EQ(
      read_policy("schema = ", "p.toml", FileKind::policy).error().message().find("p.toml:1:"), 0U);
}

TEST(PolicyReader, KeepsPoliciesAndConfigurationsApart) {
  EXPECT_EQ(read("policy = \"strict\"", FileKind::configuration).chosen->value, "strict");
  EXPECT_NE(refusal("policy = \"strict\"", FileKind::policy), "");
  EXPECT_NE(refusal("extends = \"base\"", FileKind::configuration), "");
}

const ShippedText& shipped(std::string_view name) {
  for (const ShippedText& text : shipped_texts()) {
    if (text.name == name) return text;
  }
  return shipped_texts().front();
}

Policy read_shipped(std::string_view name) {
  auto policy = read_policy(shipped(name).text, name, FileKind::policy);
  EXPECT_TRUE(policy) << policy.error().message();
  return policy.value_or(Policy());
}

TEST(ShippedPolicies, AreAllThereAndHaveNoContradictions) {
  for (const char* name : {"base", "default", "strict", "landlock-only", "multiuser"}) {
    ASSERT_EQ(shipped(name).name, name);
    const auto checked = check_policy(lay_over(built_in_policy(), read_shipped(name)));
    EXPECT_TRUE(checked) << checked.error().message();
    EXPECT_TRUE(read_shipped(name).description) << name;
  }
}

// A run without a policy reads no file: what the file says must be what is compiled in.
TEST(ShippedPolicies, DefaultIsExactlyWhatIsBuiltIn) {
  const Policy file = read_shipped("default");
  Policy built_in = built_in_policy();
  for (std::size_t i = 0; i < kLimitCount; ++i) {
    const auto value = [](const auto& setting) { return setting ? setting->value : std::nullopt; };
    EXPECT_EQ(value(file.limits[i]), value(built_in.limits[i])) << limit_table()[i].key;
    EXPECT_EQ(value(file.maxima[i]), value(built_in.maxima[i])) << limit_table()[i].key;
  }
  Policy laid = lay_over(built_in, file);
  laid.description.reset();
  EXPECT_EQ(to_toml(laid, Origins::left_out), to_toml(built_in, Origins::left_out));
}

TEST(ShippedGroups, AreReadAndHaveNamesOfTheirOwn) {
  const auto groups = read_syscall_groups(shipped(kGroupsName).text, "groups.toml");
  ASSERT_TRUE(groups) << groups.error().message();
  EXPECT_GE(groups->size(), 8U);
  for (const SyscallGroup& group : built_in_groups()) {
    EXPECT_FALSE(groups->contains(group.name)) << group.name;
  }
}

TEST(PolicyText, IsReadBackToTheSame) {
  Policy policy = lay_over(built_in_policy(), read(R"(description = "a \"b\" \\"
require = ["landlock"]
[limits]
memory = "1536MiB"
disk = 65537
timeout = "1.5s"
cpu_time = "none"
[limits.max]
memory = "none"
[[mount]]
source = "/a"
target = "/b"
[syscalls]
allow = ["read"]
deny = ["@mount"]
[environment]
A = "x\ny"
[dangerous]
host_network = "r"
[dangerous.syscalls]
unshare = "u"
)"));
  const std::string text = to_toml(policy, Origins::left_out);
  const auto again = read_policy(text, "again", FileKind::policy);
  ASSERT_TRUE(again) << again.error().message() << text;
  EXPECT_EQ(to_toml(*again, Origins::left_out), text);
  EXPECT_NE(to_toml(policy, Origins::shown).find("# p.toml:5"), std::string::npos);
  EXPECT_NE(to_toml(policy, Origins::shown).find("# built in"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::policies

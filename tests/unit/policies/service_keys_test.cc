// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include "policies/policy_merge.h"
#include "policies/policy_reader.h"
#include "policies/policy_text.h"
#include "policies/service_settings.h"

namespace wardcase::policies {
namespace {

sys::Result<Policy> read(std::string_view text, FileKind kind = FileKind::configuration) {
  return read_policy("schema = 1\n" + std::string(text), "f.toml", kind);
}

std::string complaint(std::string_view text) {
  const auto policy = read(text);
  return policy ? "" : policy.error().what;
}

constexpr std::string_view kWhole =
    "[server]\nlisten = \"unix:/run/x.sock\"\ntokens = \"/etc/t\"\nhosts = [\"Box.Example\"]\n"
    "max_running = 3\nmemory_total = \"8GiB\"\nkeep_time = \"90m\"\n"
    "[[access]]\ngroup = \"ops\"\nrole = \"admin\"\n[[access]]\nuser = \"ann\"\nrole = \"run\"\n"
    "[quota.default]\nrunning = 2\nmemory = \"1GiB\"\n[quota.\"@ops\"]\nrunning = \"none\"\n"
    "[quota.\"token:ci\"]\ncpu_seconds_per_hour = 60\n"
    "[[host_root]]\npath = \"/srv/\"\nmode = \"rw\"\n";

TEST(ServiceKeys, AreReadAndWrittenBack) {
  const auto policy = read(kWhole);
  ASSERT_TRUE(policy) << policy.error().message();
  const ServiceSettings& service = policy->service;
  EXPECT_EQ(service.option(ServerOption::memory_total)->value, 8ULL << 30);
  EXPECT_EQ(service.option(ServerOption::keep_time)->value, 5'400'000U);
  EXPECT_EQ(service.hosts->value, std::vector<std::string>{"box.example"});
  EXPECT_EQ(service.access.front().value.role, Role::admin);
  EXPECT_EQ(service.quotas.size(), 3U);
  EXPECT_EQ(policy->host_roots.front().value.path, "/srv");
  const std::string text = to_toml(*policy, Origins::left_out);
  const auto again = read_policy(text, "again.toml", FileKind::configuration);
  ASSERT_TRUE(again) << again.error().message() << text;
  EXPECT_EQ(to_toml(*again, Origins::left_out), text);
}

TEST(ServiceKeys, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(complaint("[server]\nqueue_mx = 1"),
            "f.toml:3:1: unknown key 'queue_mx' in [server]; did you mean 'queue_max'?");
  EXPECT_EQ(complaint("[server]\nqueue_max = \"1s\""),
            "f.toml:3:13: server.queue_max: '1s': not a whole number");
  for (const std::string_view text :
       {"[server]\ntokens = \"tokens\"", "[server]\nhosts = [\"http://a\"]",
        "[server]\nmax_body = true", "[server]\nmax_running = 0", "[[access]]\nrole = \"run\"",
        "[[access]]\nuser = \"a\"", "[[access]]\nuser = \"a\"\ngroup = \"b\"\nrole = \"run\"",
        "[[access]]\nuser = \"a\"\nrole = \"root\"", "[quota]\ndefault = 3",
        "[quota.default]\nrunings = 3", "[quota.\"a b\"]\nrunning = 1", "[quota.\"@\"]\nqueued = 1",
        "[quota.\"token:\"]\nqueued = 1", "[[host_root]]\nmode = \"ro\"",
        "[[host_root]]\npath = \"/\"", "[[host_root]]\npath = \"/a\"\nmode = \"x\""}) {
    EXPECT_NE(complaint(text), "") << text;
  }
}

TEST(ServiceKeys, AreAConfigurationsAloneAndNoProjects) {
  EXPECT_FALSE(read("[server]\nqueue_max = 1\n", FileKind::policy));
  EXPECT_TRUE(read("[[host_root]]\npath = \"/srv\"\n", FileKind::policy));
  for (const std::string_view text :
       {"[server]\nqueue_max = 1\n", "[quota.default]\nrunning = 1\n",
        "[[access]]\nuser = \"a\"\nrole = \"admin\"\n", "[[host_root]]\npath = \"/srv\"\n"}) {
    PolicyLayers layers;
    layers.project = *read(text);
    EXPECT_FALSE(combine(layers)) << text;
  }
}

TEST(ServiceKeys, OfTwoFilesTheStrongerCountsKeyByKey) {
  const auto under = read(
      "[server]\nqueue_max = 1\nmax_running = 1\n[quota.a]\nrunning = 1\n"
      "queued = 1\n[[access]]\nuser = \"a\"\nrole = \"run\"\n");
  const auto over = read(
      "[server]\nqueue_max = 2\n[quota.a]\nqueued = 2\n"
      "[[access]]\nuser = \"b\"\nrole = \"run\"\n");
  const ServiceSettings both =
      lay_over(lay_over(built_in_service(), under->service), over->service);
  EXPECT_EQ(both.option(ServerOption::queue_max)->value, 2U);
  EXPECT_EQ(both.option(ServerOption::max_running)->value, 1U);
  EXPECT_EQ(both.option(ServerOption::keep_runs)->value, 1000U);
  EXPECT_EQ(both.access.size(), 2U);
  EXPECT_EQ(both.quotas.front().values[0]->value, 1U);
  EXPECT_EQ(both.quotas.front().values[1]->value, 2U);
}

}  // namespace
}  // namespace wardcase::policies

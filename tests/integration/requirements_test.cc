// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

// Each feature that may be replaced is taken away once. A policy that requires it then
// runs nothing and says why; one that does not lists it as degraded. The control is the
// same requirement on the host as it is: never a weaker run in silence.
namespace wardcase::test {
namespace {

using supervisor::HostOverrides;
using supervisor::RunSpec;
using supervisor::RunStatus;

struct Case {
  std::string required;
  std::string degraded;
  HostOverrides host;
};

std::vector<Case> cases() {
  HostOverrides no_groups;
  no_groups.mountinfo = "";
  HostOverrides no_landlock;
  no_landlock.landlock_abi = 0;
  HostOverrides no_ids;
  no_ids.can_choose_ids = false;
  return {{"memory_cgroup", "memory_cgroup", no_groups},
          {"pids_cgroup", "pids_cgroup", no_groups},
          {"cpu_cgroup", "cpu_cgroup", no_groups},
          {"landlock", "landlock", no_landlock},
          {"own_host_uid", "shared_host_uid", no_ids},
          {"no_supplementary_groups", "supplementary_groups", no_ids}};
}

RunSpec echo() {
  RunSpec spec = spec_of({"/bin/echo", "ran"});
  // A part of a processor: nothing but a control group can hold that.
  spec.limits.set_default(policies::LimitId::cpus, 500);
  return spec;
}

bool is_degraded(const supervisor::RunRecord& record, const std::string& feature) {
  return std::ranges::any_of(record.isolation.degraded, [&](const supervisor::Degraded& entry) {
    return entry.feature == feature && !entry.because.empty();
  });
}

std::string judge_demanded(const Case& one) {
  RunSpec spec = echo();
  spec.policy = "p";
  spec.require = {"seccomp", one.required};
  const InProcessRun told = run_in_process(std::move(spec), one.host);
  if (told.record.status != RunStatus::setup_failed || !told.output.empty()) {
    return one.required + ": ran all the same\n";
  }
  const std::string begin = "policy 'p' requires what this run can't have: " + one.required + ": ";
  const bool says =
      told.record.error.find(begin) == 0 && told.record.error.find("; fix: ") != std::string::npos;
  return says ? "" : one.required + ": says '" + told.record.error + "'\n";
}

std::string judge_undemanded(const Case& one) {
  const InProcessRun told = run_in_process(echo(), one.host);
  if (told.output != "ran\n") return one.required + ": did not run: " + told.record.error + "\n";
  return is_degraded(told.record, one.degraded) ? "" : one.degraded + ": missing in silence\n";
}

class Requirements : public WithCaller {};

TEST_P(Requirements, WhatIsMissingEndsARunThatRequiresItAndIsListedInOthers) {
  const std::string found = check_as(caller(), [] {
    std::string all;
    for (const Case& one : cases()) all += judge_demanded(one) + judge_undemanded(one);
    return all;
  });
  EXPECT_EQ(found, "");
}

TEST_P(Requirements, RootHasAllOfThemAndAnOrdinaryUserDoesNot) {
  if (is_root() && !has_landlock()) GTEST_SKIP() << "needs Landlock";
  const std::string found = check_as(caller(), []() -> std::string {
    RunSpec spec = echo();
    for (const Case& one : cases()) spec.require.push_back(one.required);
    const InProcessRun told = run_in_process(std::move(spec));
    return told.output == "ran\n" ? "" : told.record.error;
  });
  EXPECT_EQ(found.empty(), is_root()) << found;
}

TEST_P(Requirements, EachStandardFeatureIsInForceOrTheRunFails) {
  const std::string found = check_as(caller(), []() -> std::string {
    RunSpec spec = echo();
    const auto standard = policies::standard_require(spec.confinement);
    spec.require.assign(standard.begin(), standard.end());
    const InProcessRun told = run_in_process(std::move(spec));
    return told.output == "ran\n" ? "" : told.record.error;
  });
  EXPECT_EQ(found, "");
}

TEST_P(Requirements, ANetworkOfItsOwnCantBeRequiredOfTheHosts) {
  const std::string found = check_as(caller(), []() -> std::string {
    RunSpec spec = echo();
    spec.require = {"network_namespace"};
    spec.network = policies::Network::host;
    const InProcessRun told = run_in_process(std::move(spec));
    if (told.record.status != RunStatus::setup_failed) return "ran";
    return told.record.error.find("network_namespace") != std::string::npos ? ""
                                                                            : told.record.error;
  });
  EXPECT_EQ(found, "");
}

WARDCASE_AS_ROOT_AND_USER(Requirements);

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The policy for hosts that give no namespaces: what such a box is and is not, and that it says so.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "sandbox/landlock.h"
#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using supervisor::HostOverrides;

class WithoutNamespaces : public WithCaller {
 protected:
  void SetUp() override {
    WithCaller::SetUp();
    if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  }
  static Outcome bare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--policy", "landlock-only"});
    return run(std::move(arguments));
  }
  static void expect_refused(std::vector<std::string> arguments, std::string_view because) {
    const Outcome outcome = bare(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find(because), std::string::npos) << outcome;
  }
};
WARDCASE_AS_ROOT_AND_USER(WithoutNamespaces);

TEST_P(WithoutNamespaces, ProgramsRunInAPrivateDirectoryThatIsGoneAfterwards) {
  const Outcome outcome =
      bare({"-l", "python", "-c",
            "import os, tempfile\n"
            "print(os.getcwd() == os.path.dirname(__file__))\n"
            "open('made', 'w').write('x'); open(os.path.expanduser('~/made'), 'w')\n"
            "print(tempfile.mkstemp()[1].startswith(os.environ['TMPDIR']))\n"
            "print(os.path.dirname(os.getcwd()))"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome;
  ASSERT_EQ(outcome.out().find("True\nTrue\n/"), 0U) << outcome;
  std::string directory = outcome.out().substr(10);
  directory.pop_back();
  EXPECT_NE(directory.find("/wardcase-sup_"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_P(WithoutNamespaces, WorkspacesKeepTheirPlaceAndBoxMeansThem) {
  const ScratchDirectory work(caller());
  (void)work.write("p.py", "print(open('data').read())");
  (void)work.write("data", "here");
  ASSERT_EQ(::chmod(work.path().c_str(), 0777), 0);
  const std::string path = work.path().string();
  EXPECT_EQ(bare({"--workspace", path, path + "/p.py"}).out(), "here\n");
  EXPECT_EQ(bare({"--workspace", path + ":rw", "--", "touch", "/box/new"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(work.path() / "new"));
  EXPECT_EQ(bare({"-v", path + ":" + path, "--", "cat", path + "/data"}).out(), "here");
}

TEST_P(WithoutNamespaces, TheRecordListsEachNamespaceThatIsMissing) {
  const Record record = record_of({"--policy", "landlock-only", "--", "true"});
  EXPECT_EQ(record.status(), "exited") << record;
  for (const char* feature : {"user_namespace", "mount_namespace", "pid_namespace", "ipc_namespace",
                              "uts_namespace", "cgroup_namespace", "network_namespace"}) {
    EXPECT_TRUE(record.is_degraded(feature)) << feature;
    EXPECT_FALSE(record.lists("isolation.effective", feature)) << feature;
  }
  for (const char* feature : {"landlock", "seccomp", "no_new_privs", "capabilities"}) {
    EXPECT_TRUE(record.lists("isolation.effective", feature)) << feature;
  }
  EXPECT_EQ(record.lists("isolation.effective", "own_host_uid"), is_root());
  EXPECT_EQ(record.text("enforced_by.disk"), "watcher");
}

TEST_P(WithoutNamespaces, APolicyThatRequiresOneOfThemIsAContradiction) {
  const ScratchDirectory files(caller());
  const std::string policy = files.write(
      "p.toml", "schema = 1\nextends = \"landlock-only\"\nrequire = [\"pid_namespace\"]\n");
  const Outcome outcome = run({"--policy", policy, "--", "true"});
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_NE(outcome.err().find("pid_namespace"), std::string::npos) << outcome;
}

TEST_P(WithoutNamespaces, WhatTakesAMountNamespaceIsRefusedByName) {
  expect_refused({"-v", "/usr/share:/elsewhere", "--", "true"},
                 "without a mount namespace '/usr/share' can't be shown at '/elsewhere'; write -v "
                 "/usr/share:/usr/share");
  expect_refused({"--network", "host", "--", "true"}, "network");
}

TEST_P(WithoutNamespaces, ADryRunShowsWhatIsMissing) {
  const Outcome dry = bare({"--dry-run", "--", "true"});
  EXPECT_EQ(dry.exit_code, 0) << dry;
  EXPECT_NE(dry.out().find("pid_namespace"), std::string::npos) << dry;
}

TEST_P(WithoutNamespaces, LimitsAndEndsAreToldAsEver) {
  EXPECT_EQ(bare({"--timeout", "300ms", "--grace", "100ms", "--", "sleep", "20"}).exit_code, 124);
  EXPECT_EQ(bare({"--", "sh", "-c", "kill -9 $$"}).exit_code, 137);
  EXPECT_EQ(bare({"--", "/no/such/program"}).exit_code, 127);
  EXPECT_EQ(bare({"-m", "64m", "-l", "python", "-c", "x = b'x' * (200 << 20)"}).exit_code, 137);
  EXPECT_EQ(bare({"--", "sh", "-c", "exit 42"}).exit_code, 42);
}

// As users in containers often are.
TEST_P(WithoutNamespaces, AUserWithoutAHomeIsToldThatNobodySweepsForHim) {
  const Record record =
      Command::other(caller(), {"/usr/bin/env", "HOME=/",
                                "XDG_RUNTIME_DIR=", "XDG_STATE_HOME=", Workplace::get().command(),
                                "run", "--json", "--policy", "landlock-only", "--", "echo", "ran"})
          .finish()
          .record();
  EXPECT_EQ(record.out(), "ran\n") << record;
  EXPECT_EQ(record.is_degraded("sweep"), !is_root()) << record;
}

// As on the kernels before 6.12: the tree is walked, and the record tells what Landlock lacks.
TEST_P(WithoutNamespaces, AnOlderLandlockEndsTheTreeByAWalkAndSaysWhatItLacks) {
  const std::string found = check_as(caller(), [] {
    supervisor::RunSpec spec = spec_of(
        {"/bin/bash", "-c",
         "for i in 1 2 3 4 5; do setsid bash -c 'sleep 30 & sleep 30; :' & done; sleep 0.2; "
         "echo left"});
    spec.confinement = policies::Confinement::landlock;
    HostOverrides old;
    old.landlock_abi = sandbox::kLowestLandlockAbi;
    const InProcessRun told = run_in_process(std::move(spec), old);
    const auto lacks = [&](std::string_view feature) {
      return std::ranges::any_of(told.record.isolation.degraded,
                                 [&](const auto& entry) { return entry.feature == feature; });
    };
    std::string wrong = told.record.error;
    if (told.output != "left\n") wrong += "; output: " + told.output;
    if (told.record.leftover_processes < 5) wrong += "; nobody was left";
    if (!list_descendants().empty()) wrong += "; still there: " + list_descendants();
    if (!lacks("landlock_network")) wrong += "; landlock_network is not told";
    if (!lacks("signal_scope")) wrong += "; signal_scope is not told";
    return wrong;
  });
  EXPECT_EQ(found, "");
}

}  // namespace
}  // namespace wardcase::test

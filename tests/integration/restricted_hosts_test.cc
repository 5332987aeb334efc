// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Hosts that forbid what boxes are made of, as containers do by default: nothing runs, the
// sentence says who forbids what and what to grant, and the weaker policy is there to be asked for.
#include <gtest/gtest.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using Words = std::vector<std::string>;

// The caller stands inside; who makes the surroundings is root.
class RestrictedHosts : public WithCaller {
 protected:
  void SetUp() override {
    WithCaller::SetUp();
    skip_unless_can_be(Caller::root);
  }

  // `engine`: as which container it is marked, by an assignment.
  static Command inside(Words around, const Words& wardcase,
                        const std::string& engine = "container=lxc") {
    const Workplace& place = Workplace::get();
    Words words = {place.program("like_container")};
    words.insert(words.end(), around.begin(), around.end());
    words.insert(words.end(), {std::to_string(uid_of(caller())), "/usr/bin/env", engine,
                               "HOME=" + place.home(caller()).string(),
                               "XDG_RUNTIME_DIR=" + place.runtime(caller()).string(),
                               "TMPDIR=" + place.temporary(caller()).string(), place.command()});
    words.insert(words.end(), wardcase.begin(), wardcase.end());
    return Command::other(Caller::root, std::move(words));
  }

  static void expect_refused(const Words& around, const Words& says,
                             const std::string& engine = "container=lxc") {
    const Outcome outcome = inside(around, {"run", "--json", "--", "true"}, engine).finish();
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    const Record record = outcome.record();
    EXPECT_EQ(record.status(), "setup_failed") << record;
    for (const std::string& words : says) {
      EXPECT_NE(record.text("error").find(words), std::string::npos) << words << ": " << record;
    }
  }

  // What doctor says of it: the row fails, for this cause and with this fix.
  static void expect_told(const Words& around, const std::string& row, const std::string& cause,
                          const std::string& fix) {
    const Outcome outcome = inside(around, {"doctor"}).finish();
    EXPECT_EQ(outcome.exit_code, 1) << outcome;
    const std::size_t at = outcome.out().find("FAIL  " + row);
    ASSERT_NE(at, std::string::npos) << outcome;
    const std::string lines = outcome.out().substr(at, 1500);
    EXPECT_NE(lines.find(cause), std::string::npos) << lines;
    EXPECT_NE(lines.find(fix), std::string::npos) << lines;
  }
};
WARDCASE_AS_ROOT_AND_USER(RestrictedHosts);

const Words kDefaultContainer = {"--filter", "--mask-proc", "--read-only-cgroups"};

TEST_P(RestrictedHosts, ADefaultContainerIsToldWhatToGrant) {
  expect_refused(kDefaultContainer,
                 {"system call filter around us", "seccomp=wardcase-seccomp.json",
                  "systempaths=unconfined", "apparmor=unconfined", "--cgroupns=private",
                  "unmask=ALL", "hostUsers: false", "procMount: Unmasked"});
  expect_refused(kDefaultContainer, {"podman run", "unmask=ALL"}, "container=podman");
  expect_refused(kDefaultContainer, {"docker run", "systempaths=unconfined"}, "container=docker");
  expect_refused(kDefaultContainer, {"in the pod hostUsers: false"},
                 "KUBERNETES_SERVICE_HOST=10.0.0.1");
  expect_told(kDefaultContainer, "namespaces", "system call filter",
              "seccomp=wardcase-seccomp.json");
}

TEST_P(RestrictedHosts, InADefaultContainerTheWeakerPolicyRuns) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  expect_refused(kDefaultContainer, {"--policy landlock-only"});
  const Record record =
      inside(kDefaultContainer, {"run", "--json", "--policy", "landlock-only", "-l", "python", "-c",
                                 "import subprocess\n"
                                 "subprocess.run(['echo', '42'])\n"
                                 "open('/etc/wardcase-test', 'w')"})
          .finish()
          .record();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "42\n") << record;
  EXPECT_NE(record.err().find("PermissionError"), std::string::npos) << record;
  EXPECT_TRUE(record.is_degraded("mount_namespace"));
  EXPECT_TRUE(record.is_degraded("memory_cgroup"));
  EXPECT_EQ(record.text("enforced_by.memory"), "watcher");
}

TEST_P(RestrictedHosts, APartlyCoveredProcIsToldWithItsGrants) {
  expect_refused({"--mask-proc"}, {"mount /proc", "parts of /proc are covered",
                                   "systempaths=unconfined", "unmask=ALL", "procMount: Unmasked"});
  expect_told({"--mask-proc"}, "proc", "covered", "unmask=ALL");
}

TEST_P(RestrictedHosts, ALimitOfNoUserNamespacesIsToldWithTheSetting) {
  const Words around = {"--no-user-namespaces"};
  expect_refused(around, {"no user namespaces", "sysctl -w user.max_user_namespaces="});
  expect_told(around, "namespaces", "user.max_user_namespaces=0", "sysctl -w");
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The units of each user's own, in the guests alone, and what all of them say, wherever
// systemd-analyze is.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/http_client.h"
#include "tests/support/units.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

class UserUnits : public testing::Test {
 protected:
  static constexpr const char* kRuntime = "/run/user/1000";

  static Outcome as_user(std::vector<std::string> argv) {
    std::vector<std::string> whole = {"/usr/bin/setpriv",
                                      "--reuid",
                                      "1000",
                                      "--regid",
                                      "1000",
                                      "--clear-groups",
                                      "/usr/bin/env",
                                      "HOME=/home/tester",
                                      std::string("XDG_RUNTIME_DIR=") + kRuntime};
    whole.insert(whole.end(), argv.begin(), argv.end());
    return call(whole);
  }
  static Outcome manage(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/systemctl", "--user"});
    return as_user(words);
  }

  void SetUp() override {
    if (!is_in_guest() || !fs::exists(std::string(kRuntime) + "/systemd/private")) {
      GTEST_SKIP() << "installs units for user 1000: in a guest alone";
    }
    install_command();
    install_units(fs::path(kUnits) / "user", "/run/systemd/user", kUnitsBin);
    const Outcome reloaded = manage({"daemon-reload"});
    EXPECT_EQ(reloaded.exit_code, 0) << reloaded;
    const Outcome started = manage({"start", "wardcase.socket"});
    EXPECT_EQ(started.exit_code, 0) << started;
  }
  void TearDown() override {
    if (!is_in_guest()) return;
    (void)manage({"stop", "wardcase.socket", "wardcase.service"});
    remove_units(fs::path(kUnits) / "user", "/run/systemd/user");
    (void)manage({"daemon-reload"});
    remove_command();
  }
};

TEST_F(UserUnits, GiveEachUserAServiceOfHisOwn) {
  const std::string path = std::string(kRuntime) + "/wardcase/api.sock";
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(info.st_uid, 1000U);
  const HttpAnswer answer = HttpClient::to_unix(path).post(
      "/v1/runs", R"({"argv": ["echo", "mine"], "limits": {"memory_bytes": 67108864}})");
  EXPECT_EQ(answer.status, 200) << answer;
  EXPECT_EQ(answer.json().out(), "mine\n");
  EXPECT_EQ(answer.json().text("enforced_by.memory"), "cgroup2");
  EXPECT_EQ(manage({"is-active", "wardcase.service"}).out(), "active\n");
}

class UnitFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/systemd-analyze")) GTEST_SKIP() << "there is no systemd-analyze";
    fs::create_directories(directory_.path() / "bin");
    for (const char* name : {"wardcase", "wardcase-server"}) {
      (void)directory_.write(std::string("bin/") + name, "#!/bin/sh\n", 0755);
    }
    install_units(kUnits, directory_.path(), (directory_.path() / "bin").string());
  }
  ScratchDirectory directory_{Caller::user};
};

TEST_F(UnitFiles, HoldNothingThatSystemdDoesNotKnow) {
  std::vector<std::string> argv = {"/usr/bin/systemd-analyze", "verify", "--man=no"};
  for (const auto& entry : fs::directory_iterator(directory_.path())) {
    if (entry.is_regular_file()) argv.push_back(entry.path().string());
  }
  const Outcome outcome = call(argv);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.err(), "");
}

TEST_F(UnitFiles, ExposeTheServiceNoMoreThanIsSaid) {
  const std::string unit = (directory_.path() / "wardcased.service").string();
  const Outcome strict =
      call({"/usr/bin/systemd-analyze", "security", "--offline=yes", "--threshold=40", unit});
  EXPECT_EQ(strict.exit_code, 0) << strict;
  // The control: the judge does judge.
  EXPECT_NE(call({"/usr/bin/systemd-analyze", "security", "--offline=yes", "--threshold=20", unit})
                .exit_code,
            0);
}

}  // namespace
}  // namespace wardcase::test

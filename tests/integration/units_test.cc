// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The units of the service under a systemd that runs them: in the guests alone, since they
// are installed for it.
#include "tests/support/units.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/http_client.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kSystemUnits = "/run/systemd/system";
constexpr const char* kSocket = "/run/wardcase/api.sock";
constexpr const char* kService = "wardcased.service";

std::string property(const std::string& name) { return unit_property(kService, name); }

class Units : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!is_in_guest()) return;
    install_command();
    install_units(kUnits, kSystemUnits, kUnitsBin);
    expect_success(
        {"/usr/bin/systemd-sysusers", fs::absolute("packaging/sysusers.d/wardcase.conf")});
    expect_success({"/usr/bin/systemctl", "daemon-reload"});
  }

  static void TearDownTestSuite() {
    if (!is_in_guest()) return;
    remove_units(kUnits, kSystemUnits);
    remove_command();
    expect_success({"/usr/bin/systemctl", "daemon-reload"});
  }

  void SetUp() override {
    if (!is_in_guest()) GTEST_SKIP() << "installs units: in a guest alone";
    had_directory_ = fs::exists("/run/wardcase");
    expect_success({"/usr/bin/systemd-tmpfiles", "--create",
                    fs::absolute("packaging/tmpfiles.d/wardcase.conf").string()});
    systemctl({"start", "wardcased.socket"});
  }

  void TearDown() override {
    if (!is_in_guest()) return;
    if (HasFailure()) {
      std::cout
          << call({"/usr/bin/journalctl", "-b", "--no-pager", "-n", "40", "-u", kService}).out();
    }
    systemctl({"stop", "wardcased.socket", kService});
    (void)call({"/usr/bin/systemctl", "reset-failed", "wardcased.socket", kService});
    if (had_directory_) return;
    for (const char* below : {"/locks", "/ids", ""}) {
      (void)::rmdir((std::string("/run/wardcase") + below).c_str());  // only when empty
    }
  }

  [[nodiscard]] static HttpClient client() { return HttpClient::to_unix(kSocket); }
  [[nodiscard]] static Record run(const std::string& body) {
    const HttpAnswer answer = client().post("/v1/runs", body);
    EXPECT_EQ(answer.status, 200) << answer;
    return answer.json();
  }
  [[nodiscard]] static pid_t main_pid() { return std::atoi(property("MainPID").c_str()); }

  bool had_directory_ = false;
};
[[maybe_unused]] const bool kLeavesNothing = install_leak_check();

// Whose command line has the word, in the whole guest.
bool is_running(const std::string& word) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    if (read_file(entry.path() / "cmdline").find(word) != std::string::npos) return true;
  }
  return false;
}

TEST_F(Units, AFirstConnectionStartsTheServiceAndIsServed) {
  ASSERT_EQ(property("ActiveState"), "inactive");
  // Of all the processors there are none would have to be held back from.
  const Record record = run(R"({"argv": ["cat", "/proc/self/cgroup"], "limits": {"cpus": 0.5}})");
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.out(), "0::/\n");
  for (const char* limit : {"memory", "pids", "cpus"}) {
    EXPECT_EQ(record.text(std::string("enforced_by.") + limit), "cgroup2") << limit;
  }
  EXPECT_EQ(property("ActiveState"), "active");
  EXPECT_NE(property("StatusText").find(" running"), std::string::npos) << property("StatusText");
  const std::string status = read_file("/proc/" + std::to_string(main_pid()) + "/status");
  EXPECT_NE(status.find("CapBnd:\t0000000000000000"), std::string::npos) << status;
  EXPECT_EQ(status.find("Uid:\t0"), std::string::npos) << status;
}

TEST_F(Units, TheServiceLeavesItsGroupBeforeAnythingRuns) {
  EXPECT_EQ(client().get("/livez").status, 200);
  const std::string group = read_file("/proc/" + std::to_string(main_pid()) + "/cgroup");
  EXPECT_NE(group.find("/wardcased.service/supervisor\n"), std::string::npos) << group;
  EXPECT_EQ(client().get("/readyz").status, 200);
}

// Whoever may use the service: what one has run is not another's by id.
TEST_F(Units, BoxesHaveHostIdsOfTheRangeThatTheServiceWasGiven) {
  const auto read_map = [] {
    return run(R"({"argv": ["cat", "/proc/self/uid_map"], "policy": "multiuser"})");
  };
  const Record refused = read_map();
  EXPECT_EQ(refused.status(), "setup_failed") << refused;
  EXPECT_NE(refused.text("error").find("own_host_uid"), std::string::npos) << refused;
  systemctl({"stop", kService});
  expect_success({"/usr/sbin/usermod", "--add-subuids", "300000-300999", "--add-subgids",
                  "300000-300999", "wardcase"});
  const Record record = read_map();
  EXPECT_EQ(record.status(), "exited") << record;
  std::istringstream fields(record.out());
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
  fields >> inside >> outside;
  EXPECT_TRUE(outside >= 300'000 && outside < 301'000) << record;
  EXPECT_FALSE(record.is_degraded("shared_host_uid"));
  const Record killed = run(
      R"({"argv": ["bash", "-c", "trap '' TERM; sleep 4323 & sleep 4323; sleep 4323"],
          "limits": {"timeout_ms": 1500, "grace_ms": 100}})");
  EXPECT_EQ(killed.status(), "timeout") << killed;
  EXPECT_FALSE(is_running("4323"));
  systemctl({"stop", kService});
  EXPECT_TRUE(fs::is_empty("/run/wardcase-ids"));
  fs::remove("/run/wardcase-ids");
  expect_success({"/usr/sbin/usermod", "--del-subuids", "300000-300999", "--del-subgids",
                  "300000-300999", "wardcase"});
}

// What an interpreter wants of a host, behind the settings that harden the service.
TEST_F(Units, ProgramsWorkBehindTheHardening) {
  const Record python = run(code_body("python", R"code(
import ctypes, multiprocessing.pool, sqlite3, subprocess
open('/box/f', 'w').write('x')
open('/tmp/g', 'w').write('y')
sqlite3.connect(':memory:').execute('select 1')
print(subprocess.run(['bash', '-c', 'umask 022; hostname'], capture_output=True).stdout)
print(multiprocessing.pool.ThreadPool(4).map(abs, [-1]))
)code"));
  EXPECT_EQ(python.out(), "b'box\\n'\n[1]\n") << python;
  const Record node = run(code_body("javascript", R"code(
let n = 0;
for (let i = 0; i < 1e5; i++) n += i;
console.log(n, require('child_process').execSync('echo up').toString());
)code"));
  EXPECT_EQ(node.out(), "4999950000 up\n\n") << node;
}

TEST_F(Units, ABoxWithoutMemoryEndsAndTheServiceGoesOn) {
  (void)client().get("/livez");
  const pid_t before = main_pid();
  const Record record = run(code_body("python", "b = []\nwhile True: b.append(bytearray(8 << 20))",
                                      R"("limits": {"memory_bytes": 67108864})"));
  EXPECT_EQ(record.status(), "oom") << record;
  EXPECT_EQ(run(R"({"argv": ["echo", "on"]})").out(), "on\n");
  EXPECT_EQ(main_pid(), before);
}

TEST_F(Units, StoppingTheServiceDeliversTheAnswers) {
  HttpClient waiting = client();
  ASSERT_TRUE(waiting.send(run_request(R"({"argv": ["sleep", "4321.5"]})")));
  ASSERT_TRUE(comes_true([] { return is_running("4321.5"); }));
  systemctl({"stop", "wardcased.socket", kService});
  const HttpAnswer answer = waiting.receive();
  EXPECT_EQ(answer.status, 200) << answer;
  EXPECT_EQ(answer.json().status(), "stopped");
  EXPECT_EQ(property("ActiveState"), "inactive");
  EXPECT_EQ(property("Result"), "success");
  EXPECT_FALSE(is_running("4321.5"));
}

TEST_F(Units, AKilledServiceIsStartedAgainAndLeavesNoProgram) {
  HttpClient waiting = client();
  ASSERT_TRUE(waiting.send(run_request(R"({"argv": ["sleep", "4322.5"]})")));
  ASSERT_TRUE(comes_true([] { return is_running("4322.5"); }));
  const pid_t before = main_pid();
  ASSERT_EQ(::kill(before, SIGKILL), 0);
  EXPECT_TRUE(comes_true([] { return !is_running("4322.5"); }));
  EXPECT_TRUE(
      comes_true([&] { return main_pid() != before && property("ActiveState") == "active"; }));
  EXPECT_EQ(run(R"({"argv": ["echo", "again"]})").out(), "again\n");
  EXPECT_EQ(property("NRestarts"), "1");
}

TEST_F(Units, AServiceThatHangsIsNoticedAndReplaced) {
  const fs::path drop_in = fs::path(kSystemUnits) / "wardcased.service.d";
  fs::create_directories(drop_in);
  std::ofstream(drop_in / "quick.conf") << "[Service]\nWatchdogSec=4s\n";
  systemctl({"daemon-reload"});
  EXPECT_EQ(client().get("/livez").status, 200);
  const pid_t before = main_pid();
  ASSERT_EQ(::kill(before, SIGSTOP), 0);
  EXPECT_TRUE(
      comes_true([&] { return main_pid() != before && property("ActiveState") == "active"; }));
  EXPECT_EQ(client().get("/livez").status, 200);
  EXPECT_EQ(property("NRestarts"), "1");
  fs::remove_all(drop_in);
  systemctl({"stop", "wardcased.socket", kService});
  systemctl({"daemon-reload"});
}

// Whoever is not in the group does not get as far as a request.
TEST_F(Units, MembersOfTheGroupMayConnectAndNobodyElse) {
  const group* members = ::getgrnam("wardcase");
  ASSERT_NE(members, nullptr);
  const auto connect_as = [](const std::string& groups) {
    return call({"/usr/bin/setpriv", "--reuid", "65531", "--regid", "65531", groups,
                 "/usr/bin/python3", "-c",
                 "import socket; s = socket.socket(socket.AF_UNIX)\n"
                 "try: s.connect('/run/wardcase/api.sock'); print('in')\n"
                 "except PermissionError: print('out')"})
        .out();
  };
  EXPECT_EQ(connect_as("--clear-groups"), "out\n");
  EXPECT_EQ(connect_as("--groups=" + std::to_string(members->gr_gid)), "in\n");
}

TEST_F(Units, RootsOwnRunsAndTheServiceKeepOutOfEachOthersState) {
  EXPECT_EQ(run(R"({"argv": ["echo", "1"]})").out(), "1\n");
  const Outcome own = call({std::string(kUnitsBin) + "/wardcase", "run", "--", "echo", "2"});
  EXPECT_EQ(own.out(), "2\n") << own;
  EXPECT_EQ(run(R"({"argv": ["echo", "3"]})").out(), "3\n");
}

// The port is there once somebody asks for it, and for this host alone.
TEST_F(Units, ThePortIsServedBesideTheSocket) {
  systemctl({"start", "wardcased-tcp.socket"});
  EXPECT_EQ(HttpClient::to_port(7878).get("/livez").status, 200);
  EXPECT_EQ(client().get("/livez").status, 200);
  systemctl({"stop", "wardcased-tcp.socket"});
}

}  // namespace
}  // namespace wardcase::test

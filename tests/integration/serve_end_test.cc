// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Where the service listens, and how it ends.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

using ServeEnd = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeEnd);

TEST_P(ServeEnd, ASignalStopsRunsDeliversTheirAnswersAndRefusesOthers) {
  Service service = start({"--max-runs", "1"});
  HttpClient running = service.client();
  HttpClient waiting = service.client();
  HttpClient watching = service.client();
  // One that takes its grace, in which there is time to look.
  ASSERT_TRUE(running.send(run_request(
      code_body("bash", "trap : TERM; echo up; touch /tmp/up; sleep 60 & while :; do wait; done",
                R"("limits": {"grace_ms": 1500})"))));
  ASSERT_TRUE(comes_to_run("sleep"));
  ASSERT_TRUE(waiting.send(run_request(R"({"argv": ["true"]})")));
  EXPECT_EQ(watching.get("/livez").status, 200);
  service.process().signal(SIGTERM);
  const HttpAnswer given_up = waiting.receive();
  EXPECT_EQ(given_up.status, 503) << given_up;
  EXPECT_EQ(given_up.json().text("code"), "draining");
  const HttpAnswer not_ready = watching.get("/readyz");
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(not_ready.json().text("code"), "draining") << not_ready;
  EXPECT_EQ(service.client().post("/v1/runs", R"({"argv": ["true"]})").status, 503);
  const HttpAnswer answer = running.receive();
  EXPECT_EQ(answer.status, 200) << answer;
  EXPECT_EQ(answer.json().status(), "stopped");
  EXPECT_EQ(answer.json().out(), "up\n");
  EXPECT_EQ(answer.header("Connection"), "close");
  const Outcome outcome = service.stop();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_FALSE(fs::exists(service.socket()));
}

TEST_P(ServeEnd, WithoutRunsItEndsAtOnceWhateverClientsDo) {
  Service service = start();
  HttpClient idle = service.client();
  HttpClient half = service.client();
  EXPECT_EQ(idle.get("/livez").status, 200);
  ASSERT_TRUE(half.send("POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"));
  const Outcome outcome = service.stop(SIGINT);
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(outcome.elapsed, std::chrono::seconds(20));
}

TEST_P(ServeEnd, TheTimeForItIsBounded) {
  Service service = start({"--drain-timeout", "300ms"});
  HttpClient running = service.client();
  ASSERT_TRUE(
      running.send(run_request(code_body("bash", "trap : TERM; sleep 60 & while :; do wait; done",
                                         R"("limits": {"grace_ms": 30000})"))));
  ASSERT_TRUE(comes_to_run("sleep"));
  const Outcome outcome = service.stop();
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_LT(outcome.elapsed, std::chrono::seconds(20));
}

TEST_P(ServeEnd, AKilledServiceLeavesNoProgramAndItsSocketIsReplaced) {
  const ScratchDirectory directory(caller());
  const std::string path = directory.path() / "kept.sock";
  {
    Service service = start({"--listen", "unix:" + path});
    HttpClient running = HttpClient::to_unix(path);
    ASSERT_TRUE(running.send(run_request(R"({"argv": ["sleep", "60"]})")));
    ASSERT_TRUE(comes_to_run("sleep"));
    EXPECT_EQ(service.stop(SIGKILL).signal, SIGKILL);
    EXPECT_TRUE(comes_to_end("sleep"));
    EXPECT_EQ(running.receive().status, 0);
    EXPECT_TRUE(fs::exists(path));
  }
  Service next = start({"--listen", "unix:" + path});
  HttpClient client = HttpClient::to_unix(path);
  // What the dead one left is removed.
  EXPECT_EQ(client.post("/v1/runs", R"({"argv": ["echo", "next"]})").json().out(), "next\n");
  EXPECT_EQ(next.stop().exit_code, 0);
}

TEST_P(ServeEnd, ASocketIsItsOwnersAloneAndALivingServersIsLeftAlone) {
  const Service service = start();
  struct stat info = {};
  ASSERT_EQ(::stat(service.socket().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
  const Outcome second =
      Command(caller(), {"serve", "--listen", "unix:" + service.socket()}).finish();
  EXPECT_EQ(second.exit_code, 125);
  EXPECT_NE(second.err().find("another server listens there"), std::string::npos) << second;
  EXPECT_EQ(service.client().get("/livez").status, 200);
}

TEST_P(ServeEnd, WithoutAnAddressItListensInTheRuntimeDirectory) {
  const std::string runtime = is_root() ? "/run" : Workplace::get().runtime(caller()).string();
  Running server = Command(caller(), {"serve"}).start();
  ASSERT_TRUE(server.wait_for(Channel::err, "listening on unix:" + runtime + "/wardcase/api.sock"))
      << server.read_so_far(Channel::err);
  EXPECT_EQ(HttpClient::to_unix(runtime + "/wardcase/api.sock").get("/livez").status, 200);
  server.signal(SIGTERM);
  EXPECT_EQ(server.finish().exit_code, 0);
}

TEST_P(ServeEnd, WrongAddressesAreRefusedWithTheReason) {
  const ScratchDirectory directory(caller());
  const std::string file = directory.write("file", "");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"tcp:0.0.0.0:0", "give --tokens"},
      {"tcp:[::]:0", "give --tokens"},
      {"tcp:192.0.2.1:80", "give --tokens"},
      {"tcp:example.org:80", "is no address"},
      {"tcp:127.0.0.1", "write tcp:HOST:PORT"},
      {"tcp:127.0.0.1:65536", "write tcp:HOST:PORT"},
      {"http://localhost", "write unix:PATH or tcp:HOST:PORT"},
      {"unix:" + file, "something else is there already"},
      {"unix:/" + std::string(200, 'x'), "too long for a socket"},
      {"unix:/no/such/directory/s", "No such file or directory"},
  };
  for (const auto& [address, reason] : wrong) {
    const Outcome outcome = Command(caller(), {"serve", "--listen", address}).finish();
    EXPECT_EQ(outcome.exit_code, 125) << address << "\n" << outcome;
    EXPECT_NE(outcome.err().find(reason), std::string::npos) << address << "\n" << outcome;
  }
  EXPECT_TRUE(fs::exists(file));
}

// A page in a browser reaches a port of this host by a name of its own, or from where it is.
TEST_P(ServeEnd, APortIsServedToProgramsOfThisHostAndNotToWebPages) {
  Service service = start({"--listen", "tcp:127.0.0.1:0"});
  HttpClient client = HttpClient::to_port(service.port());
  EXPECT_EQ(client.post("/v1/runs", code_body("bash", "echo port")).json().out(), "port\n");
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]"}) {
    ASSERT_TRUE(client.send("GET /livez HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"));
    EXPECT_EQ(client.receive().status, 421) << host;
  }
  for (const char* host : {"localhost", "127.0.0.1:7878", "[::1]:7878", "localhost:1"}) {
    ASSERT_TRUE(client.send("GET /livez HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"));
    EXPECT_EQ(client.receive().status, 200) << host;
  }
  EXPECT_EQ(client.post("/v1/runs", "{}", "Origin: http://evil.example\r\n").status, 403);
  HttpClient gone = HttpClient::to_port(service.port());
  ASSERT_TRUE(gone.send(run_request(R"({"argv": ["sleep", "60"]})")));
  ASSERT_TRUE(comes_to_run("sleep"));
  gone.hang_up();
  EXPECT_TRUE(comes_to_end("sleep"));
}

TEST_P(ServeEnd, HelpAndWrongUseAreAnsweredByTheCommand) {
  const Outcome help = Command(caller(), {"serve", "--help"}).finish();
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out().find("--listen ADDRESS"), std::string::npos) << help;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"serve", "--lisen", "x"}, {"serve", "now"}, {"serve", "--max-runs", "0"}}) {
    const Outcome outcome = Command(caller(), words).finish();
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find(words[1]), std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace wardcase::test

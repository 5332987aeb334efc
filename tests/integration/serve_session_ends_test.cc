// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Whose the service's sessions are, and what becomes of them when it, or what keeps them, ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <vector>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using ServeSessionEnds = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeSessionEnds);

constexpr std::string_view kAsync = "Prefer: respond-async\r\n";

TEST_P(ServeSessionEnds, AStoppedServiceEndsThemInGoodOrder) {
  Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  HttpClient waiting = service.client();
  const std::string body = program_body("import time\nprint('up', flush=True)\ntime.sleep(60)");
  (void)waiting.send("POST " + session + "/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(eventually([&] { return client.get(session).json().text("state") == "running"; }));
  EXPECT_EQ(service.stop().exit_code, 0);
  EXPECT_EQ(waiting.receive().json().status(), "stopped") << "its answer is delivered";
}

// As root a client of another user, who may connect and no more.
HttpClient client_of_user(const Service& service) {
  std::filesystem::permissions(service.socket(), std::filesystem::perms::all);
  std::filesystem::permissions(std::filesystem::path(service.socket()).parent_path(),
                               std::filesystem::perms::all);
  EXPECT_EQ(::seteuid(kOrdinaryUid), 0);
  HttpClient client = service.client();
  EXPECT_EQ(::seteuid(0), 0);
  return client;
}

TEST_P(ServeSessionEnds, AnIdIsItsOwnersAndSaysNothingToOthers) {
  if (!is_root()) return;  // the service's own user is an administrator
  const Service service = start();
  HttpClient root = service.client();
  HttpClient user = client_of_user(service);
  EXPECT_EQ(root.post("/v1/sessions", R"({"id": "alone"})").status, 201);
  EXPECT_EQ(root.post("/v1/sessions", R"({"id": "both"})").status, 201);
  EXPECT_EQ(exec_in(root, "/v1/sessions/both", program_body("x = 'root'")).status(), "exited");
  EXPECT_EQ(user.get("/v1/sessions").json().json("sessions"), "[]");
  for (const std::string path : {"/v1/sessions/alone", "/v1/sessions/alone?owner=uid:0"}) {
    EXPECT_EQ(user.get(path).status, 404) << path;
    EXPECT_EQ(user.remove(path).status, 404) << path;
  }
  EXPECT_EQ(user.post("/v1/sessions/both/exec", program_body("1")).status, 404);
  EXPECT_EQ(user.get("/v1/sessions/both/files").status, 404);
  EXPECT_EQ(user.post("/v1/sessions", R"({"id": "both"})").status, 201) << "his own";
  EXPECT_EQ(exec_in(user, "/v1/sessions/both", program_body("print('x' in dir())")).out(),
            "False\n");
  EXPECT_EQ(exec_in(root, "/v1/sessions/both", program_body("print(x)")).out(), "root\n");
  const std::string his = "/v1/sessions/both?owner=uid%3A" + std::to_string(kOrdinaryUid);
  EXPECT_EQ(root.get(his).json().text("owner"), "uid:" + std::to_string(kOrdinaryUid));
  EXPECT_EQ(root.remove(his).status, 200);
  EXPECT_EQ(user.get("/v1/sessions/both").status, 404);
  EXPECT_EQ(root.get("/v1/sessions/both").status, 200);
}

std::vector<pid_t> keepers() {
  std::vector<pid_t> found;
  std::istringstream lines(list_descendants());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(wardcase-keeper)") != std::string::npos) found.push_back(std::stoi(line));
  }
  return found;
}

TEST_P(ServeSessionEnds, AfterACrashOfTheServiceTheyAreFoundAgain) {
  const ScratchDirectory directory(caller());
  const std::string path = directory.path() / "kept.sock";
  const std::vector<std::string> options = {"--listen", "unix:" + path, "--memory-total", "1500m"};
  {
    Service service = start(options);
    HttpClient client = HttpClient::to_unix(path);
    EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s", "language": "bash"})").status, 201);
    EXPECT_EQ(exec_in(client, "/v1/sessions/s", program_body("x=1; echo kept >f")).status(),
              "exited");
    EXPECT_EQ(client.post("/v1/sessions/s/exec", program_body("sleep 60"), kAsync).status, 202);
    EXPECT_TRUE(comes_to_run("sleep"));
    EXPECT_EQ(service.stop(SIGKILL).signal, SIGKILL);
    EXPECT_TRUE(comes_to_end("sleep")) << "nobody is there to be told of it";
  }
  const Service next = start(options);
  HttpClient client = HttpClient::to_unix(path);
  const Record list = client.get("/v1/sessions").json();
  EXPECT_EQ(list.text("sessions.0.id"), "s");
  EXPECT_EQ(list.text("sessions.0.owner"), "uid:" + std::to_string(::geteuid()));
  EXPECT_EQ(exec_in(client, "/v1/sessions/s", program_body("echo $x $(cat f)")).out(), "1 kept\n");
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s"})").status, 409);
  EXPECT_EQ(client.post("/v1/sessions", "").status, 429) << "its memory is promised";
}

TEST_P(ServeSessionEnds, OfKilledKeepersNothingIsLeft) {
  const ScratchDirectory directory(caller());
  const std::string path = directory.path() / "kept.sock";
  {
    Service service = start({"--listen", "unix:" + path});
    HttpClient client = HttpClient::to_unix(path);
    EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s"})").status, 201);
    EXPECT_EQ(client.post("/v1/sessions", R"({"id": "t"})").status, 201);
    EXPECT_EQ(exec_in(client, "/v1/sessions/s", program_body("1")).status(), "exited");
    EXPECT_EQ(service.stop(SIGKILL).signal, SIGKILL);
    for (const pid_t keeper : keepers()) (void)::kill(keeper, SIGKILL);
  }
  const Service next = start({"--listen", "unix:" + path});
  HttpClient client = HttpClient::to_unix(path);
  EXPECT_EQ(client.get("/v1/sessions").json().json("sessions"), "[]");
  EXPECT_EQ(client.get("/v1/sessions/s").status, 404);
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s"})").status, 201);
}

TEST_P(ServeSessionEnds, TheEndOfAKeeperIsNoticed) {
  const Service service = start();
  HttpClient client = service.client();
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s"})").status, 201);
  HttpClient waiting = service.client();
  const std::string body = program_body("import time\ntime.sleep(60)");
  (void)waiting.send("POST /v1/sessions/s/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(
      eventually([&] { return client.get("/v1/sessions/s").json().text("state") == "running"; }));
  for (const pid_t keeper : keepers()) (void)::kill(keeper, SIGKILL);
  const HttpAnswer answer = waiting.receive();
  EXPECT_EQ(answer.status, 409) << answer;
  EXPECT_EQ(answer.json().text("code"), "session_ended");
  EXPECT_TRUE(eventually([&] { return client.get("/v1/sessions/s").status == 404; }));
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s"})").status, 201);
  EXPECT_EQ(exec_in(client, "/v1/sessions/s", program_body("1")).status(), "exited")
      << "which sweeps what the dead one left";
}

}  // namespace
}  // namespace wardcase::test

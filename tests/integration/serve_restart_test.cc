// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What a service has accepted and told outlives it: its runs, their keys and their events.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/record_schema.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

constexpr std::string_view kAsync = "Prefer: respond-async\r\n";
constexpr std::string_view kKeyed = "Idempotency-Key: one\r\n";

using ServeRestart = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeRestart);

TEST_P(ServeRestart, WhatHadEndedIsTheSameAsBefore) {
  const ScratchDirectory lasting(caller());
  const std::string body = code_body("bash", "echo out; echo err >&2; exit 3");
  std::string path;
  std::string record;
  {
    Service service(caller(), lasting);
    const HttpAnswer answer = service.client().post("/v1/runs", body, kKeyed);
    path = answer.header("Content-Location");
    record = answer.body;
    EXPECT_EQ(service.stop().exit_code, 0);
  }
  Service service(caller(), lasting);
  HttpClient client = service.client();
  EXPECT_EQ(client.get(path).body, record);
  EXPECT_EQ(client.post("/v1/runs", body, kKeyed).body, record);
  EXPECT_EQ(client.post("/v1/runs", code_body("bash", "echo other"), kKeyed).status, 422);
  const HttpAnswer listed = client.get("/v1/runs");
  EXPECT_EQ(listed.json().text("runs.0.status"), "exited") << listed;
  // Whoever had followed it up to there gets what he had not seen: the last event.
  const HttpAnswer events = client.get(path + "/events?after=3");
  EXPECT_NE(events.body.find("\"type\":\"exit\""), std::string::npos) << events;
}

TEST_P(ServeRestart, WhatWasUnderWayIsLost) {
  const ScratchDirectory lasting(caller());
  std::string path;
  {
    Service service(caller(), lasting);
    const HttpAnswer answer = service.client().post(
        "/v1/runs", code_body("bash", "echo begun; sleep 600"), std::string(kAsync));
    ASSERT_EQ(answer.status, 202) << answer;
    path = answer.header("Location");
    ASSERT_TRUE(comes_to_run("sleep"));
    (void)service.stop(SIGKILL);
  }
  EXPECT_TRUE(comes_to_end("sleep"));
  for (int lives = 0; lives < 2; ++lives) {
    const Service service(caller(), lasting);
    HttpClient client = service.client();
    const HttpAnswer answer = client.get(path);
    EXPECT_EQ(answer.json().status(), "lost") << answer;
    EXPECT_EQ(answer.json().text("language"), "bash");
    const Outcome judged = judge_records(caller(), answer.body);
    EXPECT_EQ(judged.exit_code, 0) << judged;
    const HttpAnswer events = client.get(path + "/events?after=2");
    EXPECT_NE(events.body.find("\"status\":\"lost\""), std::string::npos) << events;
  }
}

TEST_P(ServeRestart, AnothersRunsAreNotSeenByASecondServiceAndItSaysSo) {
  const ScratchDirectory lasting(caller());
  const Service first(caller(), lasting);
  (void)first.run(code_body("bash", "true"));
  Service second(caller(), {}, "XDG_STATE_HOME=" + (lasting.path() / "state").string());
  EXPECT_TRUE(second.process().wait_for(Channel::err, "another one keeps its own there"));
  EXPECT_FALSE(second.client().get("/v1/runs").json().has("runs.0"));
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Sessions of the service: boxes that live on between requests, each its owner's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "tests/support/record_schema.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using ServeSessions = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeSessions);

constexpr std::string_view kAsync = "Prefer: respond-async\r\n";
constexpr std::string_view kLines = "Accept: application/x-ndjson\r\n";

HttpAnswer patch(HttpClient& client, const std::string& path, const std::string& body) {
  (void)client.send("PATCH " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.receive();
}

TEST_P(ServeSessions, VariablesAndFilesStayUntilTheEnd) {
  const Service service = start();
  HttpClient client = service.client();
  const HttpAnswer made = client.post("/v1/sessions", R"({"id": "desk"})");
  EXPECT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.header("Location"), "/v1/sessions/desk");
  const HttpAnswer first =
      client.post("/v1/sessions/desk/exec", program_body("x = 41; open('f', 'w').write('kept')"));
  EXPECT_EQ(first.json().text("session_id"), "desk") << first;
  HttpClient other = service.client();
  const HttpAnswer second =
      other.post("/v1/sessions/desk/exec", program_body("print(x + 1, open('f').read())"));
  EXPECT_EQ(second.json().out(), "42 kept\n") << second;
  const Outcome judged = judge_records(caller(), first.body + second.body);
  EXPECT_EQ(judged.out(), "checked exited\nchecked exited\n") << judged;
  EXPECT_EQ(client.remove("/v1/sessions/desk").json().text("state"), "ended");
  const HttpAnswer gone = client.get("/v1/sessions/desk");
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(gone.json().text("code"), "no_such_session");
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "desk"})").status, 201) << "its name is free";
}

TEST_P(ServeSessions, OneIsToldWithItsStateAndLivesAsLongAsItIsTold) {
  const Service service = start();
  HttpClient client = service.client();
  EXPECT_EQ(client.get("/v1/sessions").json().json("sessions"), "[]");
  const std::string session =
      make_session(client, R"({"id": "one", "language": "bash", "ttl_ms": 60000})");
  EXPECT_EQ(exec_in(client, session, program_body("echo $((6 * 7))")).out(), "42\n");
  const Record list = client.get("/v1/sessions").json();
  EXPECT_EQ(list.text("sessions.0.id"), "one");
  EXPECT_EQ(list.text("sessions.0.owner"), "uid:" + std::to_string(::geteuid()));
  EXPECT_EQ(list.text("sessions.0.language"), "bash");
  EXPECT_EQ(list.text("sessions.0.state"), "idle");
  EXPECT_LE(list.number("sessions.0.expires_in_ms"), 60'000);
  EXPECT_EQ(list.serialized().find("made_with"), std::string::npos) << "it may have secrets";
  EXPECT_GT(patch(client, session, R"({"ttl_ms": 600000})").json().number("expires_in_ms"), 60'000);
  EXPECT_EQ(patch(client, session, R"({"ttl_ms": 100})").status, 200);
  EXPECT_TRUE(eventually([&] { return client.get(session).status == 404; }));
}

TEST_P(ServeSessions, EventsOfAProgramAreStreamed) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  HttpClient reader = service.client();
  const std::string body = program_body(
      "import sys\nprint('one', flush=True)\ninput()\nprint('two')", R"("open_stdin": true)");
  (void)reader.send("POST " + session + "/exec HTTP/1.1\r\nHost: localhost\r\n" +
                    std::string(kLines) + "Content-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body);
  EXPECT_EQ(reader.receive_head().status, 200);
  EXPECT_EQ(Record::parse(reader.next_line()).text("type"), "start");
  std::string told;
  // Which takes /proc/PID/syscall, that a kernel may be built without.
  const bool knows_waits = ::access("/proc/self/syscall", F_OK) == 0;
  const std::string_view wanted = knows_waits ? "waiting_for_input" : "one";
  while (told.find(wanted) == std::string::npos) {
    const std::string line = reader.next_line();
    ASSERT_NE(line, "") << told;
    told += line;
  }
  EXPECT_EQ(client.post(session + "/input", R"({"data": "go\n", "eof": true})").status, 200);
  std::string last;
  for (std::string line = reader.next_line(); !line.empty(); line = reader.next_line()) last = line;
  EXPECT_EQ(Record::parse(last).text("type"), "exit");
  EXPECT_EQ(Record::parse(last).out(), "one\ntwo\n");
}

TEST_P(ServeSessions, StdinFilesAndNamesComeWithAProgram) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  const std::string input(200'000, 'i');
  const std::string file(200'000, 'f');
  const Record record =
      exec_in(client, session,
              program_body(
                  "import sys\nprint(len(sys.stdin.read()), len(open('d/x').read()),"
                  " open('y').read())",
                  "\"stdin\": \"" + input + R"(", "files": {"d/x": ")" + file + R"(", "y": "Y"})"));
  EXPECT_EQ(record.out(), "200000 200000 Y\n") << record;
  EXPECT_EQ(exec_in(client, session, program_body("input()")).text("error_type"), "EOFError");
  const Record named = exec_in(client, session, program_body("1/0", R"("name": "mine.py")"));
  EXPECT_NE(named.text("traceback").find("mine.py"), std::string::npos) << named;
  const Record wrong =
      exec_in(client, session, program_body("print(1)\nprint(", R"("validate": true)"));
  EXPECT_EQ(wrong.status(), "syntax_error");
  EXPECT_EQ(wrong.out(), "");
}

// T20.
TEST_P(ServeSessions, AnInterruptedProgramLeavesTheVariables) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  EXPECT_EQ(client.post(session + "/interrupt", "").status, 409) << "nothing runs";
  EXPECT_EQ(exec_in(client, session, program_body("x = 1")).status(), "exited");
  const HttpAnswer begun =
      client.post(session + "/exec", program_body("print(2)\nwhile True: pass"), kAsync);
  EXPECT_EQ(begun.status, 202) << begun;
  const std::string run = begun.header("Location");
  EXPECT_TRUE(
      eventually([&] { return client.get(run).header("Wardcase-Run-State") == "running"; }));
  EXPECT_EQ(client.post(session + "/interrupt", "").status, 200);
  HttpAnswer ended;
  EXPECT_TRUE(eventually([&] {
    ended = client.get(run);
    return ended.header("Wardcase-Run-State") == "ended";
  })) << ended;
  EXPECT_EQ(ended.json().status(), "stopped") << ended;
  EXPECT_EQ(exec_in(client, session, program_body("print(x)")).out(), "1\n");
}

// T31.
TEST_P(ServeSessions, AResetEndsWhatRunsAndKeepsTheFiles) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  EXPECT_EQ(exec_in(client, session, program_body("x = 1; open('f', 'w').write('kept')")).status(),
            "exited");
  HttpClient other = service.client();
  const std::string body = program_body("import time\nprint('late', flush=True)\ntime.sleep(60)");
  (void)other.send("POST " + session + "/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(eventually([&] { return client.get(session).json().text("state") == "running"; }));
  EXPECT_EQ(client.post(session + "/reset", "").status, 200);
  EXPECT_EQ(other.receive().json().status(), "stopped");
  const Record after =
      exec_in(client, session, program_body("print('x' in dir(), open('f').read())"));
  EXPECT_EQ(after.out(), "False kept\n") << after;
  EXPECT_EQ(after.json("session_restarted"), "true");
}

// T23: programs of one session come one after another, those of two at the same time.
TEST_P(ServeSessions, ProgramsTakeTurnsInASessionAndNotBetweenTwo) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string one = make_session(client);
  const std::string two = make_session(client);
  const HttpAnswer first = client.post(
      one + "/exec",
      program_body("x = 1\nimport os, time\nwhile not os.path.exists('go'): time.sleep(0.05)"
                   "\nprint(x)"),
      kAsync);
  const HttpAnswer second = client.post(one + "/exec", program_body("x = 2"), kAsync);
  EXPECT_EQ(exec_in(client, two, program_body("print('other')")).out(), "other\n");
  EXPECT_EQ(client.get(second.header("Location")).header("Wardcase-Run-State"), "queued");
  (void)client.send("PUT " + one +
                    "/files/go HTTP/1.1\r\nHost: localhost\r\n"
                    "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 201);
  HttpAnswer ended;
  EXPECT_TRUE(eventually([&] {
    ended = client.get(first.header("Location"));
    return ended.header("Wardcase-Run-State") == "ended";
  })) << ended;
  EXPECT_EQ(ended.json().out(), "1\n");
  EXPECT_EQ(exec_in(client, one, program_body("print(x)")).out(), "2\n");
}

TEST_P(ServeSessions, AClientThatHangsUpInterruptsItsProgramUnlessItIsDetached) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  EXPECT_EQ(exec_in(client, session, program_body("x = 1")).status(), "exited");
  for (const bool is_detached : {false, true}) {
    HttpClient leaving = service.client();
    const std::string body = program_body(
        "import os, time\nwhile not os.path.exists('go'): "
        "time.sleep(0.05)",
        is_detached ? R"("detach": true)" : R"("detach": false)");
    (void)leaving.send("POST " + session + "/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_TRUE(eventually([&] { return client.get(session).json().text("state") == "running"; }));
    leaving.hang_up();
    if (is_detached) {
      std::this_thread::sleep_for(500ms);
      EXPECT_EQ(client.get(session).json().text("state"), "running");
      EXPECT_EQ(client.post(session + "/interrupt", "").status, 200);
    }
    EXPECT_TRUE(eventually([&] { return client.get(session).json().text("state") == "idle"; }));
  }
  EXPECT_EQ(exec_in(client, session, program_body("print(x)")).out(), "1\n");
}

TEST_P(ServeSessions, TheSameKeyIsTheSameProgram) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client);
  const std::string body = program_body("n = globals().get('n', 0) + 1\nprint(n)");
  constexpr std::string_view kKey = "Idempotency-Key: k\r\n";
  const HttpAnswer first = client.post(session + "/exec", body, kKey);
  EXPECT_EQ(client.post(session + "/exec", body, kKey).body, first.body);
  EXPECT_EQ(exec_in(client, session, body).out(), "2\n");
  EXPECT_EQ(client.post(session + "/exec", program_body("2"), kKey).json().text("code"),
            "key_reused");
}

TEST_P(ServeSessions, WhatMakesNoSenseIsRefusedByName) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string session = make_session(client, R"({"id": "here"})");
  const auto refused = [&](const std::string& path, const std::string& body, int status) {
    const HttpAnswer answer = client.post(path, body);
    EXPECT_EQ(answer.status, status) << answer << "\n" << body;
    return answer.json().text("code") + " " + answer.json().text("field");
  };
  const std::string all = "/v1/sessions";
  EXPECT_EQ(refused(all, R"({"id": "here"})", 409), "session_exists id");
  EXPECT_EQ(refused(all, R"({"id": "a/b"})", 400), "invalid_field id");
  EXPECT_EQ(refused(all, R"({"ttl_ms": 0})", 400), "invalid_field ttl_ms");
  EXPECT_EQ(refused(all, R"({"language": "ruby"})", 400), "invalid_field language");
  EXPECT_EQ(refused(all, R"({"code": "1"})", 400), "unknown_field code");
  EXPECT_EQ(refused(all, R"({"policy": "/etc/x.toml"})", 400), "host_path policy");
  EXPECT_EQ(refused(all, R"({"limits": {"memory_bytes": 1}})", 422),
            "limit_refused limits.memory_bytes");
  EXPECT_EQ(refused(all, R"({"requirements": ["-r x"]})", 400), "invalid_field requirements");
  const std::string exec = session + "/exec";
  EXPECT_EQ(refused(exec, "{}", 400), "missing_field code");
  EXPECT_EQ(refused(exec, program_body("1", R"("argv": ["true"])"), 400), "unknown_field argv");
  EXPECT_EQ(refused(exec, program_body("1", R"("policy": "strict")"), 400), "unknown_field policy");
  EXPECT_EQ(refused(exec, program_body("1", R"("language": "ruby")"), 400),
            "invalid_field language");
  EXPECT_EQ(refused(exec, program_body("1", R"("limits": {"memory_bytes": 100000000})"), 400),
            "invalid_field limits.memory_bytes");
  EXPECT_EQ(refused(exec, program_body("1", R"("limits": {"timeout_ms": 601000})"), 422),
            "limit_refused limits.timeout_ms");
  EXPECT_EQ(refused("/v1/sessions/there/exec", program_body("1"), 404), "no_such_session ");
  EXPECT_EQ(refused(session + "/input", R"({"data": "x"})", 409), "session_refused ");
  EXPECT_EQ(refused(session + "/input", R"({})", 400), "missing_field data");
}

TEST_P(ServeSessions, ThereAreAsManyAsWereAllowedAndAsHaveMemory) {
  const Service service = start({"--max-sessions", "2", "--memory-total", "600m"});
  HttpClient client = service.client();
  const std::string body = R"({"limits": {"memory_bytes": 268435456}})";
  const HttpAnswer too_large =
      client.post("/v1/sessions", R"({"limits": {"memory_bytes": 1073741824}})");
  EXPECT_EQ(too_large.status, 422) << too_large;
  const std::string one = make_session(client, body);
  const HttpAnswer no_memory =
      client.post("/v1/sessions", R"({"limits": {"memory_bytes": 536870912}})");
  EXPECT_EQ(no_memory.status, 429) << no_memory;
  EXPECT_EQ(no_memory.json().text("code"), "queue_full");
  const std::string two = make_session(client, body);
  const HttpAnswer too_many = client.post("/v1/sessions", body);
  EXPECT_EQ(too_many.status, 429);
  EXPECT_EQ(too_many.json().text("code"), "too_many_sessions");
  EXPECT_EQ(client.remove(two).status, 200);
  EXPECT_EQ(client.post("/v1/sessions", body).status, 201);
}

}  // namespace
}  // namespace wardcase::test

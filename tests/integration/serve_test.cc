// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The service by HTTP: what each path answers, and what runs through it.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/record_schema.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using Serve = Serving;
WARDCASE_AS_ROOT_AND_USER(Serve);

TEST_P(Serve, SaysThatItLivesAndIsReady) {
  const Service service = start();
  HttpClient client = service.client();
  EXPECT_EQ(client.get("/livez").json().text("status"), "live");
  EXPECT_EQ(client.get("/readyz").json().text("status"), "ready");
  const HttpAnswer version = client.get("/v1/version");
  EXPECT_EQ(version.json().text("name"), "wardcase");
  EXPECT_EQ(version.json().text("api"), "v1");
  EXPECT_EQ(version.header("Content-Type"), "application/json");
}

TEST_P(Serve, RunsCodeWithAllThatARequestCanSay) {
  const Service service = start();
  const Record record = service.run(code_body("python", R"code(
import os, sys
print(sys.argv[1:], sys.stdin.read(), os.environ['COLOR'], os.getcwd())
print(open('/box/data/a.csv').read(), open('/box/b.bin', 'rb').read())
sys.stdout.flush()
print('to stderr', file=sys.stderr)
)code",
                                              R"j("args": ["x", "y z"], "stdin": "typed",
      "env": {"COLOR": "red"}, "files": {"data/a.csv": "1,2", "b.bin": {"base64": "AP8="}},
      "cwd": "/tmp", "merge_stderr": true, "limits": {"timeout_ms": 9000, "cpus": 1.0})j"));
  EXPECT_EQ(record.out(), "['x', 'y z'] typed red /tmp\n1,2 b'\\x00\\xff'\nto stderr\n") << record;
  EXPECT_EQ(record.text("language"), "python");
  EXPECT_EQ(record.number("limits.timeout_ms"), 9000);
  EXPECT_EQ(record.number("limits.cpus"), 1);
  EXPECT_EQ(record.number("queued_ms"), 0);
}

TEST_P(Serve, TellsErrorsAndHintsAsTheCommandDoes) {
  const Service service = start();
  const Record missing = service.run(code_body("python", "import no_such"));
  EXPECT_EQ(missing.text("error_type"), "ImportError") << missing;
  EXPECT_EQ(missing.text("error_message"), "No module named 'no_such'");
  EXPECT_EQ(missing.text("traceback"), missing.err());
  EXPECT_EQ(missing.text("hint"), "'no_such' is not installed; add --requirement no_such");
  const Record late = service.run(
      code_body("bash", "sleep 9", R"j("limits": {"timeout_ms": 200, "grace_ms": 100})j"));
  EXPECT_EQ(late.text("error_type"), "TimeoutError") << late;
  EXPECT_EQ(late.text("hint"), "raise it with --timeout, at most 600s");
}

TEST_P(Serve, RunsCommandsAndGivesBytesInBase64) {
  const Service service = start();
  const Record record = service.run(
      R"j({"argv": ["bash", "-c", "cat; exit 3"], "stdin_base64": "AP8=", "base64": true})j");
  EXPECT_EQ(record.text("stdout_base64"), "AP8=") << record;
  EXPECT_EQ(record.number("exit_code"), 3);
  EXPECT_EQ(record.number("limits.cpus"), 1);  // a service's default
}

TEST_P(Serve, EveryRecordIsValidBySchema) {
  const Service service = start();
  HttpClient client = service.client();
  std::string lines;
  for (const std::string& body :
       {code_body("bash", "exit 3"), code_body("bash", "kill -SEGV $$"),
        code_body("bash", "sleep 9", R"("limits": {"timeout_ms": 200, "grace_ms": 50})"),
        code_body("python", "b = bytearray(200 << 20)", R"("limits": {"memory_bytes": 50000000})"),
        code_body("bash", "yes", R"("limits": {"output_bytes": 1024})"),
        std::string(R"({"argv": ["no-such-program"]})"),
        std::string(R"({"argv": ["true"], "cwd": "/missing"})")}) {
    lines += client.post("/v1/runs", body).body;
  }
  const Outcome outcome = judge_records(caller(), lines);
  EXPECT_EQ(outcome.out(),
            "checked exited\nchecked signaled\nchecked timeout\nchecked oom\n"
            "checked output_limit\nchecked cannot_execute\nchecked setup_failed\n")
      << outcome.err();
}

TEST_P(Serve, WhatNeverBeganHasNoDuration) {
  const Service service = start();
  HttpClient client = service.client();
  for (int tries = 0; tries < 20; ++tries) {
    const Record record = client.post("/v1/runs", R"({"argv": ["no-such-program"]})").json();
    EXPECT_EQ(record.status(), "cannot_execute");
    EXPECT_EQ(record.number("duration_ms"), 0);
  }
}

struct Wrong {
  std::string body;
  int status;
  std::string code;
  std::string detail;  // a part of it
};

TEST_P(Serve, WrongRequestsAreRefusedByNameWithWhatToWrite) {
  const Service service = start();
  HttpClient client = service.client();
  const auto bash = [](const std::string& more) { return code_body("bash", "true", more); };
  for (const Wrong& wrong : std::vector<Wrong>{
           {"{", 400, "invalid_json", "not JSON"},
           {"[]", 400, "invalid_json", "not a JSON object"},
           {"{\"argv\": [\"\xff\"]}", 400, "invalid_json", "not JSON"},
           {"{}", 400, "missing_field", "give language and code, or argv"},
           {R"({"code": "1"})", 400, "missing_field", "language: say"},
           {R"({"lnguage": "python"})", 400, "unknown_field", "did you mean 'language'?"},
           {R"({"argv": ["true"], "code": "1"})", 400, "invalid_field", "code or argv, not both"},
           {R"({"argv": []})", 400, "invalid_field", "argv: begins with the program"},
           {R"({"argv": ["a\u0000b"]})", 400, "invalid_field", "argv[0]: a zero byte"},
           {R"({"argv": ["true", 1]})", 400, "invalid_field", "argv[1]: write a string"},
           {R"({"argv": ["true"], "language": "bash"})", 400, "invalid_field", "leave it out"},
           {code_body("pyton", "1"), 400, "invalid_field", "it is one of bash, c++"},
           {bash(R"("stdin": "a", "stdin_base64": "YQ==")"), 400, "invalid_field", "not both"},
           {bash(R"("stdin_base64": "YQ")"), 400, "invalid_field", "stdin_base64: is not base64"},
           {bash(R"("env": {"A=B": "1"})"), 400, "invalid_field", "'A=B' is no name"},
           {bash(R"("cwd": "box")"), 400, "invalid_field", "cwd: is not absolute"},
           {bash(R"("files": {"../a": ""})"), 400, "invalid_field", "'../a'"},
           {bash(R"("files": {"/etc/a": ""})"), 400, "invalid_field", "is absolute"},
           {bash(R"("files": {"a": "", "a/b": ""})"), 400, "invalid_field", "can't both be there"},
           {bash(R"("files": {"main.sh": ""})"), 400, "invalid_field", "what the code itself is"},
           {bash(R"("mounts": ["/etc"])"), 400, "host_path", "name what the policy lets you see"},
           {bash(R"("policy": "/etc/passwd")"), 400, "host_path", "name a policy"},
           {bash(R"("policy": "strct")"), 400, "invalid_field", "it is one of"},
           {bash(R"("network": "all")"), 400, "invalid_field", "write none or host"},
           {bash(R"("network": "host", "policy": "strict")"), 422, "policy_refused", "network: "},
           {bash(R"("policy": "landlock-only")"), 422, "policy_refused", "without namespaces"},
           {bash(R"("allow_syscalls": ["ptrce"])"), 422, "policy_refused", "'ptrace'"},
           {bash(R"("limits": {"timeout": 1})"), 400, "unknown_field", "did you mean 'timeout_ms'"},
           {bash(R"("limits": {"timeout_ms": 0})"), 422, "limit_refused", "minimum is"},
           {bash(R"("limits": {"timeout_ms": 600001})"), 422, "limit_refused", "maximum is 600s"},
           {bash(R"("limits": {"capture_bytes": 8388609})"), 422, "limit_refused",
            "limits.capture_bytes: a service keeps 8388608 bytes"},
           {bash(R"("limits": {"timeout_ms": null})"), 422, "limit_refused", "can't be left out"},
           {bash(R"("limits": {"timeout_ms": 1.5})"), 400, "invalid_field", "whole number"},
           {bash(R"("limits": {"cpus": 9999})"), 422, "limit_refused",
            "limits.cpus: this host has"},
           {bash(R"("encoding_fallback": "no-such")"), 400, "invalid_field", "encoding_fallback: "},
       }) {
    const HttpAnswer answer = client.post("/v1/runs", wrong.body);
    EXPECT_EQ(answer.status, wrong.status) << wrong.body << "\n" << answer;
    EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(answer.json().text("code"), wrong.code) << wrong.body;
    EXPECT_EQ(answer.json().number("status"), wrong.status);
    EXPECT_NE(answer.json().text("detail").find(wrong.detail), std::string::npos)
        << wrong.body << "\n"
        << answer;
  }
}

TEST_P(Serve, OtherPathsAndMethodsAreToldWhatThereIs) {
  const Service service = start();
  HttpClient client = service.client();
  EXPECT_EQ(client.get("/v1/nothing").status, 404);
  const HttpAnswer removed = client.remove("/v1/runs");
  EXPECT_EQ(removed.status, 405);
  EXPECT_EQ(removed.header("Allow"), "POST, GET, HEAD");
  const HttpAnswer written = client.post("/livez", "");
  EXPECT_EQ(written.status, 405);
  EXPECT_EQ(written.header("Allow"), "GET, HEAD");
  ASSERT_TRUE(client.send("HEAD /livez HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client.receive_head().header("Content-Length"),
            std::to_string(client.get("/livez").body.size()));
  ASSERT_TRUE(client.send("GET http://box/livez?verbose HTTP/1.1\r\nHost: box\r\n\r\n"));
  EXPECT_EQ(client.receive().status, 200);
}

TEST_P(Serve, RequestsOnOneConnectionAreAnsweredInTheirOrder) {
  const Service service = start();
  HttpClient client = service.client();
  std::string all = "GET /v1/version HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const char* word : {"one", "two"})
    all += run_request(code_body("bash", std::string("echo ") + word));
  for (int i = 0; i < 100; ++i) all += "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
  ASSERT_TRUE(client.send(all));
  EXPECT_EQ(client.receive().json().text("name"), "wardcase");
  EXPECT_EQ(client.receive().json().out(), "one\n");
  EXPECT_EQ(client.receive().json().out(), "two\n");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.receive().status, 200);
}

TEST_P(Serve, ManyRunsAtOnceAreAllAnsweredWithTheirOwn) {
  const Service service = start({"--max-runs", "4"});
  std::vector<HttpClient> clients;
  constexpr int kCount = 24;
  for (int i = 0; i < kCount; ++i) {
    clients.push_back(service.client());
    ASSERT_TRUE(clients.back().send(run_request(code_body("bash", "echo " + std::to_string(i)))));
  }
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(clients[static_cast<std::size_t>(i)].receive().json().out(),
              std::to_string(i) + "\n");
  }
}

TEST_P(Serve, RunsBeyondTheirNumberWaitAndThenAreRefused) {
  const Service service = start({"--max-runs", "1", "--max-queue", "1"});
  HttpClient first = service.client();
  HttpClient second = service.client();
  ASSERT_TRUE(first.send(run_request(R"({"argv": ["sleep", "60"]})")));
  ASSERT_TRUE(comes_to_run("sleep"));
  ASSERT_TRUE(second.send(run_request(code_body("bash", "echo next"))));
  HttpAnswer refused;
  // Until the second one stands in the queue, this takes its place there for a moment.
  EXPECT_TRUE(eventually([&] {
    HttpClient third = service.client();
    if (!third.send(run_request(R"({"argv": ["true"]})"))) return false;
    refused = third.receive(std::chrono::milliseconds(200));
    return refused.status == 429;
  }));
  EXPECT_EQ(refused.json().text("code"), "queue_full");
  EXPECT_TRUE(refused.json().is_true("retryable"));
  EXPECT_EQ(refused.header("Retry-After"), "1");
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that the wait shows
  first.hang_up();
  const Record record = second.receive().json();
  EXPECT_EQ(record.out(), "next\n");
  EXPECT_GT(record.number("queued_ms"), 0);
}

// As in a container that forbids namespaces.
TEST_P(Serve, ABoxWithoutNamespacesIsForWhoRunsTheServiceToChoose) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  const Service service(caller(), {}, "WARDCASE_POLICY=landlock-only");
  const Record record = service.run(code_body("bash", "echo on", R"("policy": "landlock-only")"));
  EXPECT_EQ(record.out(), "on\n") << record;
  EXPECT_TRUE(record.is_degraded("pid_namespace"));
}

TEST_P(Serve, AClientThatGoesAwayEndsItsRun) {
  const Service service = start({"--max-runs", "1"});
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(run_request(R"({"argv": ["sleep", "60"]})")));
  ASSERT_TRUE(comes_to_run("sleep"));
  client.hang_up();
  EXPECT_TRUE(comes_to_end("sleep"));
  EXPECT_EQ(service.run(code_body("bash", "echo free")).out(), "free\n");
}

TEST_P(Serve, AClientThatOnlySendsNoMoreIsAnswered) {
  const Service service = start();
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(run_request(code_body("bash", "sleep 0.3; echo late"))));
  client.finish_sending();
  EXPECT_EQ(client.receive().json().out(), "late\n");
  EXPECT_TRUE(client.is_hung_up_on());
}

// A record is made while nobody else is served.
TEST_P(Serve, KeepsNoMoreOfAStreamThanItCanAnswerWith) {
  const Service service = {caller(), {}, "WARDCASE_CAPTURE=64m"};
  const std::string body = R"({"argv": ["bash", "-c", "head -c 9M /dev/zero"], "base64": true})";
  const Record record = service.run(body);
  EXPECT_EQ(record.number("limits.capture_bytes"), 8 << 20);
  EXPECT_LT(record.text("stdout_base64").size(), 12U << 20);
}

}  // namespace
}  // namespace wardcase::test

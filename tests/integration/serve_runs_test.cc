// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Runs that the service knows: asked for, found again, stopped, and nobody else's.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/support/record_schema.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using ServeRuns = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeRuns);

constexpr std::string_view kAsync = "Prefer: respond-async\r\n";

// The path of a run that goes on without us.
std::string begin(HttpClient& client, const std::string& body, const std::string& headers = "") {
  const HttpAnswer answer = client.post("/v1/runs", body, std::string(kAsync) + headers);
  EXPECT_EQ(answer.status, 202) << answer;
  EXPECT_EQ(answer.header("Location"), "/v1/runs/" + answer.json().text("id"));
  return answer.header("Location");
}

// Its record, once it is over.
HttpAnswer end_of(HttpClient& client, const std::string& path) {
  HttpAnswer answer;
  EXPECT_TRUE(eventually([&] {
    answer = client.get(path);
    return answer.header("Wardcase-Run-State") == "ended";
  })) << answer;
  return answer;
}

TEST_P(ServeRuns, OneThatIsNotWaitedForIsFoundWhileItRunsAndAfterItsEnd) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string path = begin(client, code_body("bash",
                                                   "echo begun; read -r line; echo $line"
                                                   "; sleep 0.5; exit 3",
                                                   R"("stdin": "typed\n")"));
  HttpAnswer running;
  EXPECT_TRUE(eventually([&] {
    running = client.get(path);
    return running.json().out() == "begun\ntyped\n";
  })) << running;
  EXPECT_EQ(running.json().status(), "running");
  EXPECT_EQ(running.header("Wardcase-Run-State"), "running");
  const HttpAnswer ended = end_of(client, path);
  EXPECT_EQ(ended.json().number("exit_code"), 3);
  EXPECT_EQ(ended.json().out(), "begun\ntyped\n");
  const Outcome judged = judge_records(caller(), running.body + ended.body);
  EXPECT_EQ(judged.out(), "checked running\nchecked exited\n") << judged;
}

TEST_P(ServeRuns, TheListHasStateAndStatusOfEach) {
  const Service service = start({"--max-runs", "1"});
  HttpClient client = service.client();
  EXPECT_EQ(client.get("/v1/runs").json().json("runs"), "[]");
  EXPECT_EQ(client.post("/v1/runs", R"({"argv": ["false"]})").status, 200);
  const std::string running = begin(client, R"({"argv": ["sleep", "60"]})");
  const std::string waiting = begin(client, R"({"argv": ["true"]})");
  ASSERT_TRUE(comes_to_run("sleep"));
  const Record list = client.get("/v1/runs").json();
  EXPECT_EQ(list.text("runs.0.status"), "exited");
  EXPECT_EQ(list.text("runs.0.state"), "ended");
  EXPECT_EQ(list.text("runs.1.state"), "running");
  EXPECT_EQ(list.text("runs.2.state"), "queued");
  EXPECT_EQ(list.text("runs.2.owner"), "uid:" + std::to_string(::geteuid()));
  EXPECT_EQ("/v1/runs/" + list.text("runs.2.id"), waiting);
  const HttpAnswer queued = client.get(waiting);
  EXPECT_EQ(queued.json().status(), "running");
  EXPECT_EQ(queued.header("Wardcase-Run-State"), "queued");
  EXPECT_GT(queued.json().number("queued_ms"), 0);
  EXPECT_EQ(client.remove(running).status, 200);
}

TEST_P(ServeRuns, DeleteStopsWhatRunsAndWhatWaits) {
  const Service service = start({"--max-runs", "1"});
  HttpClient client = service.client();
  const std::string running = begin(client, code_body("bash", "echo up; sleep 60"));
  const std::string waiting = begin(client, code_body("bash", "echo never"));
  ASSERT_TRUE(comes_to_run("sleep"));
  const HttpAnswer never = client.remove(waiting);
  EXPECT_EQ(never.status, 200);
  EXPECT_EQ(never.json().status(), "stopped");
  EXPECT_EQ(never.json().text("error"), "stopped before it began");
  const HttpAnswer stopped = client.remove(running);
  EXPECT_EQ(stopped.json().status(), "stopped") << stopped;
  EXPECT_EQ(stopped.json().out(), "up\n");
  EXPECT_TRUE(comes_to_end("sleep"));
  EXPECT_EQ(client.remove(running).body, stopped.body) << "once more is no error";
  const Outcome judged = judge_records(caller(), never.body + stopped.body);
  EXPECT_EQ(judged.out(), "checked stopped\nchecked stopped\n") << judged;
}

TEST_P(ServeRuns, ASecondDeleteTakesNoTimeFromWhatCleansUp) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string run = begin(client, code_body("bash",
                                                  "trap 'sleep 1; echo saved; exit 0' TERM; echo up"
                                                  "; sleep 60 & wait"));
  ASSERT_TRUE(comes_to_run("sleep"));
  for (int i = 0; i < 2; ++i) {
    HttpClient other = service.client();
    EXPECT_EQ(other.remove(run, kAsync).status, 202);
  }
  EXPECT_EQ(client.remove(run).json().out(), "up\nsaved\n");
}

// T33: no crash, nothing left, the field named.
TEST_P(ServeRuns, OddTextsAreRunOrRefusedByName) {
  const Service service = start();
  HttpClient client = service.client();
  const auto field_of = [&](const std::string& body) {
    const HttpAnswer answer = client.post("/v1/runs", body);
    EXPECT_EQ(answer.status, 400) << answer;
    return answer.json().text("field");
  };
  EXPECT_EQ(service.run(code_body("bash", std::string(1 << 20, '#') + "\necho long")).out(),
            "long\n");
  EXPECT_EQ(service.run(code_body("python", "")).status(), "exited");
  EXPECT_EQ(service.run(R"j({"language": "python", "code": "print(1)\n#\u0000"})j").status(),
            "exited");
  const HttpAnswer lone =
      client.post("/v1/runs", R"j({"language": "python", "code": "print('\ud800')"})j");
  EXPECT_EQ(lone.status, 400) << lone;
  EXPECT_EQ(lone.json().text("code"), "invalid_json");
  EXPECT_EQ(field_of(code_body("klingon", "1")), "language");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("limits": {"timeout_ms": -1})")),
            "limits.timeout_ms");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("limits": {"timeout_ms": "10"})")),
            "limits.timeout_ms");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("detach": 1)")), "detach");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("validate": "yes")")), "validate");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("requirements": "six")")), "requirements");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("requirements": ["six"])")), "requirements");
  EXPECT_EQ(field_of(code_body("python", "1", R"("requirements": ["-r x"])")), "requirements");
  EXPECT_EQ(field_of(code_body("ruby", "1", R"("prelude": "x")")), "prelude");
  EXPECT_EQ(field_of(code_body("bash", ":", R"("deadline_ms": 0)")), "deadline_ms");
}

TEST_P(ServeRuns, UnderOneKeyOneProgramRunsOnce) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string body = code_body("bash", "echo $RANDOM$RANDOM$RANDOM");
  const HttpAnswer first = client.post("/v1/runs", body, "Idempotency-Key: \"k-1\"\r\n");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(client.post("/v1/runs", body, "Idempotency-Key: k-1\r\n").body, first.body);
  EXPECT_NE(client.post("/v1/runs", body, "Idempotency-Key: k-2\r\n").json().out(),
            first.json().out());
  const HttpAnswer other =
      client.post("/v1/runs", code_body("bash", "echo other"), "Idempotency-Key: k-1\r\n");
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.json().text("code"), "key_reused");
  const HttpAnswer wrong = client.post("/v1/runs", body, "Idempotency-Key: a b\r\n");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.json().text("code"), "invalid_header");
}

TEST_P(ServeRuns, WhoAsksAgainUnderAKeyWaitsForTheSameRun) {
  const Service service = start();
  HttpClient first = service.client();
  HttpClient second = service.client();
  const std::string request =
      run_request(code_body("bash", "sleep 0.7; echo $RANDOM$RANDOM"), "Idempotency-Key: k\r\n");
  ASSERT_TRUE(first.send(request));
  ASSERT_TRUE(comes_to_run("sleep"));
  ASSERT_TRUE(second.send(request));
  std::this_thread::sleep_for(100ms);
  first.hang_up();  // it is not the last one who waits
  const Record record = second.receive().json();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(service.client().get("/v1/runs").json().text("runs.0.id"), record.text("id"));
}

TEST_P(ServeRuns, WhoWasCutOffRunsItAnewUnderTheSameKey) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string body = code_body("bash", "echo up; sleep 1; echo done");
  ASSERT_TRUE(client.send(run_request(body, "Idempotency-Key: k\r\n")));
  ASSERT_TRUE(comes_to_run("sleep"));
  client.hang_up();
  EXPECT_TRUE(comes_to_end("sleep"));
  const Record record = service.client().post("/v1/runs", body, "Idempotency-Key: k\r\n").json();
  EXPECT_EQ(record.out(), "up\ndone\n") << record;
}

TEST_P(ServeRuns, ATraceOfTheClientsGoesOnInTheAnswer) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const HttpAnswer answer = client.post("/v1/runs", R"({"argv": ["true"]})",
                                        "traceparent: 00-" + trace + "-b7ad6b7169203331-01\r\n");
  EXPECT_EQ(answer.header("traceparent").substr(0, 36), "00-" + trace + "-") << answer;
  EXPECT_NE(answer.header("traceparent").substr(36, 16), "b7ad6b7169203331");
  EXPECT_EQ(client.get("/v1/runs").json().text("runs.0.trace_id"), trace);
  EXPECT_EQ(client.post("/v1/runs", R"({"argv": ["true"]})", "traceparent: 00-x\r\n")
                .header("traceparent")
                .size(),
            answer.header("traceparent").size());
}

TEST_P(ServeRuns, ADeadlineEndsWhatRunsAndWhatStillWaits) {
  const Service service = start({"--max-runs", "1"});
  HttpClient client = service.client();
  const std::string running = begin(client, R"({"argv": ["sleep", "60"], "deadline_ms": 1500})");
  const HttpAnswer late =
      service.client().post("/v1/runs", R"({"argv": ["true"], "deadline_ms": 200})");
  EXPECT_EQ(late.status, 503) << late;
  EXPECT_EQ(late.json().text("code"), "deadline_passed");
  EXPECT_EQ(late.header("Retry-After"), "1");
  const std::string key = "Idempotency-Key: late\r\n";
  const std::string hurried = R"({"argv": ["true"], "deadline_ms": 300})";
  EXPECT_EQ(service.client().post("/v1/runs", hurried, key).status, 503);
  const HttpAnswer ended = end_of(client, running);
  EXPECT_EQ(ended.json().status(), "stopped");
  EXPECT_EQ(ended.json().text("error"), "the deadline of the request has passed");
  EXPECT_TRUE(comes_to_end("sleep"));
  EXPECT_EQ(client.post("/v1/runs", hurried, key).status, 200) << "what never began holds no key";
}

TEST_P(ServeRuns, ThoseThatHaveEndedAreForgottenByNumberAndTime) {
  const Service service = start({"--keep-runs", "2", "--keep-time", "2s"});
  HttpClient client = service.client();
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) {
    paths.push_back(begin(client, R"({"argv": ["true"]})"));
    EXPECT_EQ(end_of(client, paths.back()).status, 200);
  }
  const HttpAnswer forgotten = client.get(paths.front());
  EXPECT_EQ(forgotten.status, 404);
  EXPECT_EQ(forgotten.json().text("code"), "no_such_run");
  EXPECT_EQ(client.get(paths.back()).status, 200);
  EXPECT_TRUE(eventually([&] { return client.get(paths.back()).status == 404; }));
}

// As another account of this host, for a moment: the kernel tells who connects.
HttpClient client_as(uid_t uid, const std::string& socket) {
  EXPECT_EQ(::chmod(socket.c_str(), 0666), 0);
  EXPECT_EQ(::syscall(SYS_setresuid, -1, uid, -1), 0);
  HttpClient client = HttpClient::to_unix(socket);
  EXPECT_EQ(::syscall(SYS_setresuid, -1, 0, -1), 0);
  EXPECT_TRUE(client.is_connected());
  return client;
}

// Reads, ends and follows runs of another account: nothing of them is there for it.
TEST_P(ServeRuns, RunsOfOthersAreAsIfTheyWereNotThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be several accounts";
  const Service service = start();
  ASSERT_EQ(::chmod(std::filesystem::path(service.socket()).parent_path().c_str(), 0755), 0);
  constexpr uid_t kOwner = 65500;
  HttpClient owner = client_as(kOwner, service.socket());
  HttpClient other = client_as(kOwner + 1, service.socket());
  HttpClient admin = service.client();
  const std::string path =
      begin(owner, R"({"argv": ["sleep", "60"]})", "Idempotency-Key: mine\r\n");
  ASSERT_TRUE(comes_to_run("sleep"));
  for (const std::string& what : {path, path + "/events"}) {
    EXPECT_EQ(other.get(what).status, 404) << what;
  }
  EXPECT_EQ(other.remove(path).status, 404);
  EXPECT_EQ(other.get(path).json().text("detail"),
            other.get("/v1/runs/run_x").json().text("detail"));
  EXPECT_EQ(other.get("/v1/runs").json().json("runs"), "[]");
  // Under the same key another account gets its own.
  EXPECT_NE(begin(other, R"({"argv": ["true"]})", "Idempotency-Key: mine\r\n"), path);
  EXPECT_EQ(owner.get(path).json().status(), "running");
  EXPECT_EQ(admin.get("/v1/runs").json().text("runs.0.owner"), "uid:" + std::to_string(kOwner));
  EXPECT_EQ(admin.remove(path).json().status(), "stopped");
  EXPECT_EQ(owner.get(path).json().status(), "stopped");
}

}  // namespace
}  // namespace wardcase::test

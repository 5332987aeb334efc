// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Batches: one program, many cases, and who judges them.
#include <gtest/gtest.h>

#include "tests/support/batches.h"
#include "tests/support/record_schema.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using ServeBatches = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeBatches);

constexpr std::string_view kLines = "Accept: application/x-ndjson\r\n";

const std::string kDouble = code_body("python", "print(int(input()) * 2)");

TEST_P(ServeBatches, EachCaseHasItsVerdictAndItsRecordInTheOrderOfTheRequest) {
  const Service service = start();
  const Record batch =
      run_batch(service, batch_of(kDouble, R"("cases": [{"stdin": "2\n", "expected_stdout": "4"},
        {"stdin": "3\n", "expected_stdout": "7\n"}, {"stdin": "x\n", "expected_stdout": "1"},
        {"stdin": "5\n"}])"));
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"passed", "wrong_answer", "run_failed", "passed"}));
  EXPECT_EQ(batch.status(), "finished");
  EXPECT_EQ(batch.text("id").substr(0, 4), "bat_");
  EXPECT_EQ(batch.number("summary.passed"), 2);
  EXPECT_EQ(batch.number("summary.total"), 4);
  EXPECT_EQ(batch.number("summary.first_failed"), 1);
  EXPECT_EQ(batch.text("cases.0.reason"), "");
  EXPECT_EQ(batch.text("cases.1.reason"), "line 1, column 1: expected '7', got '6\\n'");
  EXPECT_EQ(batch.text("cases.2.reason").find("exited with 1: ValueError: "), 0U)
      << batch.text("cases.2.reason");
  EXPECT_EQ(batch.text("cases.0.record.stdout"), "4\n");
  EXPECT_EQ(batch.text("cases.3.record.stdout"), "10\n");
  const Outcome judged = judge_records(
      caller(), batch.json("cases.0.record") + "\n" + batch.json("cases.2.record") + "\n");
  EXPECT_EQ(judged.out(), "checked exited\nchecked exited\n") << judged;
}

TEST_P(ServeBatches, ACompiledProgramIsCompiledOnceForAll) {
  const Service service = start();
  std::string cases;
  for (int i = 0; i < 200; ++i) {
    cases += (i == 0 ? "" : ",") + std::string(R"({"stdin": ")") + std::to_string(i) +
             R"(", "args": ["a"], "expected_stdout": ")" + std::to_string(i * 3) + " 2\"}";
  }
  const Record batch = run_batch(
      service, batch_of(code_body("c",
                                  "#include <stdio.h>\nint main(int c, char** v) { int n; "
                                  "(void)v; scanf(\"%d\", &n); printf(\"%d %d\\n\", n * 3, c);}"),
                        "\"cases\": [" + cases + "]"));
  EXPECT_EQ(batch.number("summary.passed"), 200) << batch;
  EXPECT_TRUE(batch.is_null("summary.first_failed"));
  EXPECT_EQ(batch.text("compile.status"), "exited");
  EXPECT_TRUE(batch.is_null("cases.0.record.compile")) << "it was done before";
}

TEST_P(ServeBatches, WhatCannotBeCompiledFailsInEachCase) {
  const Service service = start();
  const Record batch = run_batch(
      service, batch_of(code_body("c", "int main() { return x; }"), R"("cases": [{}, {}])"));
  EXPECT_EQ(batch.status(), "compile_failed");
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"run_failed", "run_failed"}));
  EXPECT_EQ(batch.text("compile.status"), "exited");
  EXPECT_EQ(batch.number("compile.exit_code"), 1);
  EXPECT_NE(batch.text("error"), "");
  EXPECT_EQ(batch.text("cases.0.reason"), batch.text("error"));
  EXPECT_TRUE(batch.is_null("cases.0.record"));
  const Record wrong = run_batch(
      service, batch_of(code_body("python", "if", R"("validate": true)"), R"("cases": [{}])"));
  EXPECT_EQ(wrong.status(), "syntax_error");
  EXPECT_EQ(verdicts_of(wrong), (Verdicts{"run_failed"}));
}

TEST_P(ServeBatches, CasesHaveArgumentsFilesAndVariablesOfTheirOwn) {
  const Service service = start();
  const Record batch = run_batch(
      service, batch_of(code_body("bash", "echo $1 $2 $A $B $(cat common.txt own.txt 2>/dev/null)",
                                  R"("args": ["x"], "env": {"A": "1", "B": "2"},
                            "files": {"common.txt": "c"}, "stdin": "unused")"),
                        R"("comparator": "exact", "cases": [
                 {"args": ["y"], "env": {"B": "3"}, "files": {"own.txt": "d"},
                  "expected_stdout": "x y 1 3 cd\n"},
                 {"expected_stdout_base64": "eCAxIDIgYwo="},
                 {"expected_stdout": "x 1 2 c"}])"));
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"passed", "passed", "wrong_answer"})) << batch;
}

TEST_P(ServeBatches, LimitsHoldForEachCaseAlone) {
  const Service service = start();
  const Record batch = run_batch(
      service,
      batch_of(
          code_body("bash", "case $1 in t) sleep 60;; o) yes;; s) kill -9 $$;; *) echo ok;; esac",
                    R"("limits": {"timeout_ms": 3000, "output_bytes": 100000})"),
          R"("cases": [{"args": ["t"]}, {"args": ["o"]}, {"args": ["s"]}, {}])"));
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"run_failed", "run_failed", "run_failed", "passed"}));
  EXPECT_EQ(batch.text("cases.0.record.status"), "timeout");
  EXPECT_EQ(batch.text("cases.0.reason"), "time limit of 3s reached");
  EXPECT_EQ(batch.text("cases.1.record.status"), "output_limit");
  EXPECT_EQ(batch.text("cases.2.record.signal"), "SIGKILL");
}

TEST_P(ServeBatches, NothingCountsAfterTheFirstFailureIfThatIsAskedFor) {
  const Service service = start({"--max-runs", "4"});
  const std::string program =
      code_body("bash", "case $1 in slow) sleep 1; exit 3;; begun) sleep 60;; *) echo fine;; esac");
  const Record batch =
      run_batch(service, batch_of(program, R"("stop_on_first_failure": true, "cases": [
        {}, {"args": ["slow"]}, {}, {"args": ["begun"]}, {}, {}])"));
  EXPECT_EQ(verdicts_of(batch),
            (Verdicts{"passed", "run_failed", "skipped", "skipped", "skipped", "skipped"}));
  EXPECT_EQ(batch.status(), "finished");
  EXPECT_EQ(batch.number("summary.first_failed"), 1);
  EXPECT_EQ(batch.number("summary.skipped"), 4);
  EXPECT_TRUE(batch.is_null("cases.2.record")) << "however far it came";
  EXPECT_EQ(batch.text("cases.2.reason"), "case 1 failed before it");
  EXPECT_TRUE(comes_to_end("sleep"));
}

TEST_P(ServeBatches, CasesAreToldAsTheyEndAndTheSummaryLast) {
  const Service service = start({"--max-runs", "2"});
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(batch_request(
      batch_of(code_body("bash", "sleep $1"), R"("cases": [{"args": ["4"]}, {"args": ["0"]}])"),
      kLines)));
  const HttpAnswer head = client.receive_head();
  ASSERT_EQ(head.status, 200);
  EXPECT_EQ(Record::parse(client.next_line()).text("type"), "start");
  const Record quick = Record::parse(client.next_line());
  EXPECT_EQ(quick.text("type"), "case");
  EXPECT_EQ(quick.number("index"), 1);
  const HttpAnswer so_far = service.client().get(head.header("Content-Location"));
  EXPECT_EQ(so_far.json().status(), "running");
  EXPECT_EQ(so_far.json().number("cases.0.index"), 1);
  EXPECT_EQ(Record::parse(client.next_line()).number("index"), 0);
  const Record last = Record::parse(client.next_line());
  EXPECT_EQ(last.text("type"), "batch");
  EXPECT_EQ(last.number("summary.passed"), 2);
  EXPECT_EQ(client.next_line(), "");
  const HttpAnswer rest = client.get(head.header("Content-Location") + "/events?after=3");
  EXPECT_EQ(Record::parse(rest.body).text("type"), "batch");
}

TEST_P(ServeBatches, WhoGoesAwayEndsItsBatchUnlessItIsDetached) {
  const Service service = start({"--max-runs", "2"});
  const std::string cases = R"("cases": [{}, {}, {}, {}])";
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(batch_request(batch_of(code_body("bash", "sleep 60"), cases))));
  ASSERT_TRUE(comes_to_run("sleep"));
  client.hang_up();
  EXPECT_TRUE(comes_to_end("sleep"));
  HttpClient other = service.client();
  const HttpAnswer accepted = other.post(
      "/v1/batches", batch_of(code_body("bash", "sleep 0.5"), cases), "Prefer: respond-async\r\n");
  EXPECT_EQ(accepted.status, 202) << accepted;
  HttpAnswer answer;
  EXPECT_TRUE(eventually([&] {
    answer = other.get(accepted.header("Location"));
    return answer.header("Wardcase-Run-State") == "ended";
  }));
  EXPECT_EQ(answer.json().number("summary.passed"), 4);
  EXPECT_EQ(other.get("/v1/runs").json().json("runs"), "[]") << "cases are no runs";
}

TEST_P(ServeBatches, DeleteStopsWhatRunsAndSkipsTheRest) {
  const Service service = start({"--max-runs", "1"});
  HttpClient client = service.client();
  const HttpAnswer accepted = client.post(
      "/v1/batches",
      batch_of(code_body("bash", "[ $1 = quick ] || sleep 60"),
               R"("cases": [{"args": ["quick"]}, {"args": ["slow"]}, {"args": ["never"]}])"),
      "Prefer: respond-async\r\n");
  ASSERT_TRUE(comes_to_run("sleep"));
  const Record batch = client.remove(accepted.header("Location")).json();
  EXPECT_EQ(batch.status(), "stopped");
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"passed", "skipped", "skipped"}));
  EXPECT_EQ(batch.text("cases.1.record.status"), "stopped");
  EXPECT_TRUE(batch.is_null("cases.2.record"));
  EXPECT_EQ(batch.text("cases.2.reason"), "the batch was stopped");
  EXPECT_TRUE(comes_to_end("sleep"));
}

TEST_P(ServeBatches, ADeadlineEndsAllOfIt) {
  const Service service = start({"--max-runs", "1"});
  const Record batch = run_batch(service, batch_of(code_body("bash", "sleep 60"),
                                                   R"("deadline_ms": 2000, "cases": [{}, {}])"));
  EXPECT_EQ(batch.status(), "stopped");
  EXPECT_EQ(verdicts_of(batch), (Verdicts{"skipped", "skipped"}));
  EXPECT_EQ(batch.text("cases.1.reason"), "the deadline of the request has passed");
}

TEST_P(ServeBatches, ASignalEndsABatchWithWhatItHas) {
  Service service = start({"--max-runs", "1"});
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(
      batch_request(batch_of(code_body("bash", "sleep 60"), R"("cases": [{}, {}, {}])"))));
  ASSERT_TRUE(comes_to_run("sleep"));
  service.process().signal(SIGTERM);
  const Record batch = client.receive().json();
  EXPECT_EQ(batch.status(), "stopped") << batch;
  EXPECT_EQ(batch.text("cases.2.reason"), "the service is being stopped");
  EXPECT_EQ(service.stop().exit_code, 0);
}

TEST_P(ServeBatches, TheSameKeyIsTheSameBatch) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string body = batch_of(R"({"argv": ["true"]})", R"("cases": [{}])");
  const std::string_view key = "Idempotency-Key: k\r\n";
  const HttpAnswer first = client.post("/v1/batches", body, key);
  EXPECT_EQ(client.post("/v1/batches", body, key).body, first.body);
  const HttpAnswer other =
      client.post("/v1/batches", batch_of(R"({"argv": ["false"]})", R"("cases": [{}])"), key);
  EXPECT_EQ(other.json().text("code"), "key_reused");
  EXPECT_EQ(client.get("/v1/batches/bat_none").json().text("code"), "no_such_batch");
}

// Another's first run has its turn among the many of a batch.
TEST_P(ServeBatches, ManyCasesKeepNobodyWaiting) {
  const Service service = start({"--max-runs", "2", "--max-queue", "16"});
  std::string cases = "{}";
  for (int i = 1; i < 300; ++i) cases += ",{}";
  HttpClient client = service.client();
  const HttpAnswer accepted = client.post(
      "/v1/batches", batch_of(code_body("bash", "sleep 0.3"), "\"cases\": [" + cases + "]"),
      "Prefer: respond-async\r\n");
  ASSERT_TRUE(comes_to_run("sleep"));
  EXPECT_EQ(service.run(code_body("bash", "echo mine")).out(), "mine\n");
  EXPECT_EQ(client.get(accepted.header("Location")).header("Wardcase-Run-State"), "running");
  EXPECT_EQ(client.remove(accepted.header("Location")).status, 200);
}

TEST_P(ServeBatches, RecordsOfManyAreCutToWhatCanBeKept) {
  const Service service = start();
  std::string cases = "{}";
  for (int i = 1; i < 30; ++i) cases += ",{}";
  const Record batch =
      run_batch(service, batch_of(code_body("bash", "head -c 200000 /dev/zero | tr '\\0' '\\1'",
                                            R"("limits": {"capture_bytes": 262144})"),
                                  "\"cases\": [" + cases + "]"));
  EXPECT_EQ(batch.number("summary.passed"), 30);
  std::size_t whole = 0;
  std::size_t short_ones = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    const std::string record = "cases." + std::to_string(i) + ".record";
    EXPECT_EQ(batch.number(record + ".stdout_bytes"), 200'000);
    EXPECT_EQ(batch.text(record + ".status"), "exited");
    (batch.text(record + ".stdout").empty() ? short_ones : whole) += 1;
  }
  EXPECT_GT(whole, 0U);
  EXPECT_GT(short_ones, 0U);
  EXPECT_LT(batch.serialized().size(), 17U << 20);
}

TEST_P(ServeBatches, WhatIsWrongIsNamed) {
  const Service service = start();
  HttpClient client = service.client();
  const auto refused = [&](const std::string& body) {
    const HttpAnswer answer = client.post("/v1/batches", body);
    return answer.json().text("code") + " " + answer.json().text("field");
  };
  const std::string one = R"("cases": [{}])";
  EXPECT_EQ(refused("{" + one + "}"), "missing_field program");
  EXPECT_EQ(refused(batch_of(R"({"code": "x"})", one)), "missing_field program.language");
  EXPECT_EQ(refused(batch_of(code_body("klingon", "x"), one)), "invalid_field program.language");
  EXPECT_EQ(refused(batch_of(kDouble, R"("cases": [])")), "invalid_field cases");
  EXPECT_EQ(refused(batch_of(kDouble, R"("cases": [{"stdout": "x"}])")),
            "unknown_field cases[0].stdout");
  EXPECT_EQ(refused(batch_of(kDouble, R"("cases": [{}, {"files": {"main.py": "x"}}])")),
            "invalid_field cases[1].files");
  EXPECT_EQ(refused(batch_of(kDouble, one + R"(, "test_code": "x")")), "invalid_field test_code");
  EXPECT_EQ(refused(batch_of(kDouble, one + R"(, "comparator": "near")")),
            "invalid_field comparator");
  EXPECT_EQ(
      refused(batch_of(code_body("python", "1", R"("limits": {"timeout_ms": 9000000})"), one)),
      "limit_refused program.limits.timeout_ms");
  EXPECT_EQ(refused(batch_of(kDouble, one + R"(, "checker": {"argv": ["true"], "files":
                             {"output": "x"}})")),
            "invalid_field checker.files");
}

}  // namespace
}  // namespace wardcase::test

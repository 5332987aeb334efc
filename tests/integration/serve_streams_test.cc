// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Runs that are watched: events as they come, taken up again, and readers that are slow or gone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using ServeStreams = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeStreams);

constexpr std::string_view kLines = "Accept: application/x-ndjson\r\n";
constexpr std::string_view kServerSent = "Accept: text/event-stream\r\n";

// Sends it and takes the head of the stream.
void begin_stream(HttpClient& client, const std::string& body, std::string_view accept = kLines) {
  ASSERT_TRUE(client.send(run_request(body, accept)));
  const HttpAnswer head = client.receive_head();
  ASSERT_EQ(head.status, 200);
  EXPECT_EQ(head.header("Transfer-Encoding"), "chunked");
}

std::string begin_async(HttpClient& client, const std::string& body) {
  return client.post("/v1/runs", body, "Prefer: respond-async\r\n").header("Location");
}

std::vector<Record> events_of(const std::string& lines) {
  std::vector<Record> events;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    events.push_back(Record::parse(lines.substr(at, end - at)));
    at = end + 1;
  }
  return events;
}

TEST_P(ServeStreams, EventsComeAsTheyHappenAndTheLastHasTheRecord) {
  const Service service = start();
  HttpClient client = service.client();
  begin_stream(client, code_body("bash", "echo one; read -r -t 1 x <> <(:); echo two >&2; exit 4"));
  const Record begun = Record::parse(client.next_line());
  EXPECT_EQ(begun.text("type"), "start");
  EXPECT_EQ(begun.number("seq"), 1);
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(Record::parse(client.next_line()).text("data"), "one\n");
  const Record err = Record::parse(client.next_line());
  EXPECT_GT(std::chrono::steady_clock::now() - before, 500ms) << "the first came before its end";
  EXPECT_EQ(err.text("type"), "stderr");
  const Record exit = Record::parse(client.next_line());
  EXPECT_EQ(exit.text("type"), "exit");
  EXPECT_EQ(exit.number("seq"), 4);
  EXPECT_EQ(exit.number("exit_code"), 4);
  EXPECT_EQ(exit.out(), "one\n");
  EXPECT_EQ(client.next_line(), "");
  EXPECT_EQ(client.get("/livez").status, 200) << "the connection is kept";
}

TEST_P(ServeStreams, ServerSentEventsHaveNumbersToGoOnFrom) {
  const Service service = start();
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(run_request(code_body("bash", "echo a"), kServerSent)));
  const HttpAnswer answer = client.receive();
  EXPECT_EQ(answer.header("Content-Type"), "text/event-stream");
  EXPECT_EQ(answer.body.find("id: 1\ndata: {\"seq\":1,\"type\":\"start\""), 0U) << answer;
  EXPECT_NE(
      answer.body.find("\n\nid: 2\ndata: {\"seq\":2,\"type\":\"stdout\",\"data\":\"a\\n\"}\n\n"),
      std::string::npos)
      << answer;
  EXPECT_TRUE(answer.body.ends_with("}\n\n"));
  const std::string path = answer.header("Content-Location") + "/events";
  const HttpAnswer rest = client.get(path, std::string(kServerSent) + "Last-Event-ID: 2\r\n");
  EXPECT_EQ(rest.body.find("id: 3\ndata: {\"seq\":3,\"type\":\"exit\""), 0U) << rest;
}

TEST_P(ServeStreams, AStreamIsTakenUpAgainWhereItEnded) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string path = begin_async(
      client, code_body("bash",
                        "echo one; until [ -e /box/x ]; do sleep 0.1; [ $((++n)) -gt 8 ] && "
                        "break; done; echo two"));
  HttpClient first = service.client();
  ASSERT_TRUE(first.send("GET " + path + "/events HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(first.receive_head().header("Content-Type"), "application/x-ndjson");
  (void)first.next_line();
  EXPECT_EQ(Record::parse(first.next_line()).text("data"), "one\n");
  first.hang_up();  // a run that nobody had to wait for goes on
  const std::vector<Record> rest = events_of(client.get(path + "/events?after=2").body);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].text("data"), "two\n");
  EXPECT_EQ(rest[1].text("status"), "exited");
  EXPECT_EQ(events_of(client.get(path + "/events").body).size(), 4U);
  EXPECT_EQ(client.get(path + "/events?after=4").body, "");
  EXPECT_EQ(client.get(path + "/events?after=x").status, 400);
  EXPECT_EQ(client.get(path + "/events", "Accept: text/html\r\n").status, 406);
}

TEST_P(ServeStreams, OneThatWaitsForItsTurnIsFollowedFromTheQueue) {
  const Service service = start({"--max-runs", "1"});
  HttpClient holder = service.client();
  ASSERT_TRUE(holder.send(run_request(R"({"argv": ["sleep", "60"]})")));
  ASSERT_TRUE(comes_to_run("sleep"));
  HttpClient client = service.client();
  begin_stream(client, code_body("bash", "echo mine"));
  EXPECT_EQ(client.next_line(200ms), "");
  holder.hang_up();
  EXPECT_EQ(Record::parse(client.next_line()).text("type"), "start");
  EXPECT_EQ(Record::parse(client.next_line()).text("data"), "mine\n");
}

TEST_P(ServeStreams, WhoGoesAwayEndsItsRunUnlessItIsDetached) {
  const Service service = start();
  HttpClient client = service.client();
  begin_stream(client, R"({"argv": ["sleep", "60"]})");
  ASSERT_TRUE(comes_to_run("sleep"));
  client.hang_up();
  EXPECT_TRUE(comes_to_end("sleep"));
  HttpClient detached = service.client();
  begin_stream(detached, code_body("bash", "sleep 0.7; echo on", R"("detach": true)"));
  ASSERT_TRUE(comes_to_run("sleep"));
  detached.hang_up();
  HttpClient later = service.client();
  EXPECT_TRUE(
      eventually([&] { return later.get("/v1/runs").json().text("runs.1.state") == "ended"; }));
  const std::string path = "/v1/runs/" + later.get("/v1/runs").json().text("runs.1.id");
  EXPECT_EQ(later.get(path).json().out(), "on\n");
}

std::size_t resident_kilobytes(pid_t process) {
  const std::string status = read_file("/proc/" + std::to_string(process) + "/status");
  return std::strtoul(status.c_str() + status.find("VmRSS:") + 6, nullptr, 10);
}

// Its program waits for it; nobody else does, and what is held for it is bounded.
TEST_P(ServeStreams, WhoReadsSlowlyHoldsUpItsOwnRunAlone) {
  Service service = start({"--send-timeout", "60s"});
  const std::size_t before = resident_kilobytes(service.process().pid());
  HttpClient slow = service.client();
  ASSERT_TRUE(
      slow.send(run_request(code_body("bash", "head -c 64M /dev/zero | tr '\\0' x; echo done >&2",
                                      R"("limits": {"capture_bytes": 4096})"),
                            kLines)));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(service.run(code_body("bash", "echo served")).out(), "served\n");
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_LT(resident_kilobytes(service.process().pid()), before + (32 << 10));
  EXPECT_EQ(slow.receive_head().status, 200);
  std::size_t bytes = 0;
  Record last;
  for (std::string line; !(line = slow.next_line()).empty();) {
    last = Record::parse(line);
    if (last.text("type") == "stdout") bytes += last.text("data").size();
    ASSERT_NE(last.text("type"), "progress") << "something was left out";
  }
  EXPECT_EQ(bytes, 64U << 20);
  EXPECT_EQ(last.status(), "exited");
  EXPECT_EQ(last.err(), "done\n");
}

TEST_P(ServeStreams, WhoTakesNothingOfAStreamIsHungUpOnAndItsRunStopped) {
  const Service service = start({"--send-timeout", "500ms"});
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(run_request(code_body("bash", "yes"), kLines)));
  ASSERT_TRUE(comes_to_run("yes"));
  EXPECT_TRUE(comes_to_end("yes"));
  EXPECT_TRUE(eventually(
      [&] { return service.client().get("/v1/runs").json().text("runs.0.status") == "stopped"; }));
}

// Of what nobody reads as it comes the newest is kept, and the reader is told what is missing.
TEST_P(ServeStreams, WhatIsNotKeptIsTold) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string path =
      begin_async(client, code_body("bash", "head -c 12M /dev/zero | tr '\\0' x; echo; echo end"));
  EXPECT_TRUE(eventually([&] { return client.get(path).header("Wardcase-Run-State") == "ended"; }));
  const std::vector<Record> events = events_of(client.get(path + "/events").body);
  ASSERT_GT(events.size(), 2U);
  EXPECT_EQ(events.front().text("type"), "progress");
  EXPECT_EQ(events.front().number("dropped"), events.front().number("seq"));
  EXPECT_EQ(events[1].number("seq"), *events.front().number("seq") + 1);
  EXPECT_EQ(events.back().number("stdout_bytes"), (12 << 20) + 5);
}

TEST_P(ServeStreams, ASignalEndsStreamsWithTheirLastEvents) {
  Service service = start({"--max-runs", "1"});
  HttpClient running = service.client();
  HttpClient waiting = service.client();
  begin_stream(running, R"({"argv": ["sleep", "60"]})");
  ASSERT_TRUE(comes_to_run("sleep"));
  begin_stream(waiting, R"({"argv": ["true"]})");
  service.process().signal(SIGTERM);
  const Record given_up = Record::parse(waiting.next_line());
  EXPECT_EQ(given_up.text("type"), "error");
  EXPECT_EQ(given_up.text("code"), "draining");
  EXPECT_EQ(waiting.next_line(), "");
  (void)running.next_line();
  EXPECT_EQ(Record::parse(running.next_line()).status(), "stopped");
  EXPECT_EQ(service.stop().exit_code, 0);
}

TEST_P(ServeStreams, AStreamWithoutNewsTellsThatItIsThere) {
  const Service service = start();
  HttpClient lines = service.client();
  HttpClient server_sent = service.client();
  begin_stream(lines, R"({"argv": ["sleep", "60"]})");
  begin_stream(server_sent, R"({"argv": ["sleep", "60"]})", kServerSent);
  (void)lines.next_line();
  for (int i = 0; i < 3; ++i) (void)server_sent.next_line();
  EXPECT_EQ(lines.next_line(), "{\"type\":\"ping\"}\n");
  EXPECT_EQ(server_sent.next_line(), ": ping\n");
}

// curl --http1.0, and others that know no chunks.
TEST_P(ServeStreams, AnOldClientReadsUntilTheConnectionEnds) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string body = code_body("bash", "echo old");
  ASSERT_TRUE(
      client.send("POST /v1/runs HTTP/1.0\r\nAccept: application/x-ndjson\r\n"
                  "Content-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body));
  const HttpAnswer head = client.receive_head();
  EXPECT_EQ(head.header("Transfer-Encoding"), "");
  EXPECT_EQ(head.header("Connection"), "close");
  EXPECT_TRUE(client.is_hung_up_on());
}

TEST_P(ServeStreams, AHeadHasNoBody) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string path = begin_async(client, R"({"argv": ["true"]})");
  ASSERT_TRUE(client.send("HEAD " + path + "/events HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(client.receive_head().status, 200);
  EXPECT_EQ(client.get("/livez").status, 200);
}

}  // namespace
}  // namespace wardcase::test

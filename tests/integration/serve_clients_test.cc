// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Clients of the service that are wrong, slow, too many or gone: none of them ends it, or
// keeps it from the others.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using ServeClients = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeClients);

// What everybody else gets meanwhile.
void expect_served(const Service& service) {
  EXPECT_EQ(service.run(code_body("bash", "echo served")).out(), "served\n");
}

struct Refused {
  std::string sent;
  int status;
};

TEST_P(ServeClients, WhatIsNoRequestIsRefusedAndHungUpOn) {
  const Service service = start({"--max-body", "1k"});
  const std::string post = "POST /v1/runs HTTP/1.1\r\nHost: a\r\n";
  for (const Refused& refused : std::vector<Refused>{
           {"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400},
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
           {"GET /livez HTTP/1.1\r\n\r\n", 400},
           {"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
           {"GET /livez HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", 431},
           {"GET /" + std::string(20'000, 'x'), 431},
           {post + "Content-Length: 1025\r\n\r\n", 413},
           {post + "Content-Length: -1\r\n\r\n", 400},
           {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
           {post + "Transfer-Encoding: chunked\r\n\r\n401\r\n" + std::string(1025, ' ') + "\r\n",
            413},
           {post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
           {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
           {post + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", 400},
           {post + "Content-Length: 2\r\nExpect: miracles\r\n\r\n", 417},
       }) {
    HttpClient client = service.client();
    (void)client.send(refused.sent);
    const HttpAnswer answer = client.receive();
    EXPECT_EQ(answer.status, refused.status) << refused.sent.substr(0, 100) << "\n" << answer;
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_TRUE(client.is_hung_up_on()) << refused.sent.substr(0, 100);
  }
  expect_served(service);
}

TEST_P(ServeClients, ABodyOfAnotherTypeIsRefusedAndTheConnectionKept) {
  const Service service = start();
  HttpClient client = service.client();
  ASSERT_TRUE(
      client.send("POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Type: "
                  "text/plain\r\nContent-Length: 2\r\n\r\n{}"));
  EXPECT_EQ(client.receive().status, 415);
  EXPECT_EQ(client.get("/livez").status, 200);
}

TEST_P(ServeClients, ABodyComesInChunksOrAfterAWordAsTheClientLikes) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string body = code_body("bash", "echo came");
  const std::string head =
      "POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json; charset=utf-8\r\n";
  ASSERT_TRUE(client.send(head + "Transfer-Encoding: chunked\r\n\r\n"));
  for (const char letter : body) {
    ASSERT_TRUE(client.send("1\r\n" + std::string(1, letter) + "\r\n"));
  }
  ASSERT_TRUE(client.send("0\r\n\r\n"));
  EXPECT_EQ(client.receive().json().out(), "came\n");
  ASSERT_TRUE(client.send(head + "Expect: 100-continue\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\n\r\n"));
  EXPECT_EQ(client.receive_head().status, 100);
  ASSERT_TRUE(client.send(body));
  EXPECT_EQ(client.receive().json().out(), "came\n");
}

TEST_P(ServeClients, WhoSendsTooSlowlyIsToldAndHungUpOn) {
  const Service service =
      start({"--header-timeout", "300ms", "--body-timeout", "300ms", "--idle-timeout", "400ms"});
  HttpClient in_head = service.client();
  HttpClient in_body = service.client();
  HttpClient silent = service.client();
  ASSERT_TRUE(in_head.send("GET /livez HT"));
  ASSERT_TRUE(in_body.send("POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"));
  expect_served(service);
  for (HttpClient* client : {&in_head, &in_body}) {
    const HttpAnswer answer = client->receive();
    EXPECT_EQ(answer.status, 408) << answer;
    EXPECT_TRUE(client->is_hung_up_on());
  }
  EXPECT_TRUE(silent.is_hung_up_on());
  expect_served(service);
}

// A byte now and then is no way to stay.
TEST_P(ServeClients, WhoTricklesGetsNoMoreTime) {
  const Service service = start({"--header-timeout", "500ms"});
  HttpClient client = service.client();
  bool is_over = false;
  for (int i = 0; i < 400 && !is_over; ++i)
    is_over = !client.send("G") || client.is_hung_up_on(25ms);
  EXPECT_TRUE(is_over);
  expect_served(service);
}

TEST_P(ServeClients, WhoTakesNoAnswerHoldsUpNobodyAndIsHungUpOn) {
  Service service = start({"--send-timeout", "500ms"});
  std::vector<HttpClient> greedy;
  for (int i = 0; i < 3; ++i) {
    greedy.push_back(service.client());
    ASSERT_TRUE(greedy.back().send(run_request(code_body("bash", "head -c 512K /dev/zero"))));
  }
  expect_served(service);
  // Each answer is longer than what the kernel holds of it; what is missing never comes.
  for (HttpClient& client : greedy) {
    HttpClient watcher = service.client();
    ASSERT_TRUE(comes_to_end("head"));
    expect_served(service);
    EXPECT_TRUE(eventually([&] { return !client.send("x"); }));
  }
}

// What clients make the service hold is bounded in all, not for each of them alone.
TEST_P(ServeClients, OfAnswersThatNobodyTakesTheLongestGoes) {
  const Service service = start({"--max-held", "2m"});
  const auto body = [](const std::string& size) {
    return code_body("bash", "head -c " + size + " /dev/zero",
                     R"("limits": {"capture_bytes": 4194304})");
  };
  HttpClient honest = service.client();
  ASSERT_TRUE(honest.send(run_request(body("1M"))));
  // It begins to come, and the rest waits.
  EXPECT_EQ(honest.receive_head().status, 200);
  HttpClient later = service.client();
  ASSERT_TRUE(later.send(run_request(body("4M"))));
  EXPECT_TRUE(later.is_hung_up_on());
  EXPECT_TRUE(honest.send("x"));
  honest.hang_up();
  HttpClient earlier = service.client();
  ASSERT_TRUE(earlier.send(run_request(body("4M"))));
  EXPECT_EQ(earlier.receive_head().status, 200);
  HttpClient next = service.client();
  ASSERT_TRUE(next.send(run_request(body("1M"))));
  EXPECT_EQ(next.receive_head().status, 200);
  EXPECT_TRUE(eventually([&] { return !earlier.send("x"); }));
  EXPECT_TRUE(next.send("x"));
  expect_served(service);
}

TEST_P(ServeClients, OfRequestsThatDoNotEndTheLongestIsRefused) {
  const Service service = start({"--max-held", "2m"});
  HttpClient small = service.client();
  HttpClient large = service.client();
  const std::string head = "POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n";
  ASSERT_TRUE(small.send(head + std::string(1 << 20, ' ')));
  (void)large.send(head + std::string(3 << 20, ' '));
  const HttpAnswer refused = large.receive();
  EXPECT_EQ(refused.status, 503) << refused;
  EXPECT_EQ(refused.json().text("code"), "too_busy");
  EXPECT_TRUE(small.send(" "));
  expect_served(service);
}

TEST_P(ServeClients, WhenDescriptorsAreUsedUpTheyAreToldToComeAgain) {
  Service service = start();
  expect_served(service);
  std::string files;
  for (int i = 0; i < 256; ++i) {
    files += (i == 0 ? "\"" : ", \"") + std::to_string(i) + R"(": "x")";
  }
  const std::string body = code_body("bash", "echo $(ls | wc -l)", "\"files\": {" + files + "}");
  // Its owner may do so, whatever our root is.
  const auto allow = [&](rlim_t descriptors) {
    return Command::other(caller(),
                          {"/usr/bin/prlimit", "--pid", std::to_string(service.process().pid()),
                           "--nofile=" + std::to_string(descriptors) + ":"})
        .finish()
        .exit_code;
  };
  rlimit ours = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  ASSERT_EQ(allow(100), 0);
  const HttpAnswer refused = service.client().post("/v1/runs", body);
  EXPECT_EQ(refused.status, 503) << refused;
  EXPECT_EQ(refused.json().text("code"), "too_busy");
  EXPECT_EQ(refused.header("Retry-After"), "1");
  ASSERT_EQ(allow(ours.rlim_max), 0);
  EXPECT_NE(service.run(body).out(), "");
}

// A refused one reads its answer, and sends on; what it sent holds nothing any more.
TEST_P(ServeClients, OfManyRequestsThatDoNotEndAsManyAreRefusedAsAreTooMuch) {
  const Service service = start({"--max-held", "2m"});
  std::vector<HttpClient> clients;
  const std::string head = "POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n";
  for (int i = 0; i < 6; ++i) {
    clients.push_back(service.client());
    (void)clients.back().send(head + std::string(1'500'000, ' '));
  }
  int refused = 0;
  for (HttpClient& client : clients) {
    if (client.receive(2s).status == 503) ++refused;
  }
  EXPECT_EQ(refused, 5);
  expect_served(service);
}

TEST_P(ServeClients, ThoseBeyondTheirNumberAreToldToComeAgain) {
  const Service service = start({"--max-connections", "2"});
  HttpClient first = service.client();
  HttpClient second = service.client();
  for (HttpClient* client : {&first, &second}) {  // in the middle of something
    ASSERT_TRUE(client->send(
        "POST /v1/runs HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"));
    ASSERT_EQ(client->receive_head().status, 100);
  }
  const HttpAnswer refused = service.client().get("/livez");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.json().text("code"), "too_many_connections");
  EXPECT_EQ(refused.header("Retry-After"), "1");
  first.hang_up();
  EXPECT_TRUE(eventually([&] { return service.client().get("/livez").status == 200; }));
}

// The one that has said nothing for longest goes.
TEST_P(ServeClients, IdleOnesMakeRoomForNewOnes) {
  const Service service = start({"--max-connections", "2"});
  HttpClient first = service.client();
  EXPECT_EQ(first.get("/livez").status, 200);
  HttpClient second = service.client();
  EXPECT_EQ(second.get("/livez").status, 200);
  HttpClient third = service.client();
  EXPECT_EQ(third.get("/livez").status, 200);
  EXPECT_TRUE(first.is_hung_up_on());
  EXPECT_EQ(second.get("/livez").status, 200);
}

TEST_P(ServeClients, ManyThatComeAndGoLeaveNothing) {
  Service service = start();
  const std::string descriptors = "/proc/" + std::to_string(service.process().pid()) + "/fd";
  const auto count = [&] {
    std::error_code error;
    return std::distance(std::filesystem::directory_iterator(descriptors, error),
                         std::filesystem::directory_iterator());
  };
  expect_served(service);
  const auto before = count();
  for (int i = 0; i < 200; ++i) {
    HttpClient client = service.client();
    switch (i % 4) {
      case 0:
        break;
      case 1:
        EXPECT_TRUE(client.send("GET /li"));
        break;
      case 2:
        EXPECT_TRUE(client.send(run_request(R"({"argv": ["sleep", "60"]})")));
        break;
      default:
        EXPECT_EQ(client.get("/livez").status, 200);
    }
  }
  ASSERT_TRUE(comes_to_end("sleep") || comes_to_end("sleep"));
  EXPECT_TRUE(eventually([&] { return count() <= before; })) << before << " before, " << count();
  expect_served(service);
}

}  // namespace
}  // namespace wardcase::test

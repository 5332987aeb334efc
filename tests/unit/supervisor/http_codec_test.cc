// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/http_codec.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

using State = RequestReader::State;

constexpr RequestReader::Most kMost = {.header_bytes = 256, .body_bytes = 32};
constexpr std::string_view kPost =
    "POST /v1/runs?a=b HTTP/1.1\r\nHost: box\r\nX-Twice: 1\r\nx-twice: 2\r\nContent-Length: "
    "4\r\n\r\n";

TEST(RequestReader, ReadsARequestAndLeavesWhatIsBehindIt) {
  RequestReader reader(kMost);
  const std::string text = std::string(kPost) + "bodyGET /";
  EXPECT_EQ(reader.feed(text), text.size() - 5);
  ASSERT_EQ(reader.state(), State::complete);
  const HttpRequest request = reader.take();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/runs?a=b");
  EXPECT_EQ(request.body, "body");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(*request.header("host"), "box");
  EXPECT_EQ(request.count("x-twice"), 2U);
  EXPECT_EQ(request.header("x-other"), nullptr);
}

TEST(RequestReader, IsTheSameByteByByte) {
  RequestReader reader(kMost);
  std::string input;
  for (const char byte : std::string(kPost) + "body") {
    input += byte;
    input.erase(0, reader.feed(input));
  }
  ASSERT_EQ(reader.state(), State::complete);
  EXPECT_EQ(reader.take().body, "body");
}

TEST(RequestReader, TellsHowFarItIs) {
  RequestReader reader(kMost);
  EXPECT_EQ(reader.feed("\r\n\r"), 2U);  // an empty line, and perhaps another
  EXPECT_EQ(reader.state(), State::nothing_yet);
  EXPECT_EQ(reader.feed("POST"), 0U);
  EXPECT_EQ(reader.state(), State::in_head);
  EXPECT_EQ(reader.feed(kPost), kPost.size());
  EXPECT_EQ(reader.state(), State::in_body);
  EXPECT_FALSE(reader.expects_continue());
}

TEST(RequestReader, HearsThatTheClientWaitsForAWord) {
  RequestReader reader(kMost);
  (void)reader.feed(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(reader.state(), State::in_body);
  EXPECT_TRUE(reader.expects_continue());
}

TEST(RequestReader, KnowsWhetherTheConnectionGoesOn) {
  const auto keeps_alive = [](std::string_view text) {
    RequestReader reader(kMost);
    (void)reader.feed(text);
    EXPECT_EQ(reader.state(), State::complete) << text;
    return reader.take().keep_alive;
  };
  EXPECT_TRUE(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps_alive("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps_alive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

int status_of(const std::string& text) {
  RequestReader reader(kMost);
  (void)reader.feed(text);
  EXPECT_EQ(reader.state(), State::failed) << text;
  EXPECT_FALSE(reader.failure().detail.empty());
  return reader.failure().status;
}

TEST(RequestReader, TheMostOfAHeadDoesNotDependOnHowItArrives) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  for (const std::size_t size : {256U, 257U}) {
    const std::string text = begin + std::string(size - begin.size() - 4, 'x') + "\r\n\r\n";
    for (const std::size_t piece : {1U, 7U, 100U, 1000U}) {
      RequestReader reader(kMost);
      std::string input;
      for (std::size_t at = 0; at < text.size() && reader.state() < State::complete; at += piece) {
        input += text.substr(at, piece);
        input.erase(0, reader.feed(input));
      }
      EXPECT_EQ(reader.state(), size == 256 ? State::complete : State::failed) << size << piece;
    }
  }
}

TEST(RequestReader, RefusesWhatIsTooLong) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(256, 'x') + "\r\n\r\n"),
            431);
  EXPECT_EQ(status_of("GET /" + std::string(256, 'x')), 431);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 33\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n21\r\n" +
                      std::string(33, 'x')),
            413);
}

// Two readers of one message that disagree about its end see two different next ones.
TEST(RequestReader, RefusesALengthThatIsToldInTwoWays) {
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status_of(post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 400);
  EXPECT_EQ(status_of(post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            400);
  EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n"),
            400);
  EXPECT_EQ(status_of(post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501);
  EXPECT_EQ(status_of(post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 501);
  EXPECT_EQ(status_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(status_of(post + "Content-Length: +1\r\n\r\na"), 400);
  EXPECT_EQ(status_of(post + "Content-Length : 1\r\n\r\na"), 400);
}

TEST(RequestReader, RefusesOtherProtocols) {
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("\x16\x03\x01\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n"), 417);
}

TEST(ResponseHead, HasTheLengthAndWhetherItIsTheLast) {
  HttpResponse response;
  response.status = 429;
  response.body = "abc";
  response.headers.emplace_back("Retry-After", "1");
  const std::string open = response_head(response, Afterwards::keep_open);
  EXPECT_EQ(open.find("HTTP/1.1 429 "), 0U);
  EXPECT_NE(open.find("\r\nContent-Length: 3\r\n"), std::string::npos) << open;
  EXPECT_NE(open.find("\r\nRetry-After: 1\r\n"), std::string::npos) << open;
  EXPECT_EQ(open.find("Connection:"), std::string::npos) << open;
  const std::string closed = response_head(response, Afterwards::close);
  EXPECT_NE(closed.find("\r\nConnection: close\r\n"), std::string::npos) << closed;
  EXPECT_TRUE(closed.ends_with("\r\n\r\n"));
}

// A header's value may come from a name that somebody chose.
TEST(ResponseHead, ValuesCantBeginAnotherLine) {
  HttpResponse response;
  response.headers.emplace_back("X", "a\r\nSet-Cookie: b");
  EXPECT_EQ(response_head(response, Afterwards::close).find("\r\nSet-Cookie"), std::string::npos);
}

}  // namespace
}  // namespace wardcase::supervisor

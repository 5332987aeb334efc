// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_terms.h"

#include <gtest/gtest.h>

#include <array>

#include "supervisor/server/byte_range.h"
#include "supervisor/server/request_target.h"

namespace wardcase::supervisor {
namespace {

constexpr std::array kAll = {AnswerKind::json, AnswerKind::ndjson, AnswerKind::sse};

HttpRequest with(std::string name, std::string value) {
  HttpRequest request;
  request.headers.emplace_back(std::move(name), std::move(value));
  return request;
}

std::string chosen(const std::string& accept) {
  const auto kind = choose_kind(with("accept", accept), kAll);
  return kind ? std::string(media_type_of(*kind)) : "none";
}

TEST(RequestTerms, ChooseWhatTheClientLikesBest) {
  EXPECT_EQ(choose_kind(HttpRequest(), kAll), AnswerKind::json);
  EXPECT_EQ(chosen("*/*"), "application/json");
  EXPECT_EQ(chosen("text/*"), "text/event-stream");
  EXPECT_EQ(chosen("text/html, application/x-ndjson"), "application/x-ndjson");
  EXPECT_EQ(chosen("application/json;q=0.5, Text/Event-Stream;q=0.75"), "text/event-stream");
  EXPECT_EQ(chosen("application/json;q=0, */*;q=0.1"), "application/json");
  EXPECT_EQ(chosen("text/html"), "none");
  EXPECT_EQ(chosen("text/event-stream;q=0.000"), "none");
}

TEST(RequestTerms, AnAnswerIsNotWaitedForWhereThatIsSaid) {
  EXPECT_TRUE(prefers_async(with("prefer", "wait=5, Respond-Async; x=1")));
  EXPECT_FALSE(prefers_async(with("prefer", "no-respond-async")));
  EXPECT_FALSE(prefers_async(HttpRequest()));
}

TEST(RequestTerms, AKeyIsPrintableAndNotTooLong) {
  EXPECT_EQ(idempotency_key(HttpRequest()).value(), "");
  EXPECT_EQ(idempotency_key(with("idempotency-key", " \"a-1\" ")).value(), "a-1");
  EXPECT_EQ(idempotency_key(with("idempotency-key", std::string(255, 'x'))).value().size(), 255U);
  for (const std::string& wrong : {std::string(256, 'x'), std::string(), std::string("\"\""),
                                   std::string("a b"), std::string("\xc3\xa9")}) {
    const auto key = idempotency_key(with("idempotency-key", wrong));
    ASSERT_FALSE(key) << wrong;
    EXPECT_EQ(key.error().code, "invalid_header");
  }
}

TEST(RequestTerms, ATraceIsTakenOnlyWhereItIsOne) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const std::string parent = "b7ad6b7169203331";
  const auto trace_of = [](const std::string& text) { return trace_id(with("traceparent", text)); };
  EXPECT_EQ(trace_of("00-" + trace + "-" + parent + "-01"), trace);
  EXPECT_EQ(trace_of("cc-" + trace + "-" + parent + "-01-what-will-be"), trace);
  for (const std::string& wrong :
       {std::string(), "00-" + trace + "-" + parent, "ff-" + trace + "-" + parent + "-01",
        "00-" + trace + "-" + parent + "-01-more",
        "00-" + std::string(32, '0') + "-" + parent + "-01",
        "00-" + trace + "-" + std::string(16, '0') + "-01", "00-" + trace + "-" + parent + "-0x",
        "00_" + trace + "-" + parent + "-01"}) {
    EXPECT_EQ(trace_of(wrong), "") << wrong;
  }
  const std::string own = own_traceparent(trace);
  EXPECT_EQ(trace_of(own), trace);
  EXPECT_NE(own_traceparent(trace), own);
  EXPECT_EQ(trace_of(own_traceparent("")).size(), 32U);
}

TEST(RequestTarget, IsPathAndParameters) {
  EXPECT_EQ(path_of("/v1/runs?after=1"), "/v1/runs");
  EXPECT_EQ(path_of("http://box/livez?x"), "/livez");
  EXPECT_EQ(path_of("http://box"), "/");
  EXPECT_EQ(path_of("*"), "*");
  EXPECT_EQ(parameter_of("/a?x=1&after=22&y", "after"), "22");
  EXPECT_EQ(parameter_of("/a?y", "y"), "");
  EXPECT_EQ(parameter_of("/a?before=1", "after"), std::nullopt);
  EXPECT_EQ(parameter_of("/a", "a"), std::nullopt);
}

TEST(RequestTarget, MatchesOneSegment) {
  std::string_view rest;
  std::string_view id;
  EXPECT_TRUE(matches("/v1/runs", "/v1/runs", id, rest));
  EXPECT_TRUE(matches("/v1/runs/run_x/events", "/v1/runs/{id}/events", id, rest));
  EXPECT_EQ(id, "run_x");
  for (const char* path : {"/v1/runs/", "/v1/runs//events", "/v1/runs/a/b/events", "/v1/runs/a"}) {
    EXPECT_FALSE(matches(path, "/v1/runs/{id}/events", id, rest)) << path;
  }
  EXPECT_FALSE(matches("/v1/runs/", "/v1/runs/{id}", id, rest));
  constexpr std::string_view kFile = "/v1/sessions/{id}/files/{path}";
  EXPECT_TRUE(matches("/v1/sessions/s/files/d/a.csv", kFile, id, rest));
  EXPECT_EQ(id, "s");
  EXPECT_EQ(rest, "d/a.csv");
  for (const auto* const path :
       {"/v1/sessions/s/files/", "/v1/sessions/s/files", "/v1/sessions//files/x",
        "/v1/sessions/s/t/files/x", "/v1/sessions/s/filesx/x"}) {
    EXPECT_FALSE(matches(path, kFile, id, rest)) << path;
  }
}

TEST(RequestTarget, DecodesPercents) {
  EXPECT_EQ(percent_decode("a%20b/%C3%a4+"), "a b/\xc3\xa4+");
  for (const auto* const text : {"%", "%4", "%zz", "%-1", "a%+1"}) {
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  }
}

std::string told(const ByteRange& range) {
  if (range.kind == ByteRange::Kind::unsatisfiable) return "none";
  return (range.kind == ByteRange::Kind::whole ? "whole " : "") + std::to_string(range.offset) +
         "+" + std::to_string(range.length);
}

TEST(ByteRange, IsOnePartOfTheFile) {
  const std::pair<const char*, const char*> expected[] = {
      {"bytes=0-9", "0+10"},
      {"bytes=90-", "90+10"},
      {"bytes=-5", "95+5"},
      {"bytes=-500", "0+100"},
      {"bytes=99-99999999999999999999999", "99+1"},
      {"bytes=100-", "none"},
      {"bytes=-0", "none"},
      {"", "whole 0+100"},
      {"lines=1-2", "whole 0+100"},
      {"bytes=5-2", "whole 0+100"},
      {"bytes=a-b", "whole 0+100"},
      {"bytes=0-1,3-4", "whole 0+100"},
      {"bytes=-", "whole 0+100"},
      {"bytes= 1-2", "whole 0+100"},
  };
  for (const auto& [header, range] : expected) EXPECT_EQ(told(parse_range(header, 100)), range);
  EXPECT_EQ(told(parse_range("bytes=0-", 0)), "none");
  EXPECT_TRUE(names_tag("\"a\", \"b\"", "\"b\""));
  EXPECT_TRUE(names_tag("*", "\"b\""));
  EXPECT_FALSE(names_tag("\"ab\"", "\"b\""));
}

}  // namespace
}  // namespace wardcase::supervisor

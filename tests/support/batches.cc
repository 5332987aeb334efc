// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/batches.h"

#include <gtest/gtest.h>

namespace wardcase::test {

namespace {

// Interpreters take long to begin where a machine is emulated.
constexpr std::chrono::seconds kPatience{300};

}  // namespace

std::string batch_of(const std::string& program, const std::string& more) {
  return R"({"program": )" + program + ", " + more + "}";
}

std::string batch_request(std::string_view body, std::string_view more_headers) {
  return "POST /v1/batches HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
         std::string(more_headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

Record run_batch(const Service& service, const std::string& body) {
  HttpClient client = service.client();
  EXPECT_TRUE(client.send(batch_request(body)));
  const HttpAnswer answer = client.receive(kPatience);
  EXPECT_EQ(answer.status, 200) << answer;
  return answer.json();
}

Verdicts verdicts_of(const Record& batch) {
  Verdicts verdicts;
  for (std::size_t i = 0; batch.has("cases." + std::to_string(i)); ++i) {
    const std::string at = "cases." + std::to_string(i);
    EXPECT_EQ(batch.number(at + ".index"), static_cast<std::int64_t>(i));
    verdicts.push_back(batch.text(at + ".verdict"));
  }
  return verdicts;
}

}  // namespace wardcase::test

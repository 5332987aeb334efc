// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What the service says of this host, and that its description of itself is true.
#include <gtest/gtest.h>

#include "tests/support/openapi.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using ServeDescribed = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeDescribed);

TEST_P(ServeDescribed, AnswersAreAsItsDescriptionSays) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string openapi = client.get("/openapi.json").body;
  EXPECT_EQ(Record::parse(openapi).text("openapi"), "3.1.0");
  const std::string body = code_body("bash", "echo out; echo err >&2; exit 1");
  std::vector<DescribedJson> all = {{"Status", client.get("/livez").body},
                                    {"Status", client.get("/readyz").body},
                                    {"Version", client.get("/v1/version").body},
                                    {"Languages", client.get("/v1/languages").body},
                                    {"Policies", client.get("/v1/policies").body},
                                    {"Limits", client.get("/v1/limits").body},
                                    {"Checks", client.get("/v1/doctor").body},
                                    {"RunRequest", body}};
  const std::string_view lines = "Accept: application/x-ndjson\r\n";
  const auto add_lines = [&](const std::string& schema, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      all.push_back({schema, text.substr(at, end - at)});
      at = end + 1;
    }
  };
  const HttpAnswer events = client.post("/v1/runs", body, lines);
  add_lines("Event", events.body);
  all.push_back({"Record", client.get(events.header("Content-Location")).body});
  all.push_back({"RunList", client.get("/v1/runs").body});
  all.push_back({"RunSummary", client.post("/v1/runs", body, "Prefer: respond-async\r\n").body});
  const std::string batch = R"({"program": )" + body +
                            R"(, "comparator": {"type": "float", "abs": 0.5}, "cases": [)"
                            R"({"expected_stdout": "out", "comparator": "exact"}]})";
  all.push_back({"BatchRequest", batch});
  all.push_back({"Batch", client.post("/v1/batches", batch).body});
  const std::string ready = R"({"program": {"argv": ["true"]}, "cases": [{}]})";
  add_lines("BatchEvent", client.post("/v1/batches", ready, lines).body);
  all.push_back(
      {"RunSummary", client.post("/v1/batches", ready, "Prefer: respond-async\r\n").body});
  all.push_back({"Problem", client.get("/v1/batches/bat_x").body});
  for (const char* wrong : {"{", "{}", R"({"argv": ["x"], "code": "1"})"}) {
    all.push_back({"Problem", client.post("/v1/runs", wrong).body});
  }
  all.push_back({"Problem", client.get("/nowhere").body});
  all.push_back({"Problem", client.get("/v1/runs/run_x").body});
  std::string expected;
  for (const DescribedJson& each : all) expected += "checked " + each.schema + "\n";
  const Outcome outcome = judge_described(caller(), openapi, all);
  EXPECT_EQ(outcome.out(), expected) << outcome;
}

TEST_P(ServeDescribed, AnswersOfSessionsAreAsItsDescriptionSays) {
  const Service service = start();
  HttpClient client = service.client();
  const std::string openapi = client.get("/openapi.json").body;
  const std::string asked = R"({"id": "s", "language": "bash", "idle_ttl_ms": null})";
  const std::string program = program_body("touch f; mkdir d", R"("name": "x.sh")");
  std::vector<DescribedJson> all = {{"SessionRequest", asked}, {"ProgramRequest", program}};
  all.push_back({"Session", client.post("/v1/sessions", asked).body});
  all.push_back({"Problem", client.post("/v1/sessions", asked).body});
  all.push_back({"Session", client.get("/v1/sessions/s").body});
  all.push_back({"Problem", client.get("/v1/sessions/s/files/f").body});
  const HttpAnswer record = client.post("/v1/sessions/s/exec", program);
  all.push_back({"Record", record.body});
  all.push_back({"Record", client.get(record.header("Content-Location")).body});
  all.push_back({"RunSummary",
                 client.post("/v1/sessions/s/exec", program, "Prefer: respond-async\r\n").body});
  all.push_back({"SessionList", client.get("/v1/sessions").body});
  all.push_back({"Files", client.get("/v1/sessions/s/files").body});
  all.push_back({"Problem", client.get("/v1/sessions/s/files/d").body});
  all.push_back({"Problem", client.get("/v1/sessions/s/files/f", "Range: bytes=9-\r\n").body});
  std::string expected;
  for (const DescribedJson& each : all) expected += "checked " + each.schema + "\n";
  const Outcome outcome = judge_described(caller(), openapi, all);
  EXPECT_EQ(outcome.out(), expected) << outcome;
}

TEST_P(ServeDescribed, TheHostIsToldAsByTheCommands) {
  const Service service = start();
  HttpClient client = service.client();
  const Outcome languages = Command(caller(), {"languages", "--json"}).finish();
  EXPECT_EQ(client.get("/v1/languages").body, languages.out());
  EXPECT_EQ(client.get("/v1/doctor").json().text("checks.0.name"), "kernel");
  const Record policies = client.get("/v1/policies").json();
  EXPECT_NE(policies.json("policies").find("\"name\":\"strict\""), std::string::npos);
  const Record limits = client.get("/v1/limits").json();
  EXPECT_EQ(limits.number("limits.timeout_ms.default"), 60'000);
  EXPECT_EQ(limits.number("limits.timeout_ms.maximum"), 600'000);
  EXPECT_EQ(limits.number("limits.cpus.default"), 1);
  EXPECT_TRUE(limits.is_null("limits.idle_timeout_ms.default"));
}

// Which looks at the host for a while.
TEST_P(ServeDescribed, OthersAreServedWhileTheHostIsLookedAt) {
  const Service service = start();
  HttpClient looking = service.client();
  HttpClient gone = service.client();
  ASSERT_TRUE(looking.send("GET /v1/doctor HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(gone.send("GET /v1/doctor HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_EQ(service.client().get("/livez").status, 200);
  gone.hang_up();
  EXPECT_EQ(looking.receive().status, 200);
  EXPECT_EQ(service.client().get("/livez").status, 200);
}

}  // namespace
}  // namespace wardcase::test

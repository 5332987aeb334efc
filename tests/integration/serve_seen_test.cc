// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What is seen of the service from outside: its counters, its log and its audit log, in none of
// which is what programs are and are given.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

constexpr const char* kCode = "echo out; exit 3";
constexpr const char* kSumOfCode =
    "33ed16f78487f75548fb9d7bb2c7bc9ad39ef571a1e5c1323a428a7c983134e5";

class ServeSeen : public Serving {
 protected:
  [[nodiscard]] std::filesystem::path audit_log() const {
    return lasting_.path() / "state/wardcase/audit/audit.log";
  }
  [[nodiscard]] std::string audit() const {
    std::ostringstream text;
    text << std::ifstream(audit_log()).rdbuf();
    return text.str();
  }
  [[nodiscard]] Service begin() const { return {caller(), lasting_}; }

 private:
  ScratchDirectory lasting_{caller()};
};
WARDCASE_AS_ROOT_AND_USER(ServeSeen);

TEST_P(ServeSeen, MetricsCountRunsByLanguageAndStatus) {
  const Service service = begin();
  (void)service.run(code_body("bash", kCode));
  (void)service.run(code_body("bash", "sleep 600", R"("limits": {"timeout_ms": 100})"));
  const HttpAnswer answer = service.client().get("/metrics");
  EXPECT_EQ(answer.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"wardcase_runs_total{language=\"bash\",status=\"exited\"} 1\n",
        "wardcase_runs_total{language=\"bash\",status=\"timeout\"} 1\n",
        "wardcase_run_seconds_count 2\n", "wardcase_queue_seconds_count 2\n",
        "wardcase_setup_seconds_count 2\n", "wardcase_output_bytes_total{stream=\"stdout\"} 4\n",
        "wardcase_boxes{state=\"running\"} 0\n", "wardcase_connections 1\n",
        "wardcase_ready 1\n"}) {
    EXPECT_NE(answer.body.find(line), std::string::npos) << line << answer.body;
  }
}

TEST_P(ServeSeen, TheAuditLogTellsWhoRanWhatAndWhatBecameOfIt) {
  {
    const Service service = begin();
    const Record record =
        service.run(code_body("bash", kCode, R"("env": {"NAME": "a-secret-value"})"));
    const Record line = Record::parse(audit());
    EXPECT_EQ(line.text("id"), record.text("id")) << line;
    EXPECT_EQ(line.text("owner"), "uid:" + std::to_string(::geteuid())) << line;
    EXPECT_EQ(line.text("code_sha256"), kSumOfCode) << line;
    EXPECT_EQ(line.text("policy"), "default");
    EXPECT_EQ(line.text("network"), "none");
    EXPECT_EQ(line.text("status"), "exited");
    EXPECT_EQ(line.number("exit_code"), 3);
    EXPECT_EQ(line.number("stdout_bytes"), 4);
    EXPECT_EQ(line.number("limits.timeout_ms"), record.number("limits.timeout_ms"));
  }
  EXPECT_EQ(audit().find("a-secret-value"), std::string::npos);
  EXPECT_EQ(audit().find("echo out"), std::string::npos);
  struct stat info = {};
  ASSERT_EQ(::stat(audit_log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_P(ServeSeen, TheAuditLogIsAppendedToByTheNextService) {
  for (int lives = 1; lives <= 2; ++lives) {
    const Service service = begin();
    (void)service.run(code_body("bash", "true"));
    const std::string text = audit();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), lives) << text;
  }
}

TEST_P(ServeSeen, ItsLogIsLinesOfJson) {
  Service service = begin();
  const Record record =
      service.run(code_body("bash", kCode, R"("env": {"NAME": "a-secret-value"}, "base64": true)"));
  std::istringstream lines(service.stop().err());
  Record last;
  for (std::string line; std::getline(lines, line);) {
    last = Record::parse(line);
    EXPECT_TRUE(last.has("time")) << line;
    EXPECT_EQ(line.find("a-secret-value"), std::string::npos);
    if (last.has("run")) {
      EXPECT_EQ(last.text("run"), record.text("id"));
    }
  }
  EXPECT_EQ(last.text("message"), "ended without success");
  EXPECT_EQ(last.text("status"), "exited");
}

// Whoever started it does not read what it says, and later does.
TEST_P(ServeSeen, ALogThatNobodyReadsHoldsUpNothingAndTellsWhatIsMissing) {
  Service service = begin();
  std::string long_name;  // which the error has, and so the log
  while (long_name.size() < 2000) long_name += "/name";
  for (int i = 0; i < 80; ++i) (void)service.run(R"({"argv": [")" + long_name + "\"]}");
  EXPECT_TRUE(service.process().wait_for(Channel::err, "ended without success"));
  EXPECT_TRUE(eventually([&] {
    (void)service.run(R"({"argv": ["true"]})");
    return service.process().wait_for(Channel::err, " lines were left out",
                                      std::chrono::seconds(1));
  }));
}

}  // namespace
}  // namespace wardcase::test

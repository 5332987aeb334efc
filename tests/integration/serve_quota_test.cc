// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// How much one caller gets of the service, and that it costs the others nothing.
#include <gtest/gtest.h>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

constexpr uid_t kGreedy = 65500;
constexpr uid_t kModest = 65501;

class ServeQuota : public Serving {
 protected:
  const OwnConfiguration configuration_{caller()};
};
WARDCASE_AS_ROOT_AND_USER(ServeQuota);

TEST_P(ServeQuota, WhoHasHisManyRunsWaitsForThemAndHoldsUpNobody) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be several accounts";
  configuration_.write("[quota.default]\nrunning = 1\nqueued = 2\n[quota.65501]\nqueued = 5\n");
  const Service service(caller(), {"--max-runs", "3"}, configuration_.variable());
  std::vector<HttpClient> greedy;
  for (int i = 0; i < 3; ++i) {
    greedy.push_back(service.client_as(kGreedy));
    ASSERT_TRUE(greedy.back().send(run_request(R"({"argv": ["sleep", "60"]})")));
  }
  ASSERT_TRUE(comes_to_run("sleep"));
  HttpClient late = service.client_as(kGreedy);
  HttpAnswer refused;
  EXPECT_TRUE(eventually([&] {
    refused = late.post("/v1/runs", R"({"argv": ["true"]})", "Prefer: respond-async\r\n");
    return refused.status == 429;
  }));
  EXPECT_EQ(refused.json().text("code"), "quota_exceeded") << refused;
  EXPECT_NE(refused.json().text("detail").find("quota.default.queued is 2"), std::string::npos);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  HttpClient modest = service.client_as(kModest);
  const Record record = modest.post("/v1/runs", R"({"argv": ["true"]})").json();
  EXPECT_EQ(record.status(), "exited") << record;
  const Record list = late.get("/v1/runs").json();
  EXPECT_EQ(list.text("runs.0.state"), "running");
  EXPECT_EQ(list.text("runs.1.state"), "queued");
}

TEST_P(ServeQuota, SessionsAreHeldToItByTheSumOfTheirLimits) {
  configuration_.write("[quota.default]\nsessions = 2\ndisk = \"48MiB\"\nmemory = \"512MiB\"\n");
  const Service service(caller(), {}, configuration_.variable());
  HttpClient client = service.client();
  const auto make = [&](const std::string& memory, const std::string& disk) {
    return client.post("/v1/sessions", R"({"limits": {"memory_bytes": )" + memory +
                                           R"(, "disk_bytes": )" + disk + "}}");
  };
  EXPECT_EQ(make("134217728", "33554432").status, 201);
  const HttpAnswer disk = make("134217728", "33554432");
  EXPECT_EQ(disk.status, 429);
  EXPECT_NE(disk.json().text("detail").find("quota.default.disk"), std::string::npos) << disk;
  const HttpAnswer memory = make("503316480", "8388608");
  EXPECT_EQ(memory.status, 429);
  EXPECT_NE(memory.json().text("detail").find("quota.default.memory"), std::string::npos) << memory;
  EXPECT_EQ(make("134217728", "8388608").status, 201);
  const HttpAnswer third = make("1048576", "1048576");
  EXPECT_EQ(third.status, 429);
  EXPECT_NE(third.json().text("detail").find("quota.default.sessions"), std::string::npos) << third;
}

TEST_P(ServeQuota, MemoryIsPromisedNoFurtherThanTheQuota) {
  configuration_.write("[quota.default]\nmemory = \"128MiB\"\n");
  const Service service(caller(), {}, configuration_.variable());
  const HttpAnswer refused = service.client().post(
      "/v1/runs", R"({"argv": ["true"], "limits": {"memory_bytes": 200000000}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.json().text("code"), "limit_refused");
  EXPECT_NE(refused.json().text("detail").find("quota.default.memory is 128 MiB"),
            std::string::npos)
      << refused;
  const Record record = service.run(R"({"argv": ["true"], "limits": {"memory_bytes": 100000000}})");
  EXPECT_EQ(record.status(), "exited");
}

TEST_P(ServeQuota, ProcessorTimeOfTheHourIsBounded) {
  configuration_.write("[quota.default]\ncpu_seconds_per_hour = 1\n");
  Service service(caller(), {}, configuration_.variable());
  const std::string busy = code_body("python",
                                     "import time\n"
                                     "while time.process_time() < 1.2: pass");
  EXPECT_EQ(service.run(busy).status(), "exited");
  const HttpAnswer refused = service.client().post("/v1/runs", R"({"argv": ["true"]})");
  EXPECT_EQ(refused.status, 429) << refused;
  EXPECT_EQ(refused.json().text("code"), "quota_exceeded");
  EXPECT_GT(std::atoi(refused.header("Retry-After").c_str()), 3000);
  configuration_.write("[quota.default]\ncpu_seconds_per_hour = \"none\"\n");
  service.process().signal(SIGHUP);
  ASSERT_TRUE(service.process().wait_for(Channel::err, "was read anew"));
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").status(), "exited");
}

}  // namespace
}  // namespace wardcase::test

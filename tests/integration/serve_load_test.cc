// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Many runs and many clients: what is promised holds, and nobody waits for somebody else.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using ServeLoad = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeLoad);

TEST_P(ServeLoad, NoMoreMemoryIsPromisedThanThereIs) {
  const Service service = start({"--max-runs", "8", "--memory-total", "300m"});
  const auto body = [](const std::string& megabytes) {
    return R"({"argv": ["sleep", "60"], "limits": {"memory_bytes": )" + megabytes + "000000}}";
  };
  HttpClient client = service.client();
  std::vector<std::string> paths;
  for (const char* megabytes : {"150", "150", "100"}) {
    paths.push_back(
        client.post("/v1/runs", body(megabytes), "Prefer: respond-async\r\n").header("Location"));
  }
  const auto state = [&](std::size_t at) {
    return client.get(paths[at]).header("Wardcase-Run-State");
  };
  EXPECT_EQ(state(0) + state(1) + state(2), "runningrunningqueued");
  EXPECT_EQ(client.remove(paths[0]).json().status(), "stopped");
  EXPECT_EQ(state(2), "running");
  const HttpAnswer refused = client.post("/v1/runs", body("320"));
  EXPECT_EQ(refused.status, 422) << refused;
  EXPECT_EQ(refused.json().text("field"), "limits.memory_bytes");
  for (const std::string& path : paths) EXPECT_EQ(client.remove(path).status, 200);
}

// As another account of this host, for a moment: the kernel tells who connects.
HttpClient client_as(uid_t uid, const std::string& socket) {
  EXPECT_EQ(::syscall(SYS_setresuid, -1, uid, -1), 0);
  HttpClient client = HttpClient::to_unix(socket);
  EXPECT_EQ(::syscall(SYS_setresuid, -1, 0, -1), 0);
  EXPECT_TRUE(client.is_connected());
  return client;
}

TEST_P(ServeLoad, WhoAsksForAThousandRunsDoesNotDelayTheFirstOfAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be several accounts";
  const Service service = start({"--max-runs", "1", "--max-queue", "1100"});
  ASSERT_EQ(::chmod(std::filesystem::path(service.socket()).parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(service.socket().c_str(), 0666), 0);
  HttpClient many = client_as(65500, service.socket());
  HttpClient one = client_as(65501, service.socket());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(
        many.post("/v1/runs", R"({"argv": ["sleep", "0.05"]})", "Prefer: respond-async\r\n").status,
        202);
  }
  const auto before = std::chrono::steady_clock::now();
  const Record record = one.post("/v1/runs", R"({"argv": ["true"]})").json();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  const std::string list = many.get("/v1/runs").body;
  EXPECT_NE(list.find("\"state\":\"queued\""), std::string::npos) << "they still wait";
}

TEST_P(ServeLoad, IdleStreamsAreCheap) {
  constexpr int kStreams = 400;
  Service service = start({"--max-connections", "450"});
  const auto resident = [&] {
    const std::string status =
        read_file("/proc/" + std::to_string(service.process().pid()) + "/status");
    return std::strtoul(status.c_str() + status.find("VmRSS:") + 6, nullptr, 10);
  };
  HttpClient client = service.client();
  const std::string path =
      client.post("/v1/runs", R"({"argv": ["sleep", "60"]})", "Prefer: respond-async\r\n")
          .header("Location");
  const auto before = resident();
  std::vector<HttpClient> streams;
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(service.client());
    ASSERT_TRUE(streams.back().send("GET " + path + "/events HTTP/1.1\r\nHost: a\r\n\r\n"));
    ASSERT_EQ(streams.back().receive_head().status, 200);
  }
  EXPECT_LT(resident(), before + kStreams * 64);  // 64 MiB of a thousand
  EXPECT_EQ(client.remove(path).json().status(), "stopped");
  for (HttpClient& stream : streams) {
    std::string last;
    for (std::string line; !(line = stream.next_line()).empty();) last = line;
    ASSERT_NE(last.find("\"type\":\"exit\""), std::string::npos);
  }
}

}  // namespace
}  // namespace wardcase::test

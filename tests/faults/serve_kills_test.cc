// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The service is killed at any moment while it has much to do: what it began dies with it, and the
// next one sweeps what is left, tells of all that was accepted, and forgets no end that was told.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "tests/faults/effort.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

constexpr int kRuns = 12;
constexpr std::string_view kAsync = "Prefer: respond-async\r\n";

class ServeKills : public Serving {
 protected:
  // What was told of runs before the kill.
  struct Told {
    std::map<std::string, int> accepted;         // path, number of the run
    std::map<std::string, std::string> records;  // path, record of one that had ended
  };

  static void ask_for_runs(HttpClient& client, Told& told) {
    for (int i = 0; i < kRuns; ++i) {
      const std::string number = std::to_string(i);
      const HttpAnswer answer = client.post(
          "/v1/runs", R"({"argv": ["sh", "-c", "sleep 0.0)" + number + "; echo " + number + "\"]}",
          kAsync);
      if (answer.status == 202) told.accepted[answer.header("Location")] = i;
    }
  }
  static void look_for_ends(HttpClient& client, Told& told) {
    for (const auto& [path, number] : told.accepted) {
      const HttpAnswer answer = client.get(path);
      if (answer.header("Wardcase-Run-State") == "ended") told.records[path] = answer.body;
    }
  }

  // Returns how many of the runs were lost.
  static int expect_that_all_is_known(HttpClient& client, const Told& told) {
    int lost = 0;
    for (const auto& [path, number] : told.accepted) {
      const HttpAnswer answer = client.get(path);
      EXPECT_EQ(answer.status, 200) << path << answer;
      if (answer.status != 200) continue;
      const auto before = told.records.find(path);
      if (before != told.records.end()) {
        EXPECT_EQ(answer.body, before->second);
      }
      const Record record = answer.json();
      if (record.status() == "lost") {
        ++lost;
      } else {
        EXPECT_EQ(record.status(), "exited") << record;
        EXPECT_EQ(record.out(), std::to_string(number) + "\n") << record;
      }
    }
    return lost;
  }

  std::mt19937 random_{Effort::get().seed()};
};
WARDCASE_AS_ROOT_AND_USER(ServeKills);

TEST_P(ServeKills, AtAMomentOfItsTime) {
  const ScratchDirectory lasting(caller());
  const std::string cgroups = list_cgroups();
  const std::size_t count = Effort::get().kills() / 2;
  std::uniform_int_distribution<int> moments(0, 250);
  int lost = 0;
  int kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::chrono::milliseconds moment(moments(random_));
    SCOPED_TRACE(std::to_string(moment.count()) + " ms after the requests began");
    Told told;
    {
      Service service(caller(), lasting);
      std::thread killer([&] {
        std::this_thread::sleep_for(moment);
        service.process().signal(SIGKILL);
      });
      HttpClient client = service.client();
      ask_for_runs(client, told);
      look_for_ends(client, told);
      killer.join();
      (void)service.stop();
    }
    EXPECT_TRUE(eventually([] { return list_descendants().empty(); })) << list_descendants();
    Service next(caller(), lasting);
    HttpClient client = next.client();
    EXPECT_EQ(client.get("/livez").status, 200);
    EXPECT_TRUE(eventually([&] { return list_cgroups() == cgroups; })) << list_cgroups();
    lost += expect_that_all_is_known(client, told);
    kept += static_cast<int>(told.records.size());
    EXPECT_EQ(next.stop().exit_code, 0);
    EXPECT_TRUE(eventually([&] { return list_cgroups() == cgroups; })) << list_cgroups();
  }
  std::cout << caller() << ": " << count << " kills, " << lost << " runs lost, " << kept
            << " ends told before and after\n";
}

TEST_P(ServeKills, WithoutOneNoRunIsLost) {
  const ScratchDirectory lasting(caller());
  Told told;
  {
    Service service(caller(), lasting);
    HttpClient client = service.client();
    ask_for_runs(client, told);
    ASSERT_TRUE(eventually([&] {
      look_for_ends(client, told);
      return told.records.size() == static_cast<std::size_t>(kRuns);
    }));
  }
  Service next(caller(), lasting);
  HttpClient client = next.client();
  EXPECT_EQ(expect_that_all_is_known(client, told), 0);
}

}  // namespace
}  // namespace wardcase::test

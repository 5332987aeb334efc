// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/live_agent.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::test {

// A worker of one language, and what a program of it came to.
template <LiveWorker::Language language>
class WorkerTest : public testing::Test {
 protected:
  // Runs it, and returns what it printed to stdout.
  std::string output_of(std::string_view code) {
    done = worker.run(code);
    EXPECT_EQ(done["nonce"].as_string(), worker.nonce()) << boost::json::serialize(done);
    return worker.out();
  }
  // The text of its result; "none" where there is none.
  std::string result_of(std::string_view code) {
    done = worker.run(code);
    const auto* const result = done["result"].if_object();
    return result == nullptr ? "none" : std::string(result->at("text").as_string());
  }
  // Of its error: `key`; "" where there is none.
  std::string error_of(std::string_view code, std::string_view key = "type") {
    done = worker.run(code);
    return told(key);
  }
  [[nodiscard]] std::string told(std::string_view key) {
    const auto* const error = done["error"].if_object();
    const auto* const value = error == nullptr ? nullptr : error->if_contains(key);
    if (value == nullptr) return "";
    return value->is_string() ? std::string(value->get_string()) : boost::json::serialize(*value);
  }
  // Runs it, interrupts it once it has printed "up", and says whether that is what ended it.
  bool is_interrupted(std::string_view code) {
    worker.begin(code);
    EXPECT_EQ(worker.answer()["type"], "begun");
    std::string printed = worker.out_until("up\n");
    EXPECT_NE(printed.find("up\n"), std::string::npos) << code;
    // In the moment of a fork Bash can miss one; a session then goes on to the next signal.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    worker.interrupt();
    done = worker.answer();
    EXPECT_EQ(done["nonce"].as_string(), worker.nonce());
    return done["interrupted"] == true && done["exit_code"] == 130;
  }
  // Whether it ended by itself, with this code.
  bool ends_with(int status) {
    const agent::FromAgent end = agent.receive();
    return end.kind == agent::Kind::ended && end.ended.code == CLD_EXITED &&
           end.ended.status == status;
  }

  TemporaryDirectory place;
  LiveAgent agent;
  LiveWorker worker{agent, language, place.path()};
  boost::json::object done;
};

}  // namespace wardcase::test

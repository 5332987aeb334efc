// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/event_stream.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

namespace wardcase::supervisor {
namespace {

class EventStreamTest : public testing::Test {
 protected:
  std::vector<std::string> lines;
  EventStream events{[this](std::string_view line) { lines.emplace_back(line); }};
};

TEST_F(EventStreamTest, NumbersItsLines) {
  events.on_start("run_a");
  events.on_output(Stream::out, "epoch 1\n");
  events.on_output(Stream::err, "say \"hi\"");
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "{\"seq\":1,\"type\":\"start\",\"id\":\"run_a\"}\n",
                       "{\"seq\":2,\"type\":\"stdout\",\"data\":\"epoch 1\\n\"}\n",
                       "{\"seq\":3,\"type\":\"stderr\",\"data\":\"say \\\"hi\\\"\"}\n",
                   }));
}

TEST_F(EventStreamTest, EndsWithTheWholeRecord) {
  RunRecord record;
  record.id = "run_a";
  record.status = RunStatus::exited;
  record.exit_code = 0;
  events.on_end(record);
  ASSERT_EQ(lines.size(), 1U);
  boost::json::object object = boost::json::parse(lines[0]).as_object();
  EXPECT_EQ(object.at("seq"), 1);
  EXPECT_EQ(object.at("type"), "exit");
  object.erase("seq");
  object.erase("type");
  EXPECT_EQ(object, boost::json::parse(to_json(record)));
}

TEST_F(EventStreamTest, NeverDividesACharacter) {
  const std::string text = "x\U0001F600\u00e9";
  for (const char& byte : text) events.on_output(Stream::out, {&byte, 1});
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "{\"seq\":1,\"type\":\"stdout\",\"data\":\"x\"}\n",
                       "{\"seq\":2,\"type\":\"stdout\",\"data\":\"\U0001F600\"}\n",
                       "{\"seq\":3,\"type\":\"stdout\",\"data\":\"\u00e9\"}\n",
                   }));
}

TEST_F(EventStreamTest, KeepsTheCharactersOfTheStreamsApart) {
  events.on_output(Stream::out, "\xc3");
  events.on_output(Stream::err, "\xe2\x82");
  events.on_output(Stream::out, "\xa9");
  events.on_output(Stream::err, "\xac");
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "{\"seq\":1,\"type\":\"stdout\",\"data\":\"\u00e9\"}\n",
                       "{\"seq\":2,\"type\":\"stderr\",\"data\":\"\u20ac\"}\n",
                   }));
}

TEST_F(EventStreamTest, GivesBytesThatAreNotTextAsTheyCame) {
  events.on_output(Stream::out, "ok \xff\xfe");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "{\"seq\":1,\"type\":\"stdout\",\"data_base64\":\"b2sg//4=\"}\n");
}

TEST_F(EventStreamTest, GivesAnUnfinishedCharacterBeforeTheEnd) {
  events.on_output(Stream::out, "\xf0\x9f");
  EXPECT_TRUE(lines.empty());
  events.on_end(RunRecord());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "{\"seq\":1,\"type\":\"stdout\",\"data_base64\":\"8J8=\"}\n");
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/hostile_test.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

namespace wardcase::test {

void declare_attack(std::string_view attack, std::string_view protection) {
  testing::Test::RecordProperty("attack", std::string(attack));
  testing::Test::RecordProperty("protection", std::string(protection));
}

// A control that did not work fails its test: the report need not tell it apart.
bool control_works(bool worked) {
  if (worked) testing::Test::RecordProperty("control", "shown");
  return worked;
}

void no_control(std::string_view why) {
  testing::Test::RecordProperty("control", "none: " + std::string(why));
}

void declare_not_held(std::string_view why) {
  testing::Test::RecordProperty("not_held", std::string(why));
}

Outcome HostileTest::outside(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {Workplace::get().program(name).string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Command::other(caller(), std::move(argv)).finish();
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  std::istringstream words(read_file("/proc/" + number + "/task/" + number + "/children"));
  const std::istream_iterator<pid_t> begin(words);
  return {begin, std::istream_iterator<pid_t>()};
}

// Beside it there may be one who relays the output.
pid_t init_of(pid_t command) {
  pid_t init = -1;
  EXPECT_TRUE(eventually([&] {  // it takes its name while the program starts already
    for (const pid_t child : children_of(command)) {
      if (read_file("/proc/" + std::to_string(child) + "/comm") == "init\n") init = child;
    }
    return init > 0;
  })) << "the command "
      << command << " has no box";
  return init;
}

bool has_text(std::string_view text, std::string_view wanted) {
  return text.find(wanted) != std::string_view::npos;
}

}  // namespace wardcase::test

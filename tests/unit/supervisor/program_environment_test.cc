// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/program_environment.h"

#include <gtest/gtest.h>

#include <chrono>

namespace wardcase::supervisor {
namespace {

TEST(ProgramEnvironment, TheLastValueOfAVariableCountsInItsFirstPlace) {
  std::vector<std::string> environment = {"A=1", "B=2"};
  set_variables(environment, std::vector<std::string>{"C=3", "A=4", "AB=5", "C=6"});
  EXPECT_EQ(environment, (std::vector<std::string>{"A=4", "B=2", "C=6", "AB=5"}));
}

// Where each is compared with each, this takes minutes.
TEST(ProgramEnvironment, ManyVariablesAreSetInTheTimeOfMany) {
  std::vector<std::string> many;
  for (int i = 0; i < 300'000; ++i) many.push_back("V" + std::to_string(i) + "=");
  std::vector<std::string> environment;
  const auto begin = std::chrono::steady_clock::now();
  set_variables(environment, many);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(environment.size(), many.size());
}

}  // namespace
}  // namespace wardcase::supervisor

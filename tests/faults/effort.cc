// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/faults/effort.h"

#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>

namespace wardcase::test {
namespace {

std::size_t number_of(const char* variable, std::size_t standard) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? standard : std::stoul(value);
}

}  // namespace

Effort::Effort() {
  const bool is_long = std::getenv("WARDCASE_LONG") != nullptr;
  faults_ = number_of("WARDCASE_FAULTS", is_long ? std::numeric_limits<std::size_t>::max() : 80);
  kills_ = number_of("WARDCASE_KILLS", is_long ? 200 : 10);
  runs_ = number_of("WARDCASE_RUNS", is_long ? 10'000 : 400);
  seed_ = static_cast<std::uint32_t>(number_of("WARDCASE_SEED", 1));
  std::cout << "WARDCASE_SEED=" << seed_ << "\n";
}

const Effort& Effort::get() {
  static const Effort effort;
  return effort;
}

std::vector<std::size_t> choose(std::size_t size, std::size_t count) {
  std::vector<std::size_t> chosen;
  const std::size_t offset = count < size ? Effort::get().seed() % (size / count) : 0;
  const std::size_t number = std::min(count, size);
  for (std::size_t i = 0; i < number; ++i) chosen.push_back(i * size / number + offset);
  return chosen;
}

}  // namespace wardcase::test

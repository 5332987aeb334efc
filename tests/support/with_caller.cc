// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <iterator>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

std::vector<std::string> joined(std::vector<std::string> first, std::vector<std::string> second) {
  first.insert(first.end(), std::make_move_iterator(second.begin()),
               std::make_move_iterator(second.end()));
  return first;
}

}  // namespace

void skip_unless_can_be(Caller caller) {
  if (!can_be(caller)) {
    GTEST_SKIP() << "calling wardcase as root needs root: run this program through sudo, too";
  }
}

void WithCaller::SetUp() { skip_unless_can_be(caller()); }

Command WithCaller::run_command(std::vector<std::string> arguments) {
  return {caller(), joined({"run"}, std::move(arguments))};
}

Outcome WithCaller::run(std::vector<std::string> arguments) {
  return run_command(std::move(arguments)).finish();
}

Record WithCaller::record_of(std::vector<std::string> arguments) {
  const Outcome outcome = run(joined({"--json"}, std::move(arguments)));
  if (outcome.out().empty()) {
    ADD_FAILURE() << "no record: " << outcome;
    return {};
  }
  return outcome.record();
}

Record WithCaller::python(std::string code, std::vector<std::string> flags) {
  return record_of(joined(std::move(flags), {"-l", "python", "-c", std::move(code)}));
}

Record WithCaller::bash(std::string code, std::vector<std::string> flags) {
  return record_of(joined(std::move(flags), {"-l", "bash", "-c", std::move(code)}));
}

Record WithCaller::hostile(const std::string& name, const std::vector<std::string>& arguments,
                           std::vector<std::string> flags) {
  return record_of(
      joined(joined(std::move(flags), {Workplace::get().program(name).string()}), arguments));
}

}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/units.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace wardcase::test {

namespace fs = std::filesystem;

Outcome call(const std::vector<std::string>& argv) {
  return Command::other(Caller::root, argv).finish();
}

void expect_success(const std::vector<std::string>& argv) {
  const Outcome outcome = call(argv);
  EXPECT_EQ(outcome.exit_code, 0) << argv.front() << " " << argv.at(1) << "\n" << outcome;
}

void systemctl(std::vector<std::string> words) {
  words.insert(words.begin(), "/usr/bin/systemctl");
  expect_success(words);
}

std::string unit_property(const std::string& unit, const std::string& name) {
  std::string value = call({"/usr/bin/systemctl", "show", "--value", "-p", name, unit}).out();
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

bool comes_true(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 20; ++tries) {
    if (eventually(holds)) return true;
  }
  return false;
}

bool is_in_guest() { return std::getenv("VM_ENGINE") != nullptr && ::geteuid() == 0; }

void install_units(const fs::path& from, const fs::path& to, const std::string& bin) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    std::string text = read_file(entry.path());
    for (const std::string place : {"@BINDIR@", "@LIBEXECDIR@"}) {
      for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;) {
        text.replace(at, place.size(), bin);
      }
    }
    std::ofstream(to / entry.path().filename()) << text;
  }
}

void remove_units(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(from)) {
    if (entry.is_regular_file()) fs::remove(to / entry.path().filename());
  }
}

void install_command() {
  fs::create_directories(kUnitsBin);
  for (const char* name : {"wardcase", "wardcase-server", "wardcase-agent"}) {
    fs::copy_file(Workplace::get().command().parent_path() / name, fs::path(kUnitsBin) / name,
                  fs::copy_options::overwrite_existing);
  }
}

void remove_command() { fs::remove_all(fs::path(kUnitsBin).parent_path()); }

}  // namespace wardcase::test

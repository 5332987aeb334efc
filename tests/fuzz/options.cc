// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Words are separated by line ends.
#include "supervisor/cli/options.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using wardcase::supervisor::CommandLine;
using wardcase::supervisor::OptionRow;

namespace {

// A switch and a value, each with and without a short name.
const std::vector<OptionRow>& table() {
  static const std::vector<OptionRow> rows = {
      {"json", "", "", ""},        {"quiet", "q", "", ""},         {"timeout", "", "TIME", ""},
      {"memory", "m", "SIZE", ""}, {"env", "e", "NAME=VALUE", ""}, {"dry-run", "", "[=json]", ""}};
  return rows;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    words.emplace_back(word);
  }
  return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto words = split({reinterpret_cast<const char*>(data), size});
  const auto line = CommandLine::parse(table(), words);
  if (!line) {
    require(!line.error().message().empty(), "a refusal gives its reason");
    return 0;
  }
  const auto operands = line->operands();
  require(operands.size() <= words.size() &&
              std::equal(operands.rbegin(), operands.rend(), words.rbegin()),
          "what belongs to the program is handed on untouched");
  require(operands.empty() || operands.front().size() < 2 || operands.front() == "--" ||
              operands.front().front() != '-',
          "no option is left for the program");
  return 0;
}

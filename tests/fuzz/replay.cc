// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Feeds the files of a corpus to one fuzz target, in place of libFuzzer.
//
// usage: NAME DIRECTORY
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/fuzz/fuzz_target.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << (argc > 0 ? argv[0] : "replay") << " DIRECTORY\n";
    return 2;
  }
  int inputs = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), {}};
    // Told before it is tried: what crashes must have a name.
    std::cerr << entry.path().string() << "\n";
    (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++inputs;
  }
  if (inputs > 0) return 0;
  std::cerr << argv[1] << ": no inputs\n";
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace wardcase::test {

// How much of it is done: a little in `make check`, all in `make check-long`. Each count can
// be chosen by a variable of the environment, and so can the seed of what is drawn.
class Effort {
 public:
  static const Effort& get();

  [[nodiscard]] std::size_t faults() const { return faults_; }  // points a caller
  [[nodiscard]] std::size_t kills() const { return kills_; }    // a caller
  [[nodiscard]] std::size_t runs() const { return runs_; }      // of the soak, a caller
  [[nodiscard]] std::uint32_t seed() const { return seed_; }    // printed at the first use

 private:
  Effort();
  std::size_t faults_;
  std::size_t kills_;
  std::size_t runs_;
  std::uint32_t seed_;
};

// `count` of 0..size-1, spread evenly from an offset that the seed gives; all, in order, if there
// are no more.
[[nodiscard]] std::vector<std::size_t> choose(std::size_t size, std::size_t count);

}  // namespace wardcase::test

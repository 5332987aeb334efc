// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/sha256.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

// Of FIPS 180-4's examples.
constexpr std::string_view kOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view kOfAMillionTimesA =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(sha256(""), kOfNothing);
  EXPECT_EQ(sha256("abc"), kOfAbc);
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), kOfAMillionTimesA);
}

TEST(Sha256, IsTheSameInPartsOfAnySize) {
  Sha256 sum;
  const std::string all(1'000'000, 'a');
  for (std::size_t at = 0, size = 0; at < all.size(); at += size, size = size * 2 + 1) {
    sum.add(std::string_view(all).substr(at, size));
  }
  EXPECT_EQ(sum.finish(), kOfAMillionTimesA);
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/json_text.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

TEST(Base64, IsReadAsItIsWritten) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(decode_base64(base64(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, WhatIsWrittenInAnotherWayIsRefused) {
  for (const char* text : {"Y", "YQ", "YQ=", "YR==", "YQ==YQ==", "Y===", "====", "YW J", "YW-_",
                           "YWJj\n", "YWJj====", "=AAA"}) {
    EXPECT_FALSE(decode_base64(text)) << text;
  }
  EXPECT_EQ(decode_base64(""), "");
}

}  // namespace
}  // namespace wardcase::supervisor

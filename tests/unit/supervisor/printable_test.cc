// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>

#include "supervisor/cli/console.h"

namespace wardcase::supervisor {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("caf\u00e9 \u2014 \u2022 \u65e5\u672c"),
            "caf\u00e9 \u2014 \u2022 \u65e5\u672c");
}

TEST(Printable, ShowsControlCharactersAsNumbers) {
  EXPECT_EQ(printable("a\x1b[2J\r\n"), "a\\x1b[2J\\x0d\\x0a");
  EXPECT_EQ(printable("\u009b"), "\\x9b");
}

// A name could be shown as another one: "exe.txt" backwards.
TEST(Printable, ShowsMarksThatTurnTextAroundAsNumbers) {
  EXPECT_EQ(printable("a\u202etxt.exe"), "a\\xe2\\x80\\xaetxt.exe");
  EXPECT_EQ(printable("\u2066b\u2028"), "\\xe2\\x81\\xa6b\\xe2\\x80\\xa8");
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/color.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {
namespace {

class Color : public testing::Test {
 protected:
  Color() : terminal_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
  }
  ~Color() override { ::unsetenv("NO_COLOR"); }
  [[nodiscard]] int terminal() const { return terminal_.get(); }

 private:
  sys::UniqueFd terminal_;
};

TEST_F(Color, IsForTerminalsWhereNobodySaysOtherwise) {
  const sys::UniqueFd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(has_color(ColorChoice::automatic, terminal()));
  EXPECT_FALSE(has_color(ColorChoice::automatic, file.get()));
  EXPECT_TRUE(has_color(ColorChoice::always, file.get()));
  EXPECT_FALSE(has_color(ColorChoice::never, terminal()));
}

TEST_F(Color, TheEnvironmentCanForbidItUnlessAskedForByName) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(has_color(ColorChoice::automatic, terminal()));
  EXPECT_TRUE(has_color(ColorChoice::always, terminal()));
  ::setenv("NO_COLOR", "", 1);  // as no-color.org has it, an empty one says nothing
  EXPECT_TRUE(has_color(ColorChoice::automatic, terminal()));
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(has_color(ColorChoice::automatic, terminal()));
}

}  // namespace
}  // namespace wardcase::supervisor

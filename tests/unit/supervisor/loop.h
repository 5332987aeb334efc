// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "supervisor/run/event_loop.h"

namespace wardcase::test {

[[nodiscard]] inline supervisor::EventLoop make_loop() {
  auto loop = supervisor::EventLoop::create();
  EXPECT_TRUE(loop);
  return *std::move(loop);
}

}  // namespace wardcase::test

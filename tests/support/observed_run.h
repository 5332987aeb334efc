// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "supervisor/run/event_loop.h"
#include "supervisor/run/run.h"

namespace wardcase::test {

// An observer that remembers all it was told.
class Remembered : public supervisor::RunObserver {
 public:
  // `on_done` is called at the end of the run.
  explicit Remembered(std::function<void()> on_done) : on_done_(std::move(on_done)) {}
  void on_start(std::string_view) override { ++starts; }
  void on_output(supervisor::Stream, std::string_view bytes) override { output += bytes; }
  void on_end(const supervisor::RunRecord& ended) override {
    record = ended;
    ++ends;
    on_done_();
  }

  supervisor::RunRecord record;
  std::string output;
  int starts = 0;
  int ends = 0;

 private:
  std::function<void()> on_done_;
};

// A command of the box, with nothing else asked for.
inline supervisor::RunSpec spec_of(std::vector<std::string> argv) {
  supervisor::RunSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {"PATH=/usr/bin:/bin"};
  return spec;
}

}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/languages/artifact_search.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/run_record.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// What each program of a session leaves in /box: the artifacts of its record. The box lives on, and
// so may processes in it, while it is looked at. What changed since the program before it ended is
// its own; what was put there from outside is nobody's.
class BoxNews {
 public:
  explicit BoxNews(EventLoop& loop) : loop_(loop) {}

  // Another box is made, from `spec`.
  void expect(const RunSpec& spec);
  // It is there, and nothing runs in it yet. `directory` is its /box, borrowed until close().
  // Calls back, at once or later, when programs may run.
  void open(int directory, std::function<void()> ready);
  // The box goes. Nobody who waits is called back any more.
  void close();

  // The file at `path`, relative to /box, was put there from outside just now.
  void know(const std::string& path);
  // Adds to `record`, whose program has ended; borrowed until `done`, which may be called at once.
  void collect(RunRecord& record, std::function<void()> done);

 private:
  EventLoop& loop_;
  std::unique_ptr<ArtifactSearch> search_;  // nullptr: nothing is looked for
  bool is_workspace_ = false;
  int directory_ = -1;
  std::string left_out_;
};

}  // namespace wardcase::supervisor

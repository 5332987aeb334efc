// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/language.h"
#include "supervisor/languages/content_cache.h"
#include "supervisor/languages/job.h"
#include "supervisor/languages/job_run.h"
#include "supervisor/languages/stage_box.h"

namespace wardcase::supervisor {

// What is compiled, and by what.
struct CompileOrder {
  policies::Runner runner;
  std::string language;
  SourceFile source;
  // The directory of the host that the source lies in, shown with all that it may include; "": it
  // stands alone.
  std::string directory;
  std::optional<std::string> interpreter;  // the caller's own compiler, by its path in the box
  policies::Limits limits;
  std::string limits_place;  // where they are set, for messages
  std::string target;        // where the program is to be in its box
};

// Compiles a program before it runs: in a box of its own, without network. What came out is kept by
// all that it was made from (content_cache.h, "compiled"), unless a directory of the host was part
// of that; two who need the same at once wait for one compilation.
class CompilePart : public JobPart {
 public:
  explicit CompilePart(CompileOrder order) : order_(std::move(order)) {}

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) override;
  void stop(int signal) override;
  void after(EventLoop& loop, int box_directory, RunRecord& record,
             std::function<void()> resume) override;

 private:
  void ask_cache(const std::string& hash);
  void on_answer(sys::Result<CacheAnswer> answer);
  void compile();
  [[nodiscard]] sys::Result<RunSpec> make_spec();
  void take_output(int box_directory, const RunRecord& record);
  void on_compiled(const RunRecord& record);
  void refuse(const RunRecord& record);
  void place_entry(CacheEntry entry);
  void place(sys::UniqueFd binary);
  void fail(PartFailure failure);
  void fail(const sys::Error& error);
  void finish(std::optional<PartFailure> failure);

  CompileOrder order_;
  EventLoop* loop_ = nullptr;
  Host* host_ = nullptr;
  RunSpec* program_ = nullptr;
  StageNotes* notes_ = nullptr;
  Done done_;
  std::string text_;  // of the source
  std::unique_ptr<CacheClaim> claim_;
  std::optional<CacheBuild> build_;
  std::optional<CacheEntry> shown_;  // held while a box shows it
  std::unique_ptr<StageRun> run_;
  sys::Result<sys::UniqueFd> binary_;
  std::string not_kept_because_;
};

}  // namespace wardcase::supervisor

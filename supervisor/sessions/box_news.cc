// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/box_news.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "supervisor/languages/artifacts.h"

namespace wardcase::supervisor {

// Modes are left as they are: the box's programs go on with them.
void BoxNews::expect(const RunSpec& spec) {
  close();
  const policies::Mount* const workspace = find_workspace(spec);
  if (workspace != nullptr && workspace->mode == policies::MountMode::read_only) return;
  is_workspace_ = workspace != nullptr;
  search_ = std::make_unique<ArtifactSearch>(loop_, ClosedDirectories::leave);
  search_->remember_searches();
  for (const policies::Mount& mount : spec.mounts) {
    if (std::string name = name_in_box(mount.target); !name.empty()) {
      search_->know(std::move(name), sys::UniqueFd());
    }
  }
}

void BoxNews::open(int directory, std::function<void()> ready) {
  directory_ = directory;
  if (search_ == nullptr || directory < 0 || !is_workspace_) return ready();
  search_->remember(directory, [this, ready = std::move(ready)](bool could) {
    if (!could) left_out_ = "no artifacts were looked for: /box has too many files to remember";
    ready();
  });
}

void BoxNews::close() {
  search_.reset();
  is_workspace_ = false;
  directory_ = -1;
  left_out_.clear();
}

void BoxNews::know(const std::string& path) {
  if (search_ == nullptr) return;
  const sys::UniqueFd file = open_beneath(directory_, path.c_str(), O_PATH);
  struct stat info = {};
  if (file.is_open() && ::fstat(file.get(), &info) == 0) search_->remember_file(path, info);
}

void BoxNews::collect(RunRecord& record, std::function<void()> done) {
  record.left_out = left_out_;
  if (search_ == nullptr || directory_ < 0 || !left_out_.empty()) return done();
  search_->search(directory_, /*out=*/nullptr,
                  [&record, done = std::move(done)](FoundArtifacts found) {
                    tell_artifacts(std::move(found), record);
                    done();
                  });
}

}  // namespace wardcase::supervisor

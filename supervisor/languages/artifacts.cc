// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/artifacts.h"

#include <fcntl.h>

#include <string_view>
#include <utility>

#include "sandbox/sys/kernel.h"

namespace wardcase::supervisor {
namespace {

constexpr std::string_view kBelowBox = "/box/";

class Artifacts : public JobPart {
 public:
  explicit Artifacts(std::optional<OutDirectory> out) : out_(std::move(out)) {}

  void before(EventLoop& loop, Host& host, RunSpec& program, StageNotes& notes, Done done) override;
  void after(EventLoop& loop, int box_directory, RunRecord& record,
             std::function<void()> resume) override;
  // What is brought to a directory of the host is that of one run alone.
  [[nodiscard]] sys::Result<std::unique_ptr<JobPart>> another() const override {
    return make_artifacts_part(std::nullopt);
  }

 private:
  [[nodiscard]] bool know_all(const RunSpec& program);
  void remember(const std::string& workspace, Done done);

  std::optional<OutDirectory> out_;
  std::unique_ptr<ArtifactSearch> search_;  // nullptr: nothing is looked for
  sys::UniqueFd workspace_;
  std::string left_out_;
};

void Artifacts::before(EventLoop& loop, Host& /*host*/, RunSpec& program, StageNotes& /*notes*/,
                       Done done) {
  const policies::Mount* const workspace = find_workspace(program);
  if (workspace != nullptr && workspace->mode == policies::MountMode::read_only) {
    return done(std::nullopt);
  }
  // Whose modes they are: of a box that goes away, or of files that stay.
  const auto closed = workspace ? ClosedDirectories::leave : ClosedDirectories::open;
  search_ = std::make_unique<ArtifactSearch>(loop, closed);
  if (!know_all(program)) {
    const sys::Error error = sys::errno_error("keep what is put into the box");
    return done(PartFailure{.status = RunStatus::setup_failed, .error = error.message()});
  }
  if (workspace == nullptr) return done(std::nullopt);
  remember(workspace->source, std::move(done));
}

// False, and errno: there are no descriptors left.
bool Artifacts::know_all(const RunSpec& program) {
  for (const PlacedFile& file : program.files) {
    std::string name = name_in_box(file.path);
    if (name.empty()) continue;
    sys::UniqueFd content(::fcntl(file.content.get(), F_DUPFD_CLOEXEC, 0));
    if (!content.is_open()) return false;
    search_->know(std::move(name), std::move(content));
  }
  // A file is mounted on one that is made for it.
  for (const policies::Mount& mount : program.mounts) {
    if (std::string name = name_in_box(mount.target); !name.empty()) {
      search_->know(std::move(name), sys::UniqueFd());
    }
  }
  return true;
}

void Artifacts::remember(const std::string& workspace, Done done) {
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  workspace_.reset(sys::openat2(AT_FDCWD, workspace.c_str(), how));
  if (!workspace_.is_open()) {
    search_.reset();
    left_out_ = "no artifacts were looked for: the workspace can't be read";
    return done(std::nullopt);
  }
  search_->remember(workspace_.get(), [this, done = std::move(done)](bool could) {
    workspace_.reset();
    if (!could) {
      left_out_ = "no artifacts were looked for: the workspace has too many files to remember";
    }
    done(std::nullopt);
  });
}

void Artifacts::after(EventLoop& /*loop*/, int box_directory, RunRecord& record,
                      std::function<void()> resume) {
  record.left_out = left_out_;
  if (search_ == nullptr || box_directory < 0 || !left_out_.empty()) return resume();
  search_->search(box_directory, out_ ? &*out_ : nullptr,
                  [&record, resume = std::move(resume)](FoundArtifacts found) {
                    tell_artifacts(std::move(found), record);
                    resume();
                  });
}

}  // namespace

std::string name_in_box(std::string_view path) {
  return std::string(path.starts_with(kBelowBox) ? path.substr(kBelowBox.size()) : "");
}

void tell_artifacts(FoundArtifacts found, RunRecord& record) {
  record.artifacts = std::move(found.files);
  record.left_out = std::move(found.left_out);
  if (record.hint.empty() && record.success()) record.hint = record.left_out;
  if (!found.brought) record.not_brought = found.brought.error().message();
}

std::unique_ptr<JobPart> make_artifacts_part(std::optional<OutDirectory> out) {
  return std::make_unique<Artifacts>(std::move(out));
}

}  // namespace wardcase::supervisor

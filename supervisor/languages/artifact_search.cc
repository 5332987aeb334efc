// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/artifact_search.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "policies/units.h"
#include "supervisor/languages/box_names.h"
#include "supervisor/languages/out_directory.h"

namespace wardcase::supervisor {
namespace {

constexpr std::chrono::milliseconds kSlice{5};
constexpr std::chrono::milliseconds kLongestBefore{2000};  // somebody waits for a run to begin
constexpr std::chrono::milliseconds kClockStep{20};        // two of the longest that kernels have

// What changes with the content, or with the file that has the name. Whoever makes two of these
// meet hides a file of his own.
std::size_t fingerprint(const std::string& path, const struct stat& info) {
  std::string text = path;
  const auto add = [&](const auto& number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  add(info.st_ino);
  add(info.st_size);
  for (const timespec& time : {info.st_mtim, info.st_ctim}) {
    add(time.tv_sec);
    add(time.tv_nsec);
  }
  return std::hash<std::string_view>()(text);
}

bool is_unfinished(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with(kUnfinishedName);  // npos + 1 is 0
}

// Whether the clock that file systems look at may still stand where it stood then.
bool is_just_now(const timespec& time) {
  timespec now = {};
  (void)::clock_gettime(CLOCK_REALTIME, &now);
  const auto since = std::chrono::seconds(now.tv_sec - time.tv_sec) +
                     std::chrono::nanoseconds(now.tv_nsec - time.tv_nsec);
  return since < kClockStep;
}

}  // namespace

ArtifactSearch::ArtifactSearch(EventLoop& loop, ClosedDirectories closed,
                               const ArtifactLimits& limits)
    : loop_(loop), closed_(closed), limits_(limits) {}

ArtifactSearch::~ArtifactSearch() { loop_.cancel(timer_); }

void ArtifactSearch::know(std::string path, sys::UniqueFd content) {
  known_.insert_or_assign(std::move(path), std::move(content));
}

void ArtifactSearch::remember(int directory, std::function<void(bool could)> done) {
  remembered_.clear();
  on_remembered_ = std::move(done);
  deadline_ = Clock::now() + std::min(limits_.time, kLongestBefore);
  listing_.emplace(directory, closed_, limits_.names,
                   [this](const std::string& path, const struct stat& info) {
                     if (S_ISREG(info.st_mode)) remembered_.insert(fingerprint(path, info));
                   });
  in_next_turn();
}

void ArtifactSearch::remember_file(const std::string& path, const struct stat& info) {
  remembered_.insert(fingerprint(path, info));
  seen_.insert(fingerprint(path, info));
  late_.erase(path);
}

void ArtifactSearch::search(int directory, const OutDirectory* out,
                            std::function<void(FoundArtifacts)> done) {
  directory_ = directory;
  out_ = out;
  on_found_ = std::move(done);
  deadline_ = Clock::now() + limits_.time;
  listing_.emplace(directory, closed_, limits_.names,
                   [this](const std::string& path, const struct stat& info) { meet(path, info); });
  is_listed_ = false;
  candidates_.clear();
  unknown_count_ = 0;
  next_ = 0;
  bytes_ = 0;
  found_ = {};
  left_out_.clear();
  left_out_count_ = 0;
  seen_.clear();
  seen_late_.clear();
  in_next_turn();
}

void ArtifactSearch::in_next_turn() {
  timer_ = loop_.at(Clock::now(), [this] { slice(); });
}

void ArtifactSearch::slice() {
  timer_ = 0;
  const Clock::time_point until = Clock::now() + kSlice;
  if (on_remembered_) {
    const bool is_over = listing_->step(until);
    if (!is_over && Clock::now() < deadline_) return in_next_turn();
    return std::exchange(on_remembered_, nullptr)(is_over && !listing_->saw_too_many());
  }
  if (!is_listed_) {
    is_listed_ = listing_->step(until);
    if (!is_listed_ && Clock::now() < deadline_) return in_next_turn();
  }
  while (next_ < candidates_.size() || reader_ != nullptr) {
    if (Clock::now() >= deadline_) break;
    if (Clock::now() >= until) return in_next_turn();
    read_one();
  }
  finish();
}

void ArtifactSearch::meet(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return;
  if (remembers_searches_ && is_unfinished(path)) return;  // else we wrote nothing there
  const auto known = known_.find(path);
  if (known != known_.end() && !known->second.is_open()) return;
  const std::size_t print = fingerprint(path, info);
  if (remembers_searches_) seen_.insert(print);
  if (!remembered_.contains(print)) {
    late_.erase(path);
  } else if (!late_.contains(path)) {
    return;
  }
  if (info.st_nlink != 1) return leave_out(path, "it has several names");
  // Those that are known mostly turn out not to be news.
  if (known == known_.end() && ++unknown_count_ > limits_.files) {
    return leave_out(path, "more than " + std::to_string(limits_.files) + " files");
  }
  candidates_.push_back(path);
}

void ArtifactSearch::read_one() {
  if (reader_ == nullptr) return begin_next();
  switch (reader_->step()) {
    case ArtifactReader::State::reading:
      return;
    case ArtifactReader::State::changed:
      if (fits(reader_->artifact().path, reader_->size())) return;
      break;
    case ArtifactReader::State::unchanged:
      break;
    case ArtifactReader::State::whole:
      take(reader_->artifact());
      break;
    case ArtifactReader::State::failed:
      leave_out(reader_->artifact().path, sys::Error{reader_->error(), "read it"}.message());
      break;
  }
  if (found_.brought) found_.brought = reader_->brought();
  reader_.reset();
}

void ArtifactSearch::take(const Artifact& artifact) {
  if (remembers_searches_ && is_just_now(changed_at_)) {
    seen_late_.insert_or_assign(artifact.path, artifact.sha256);
  }
  const auto late = late_.find(artifact.path);
  if (late != late_.end() && late->second == artifact.sha256) return;
  bytes_ += artifact.size;
  found_.files.push_back(artifact);
}

void ArtifactSearch::begin_next() {
  const std::string path = std::move(candidates_[next_++]);
  sys::UniqueFd file = open_file(path);
  struct stat info = {};
  if (!file.is_open() || ::fstat(file.get(), &info) < 0) {
    if (errno != ENOENT) leave_out(path, sys::errno_error("open it").message());
    return;
  }
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) return leave_out(path, "it was replaced");
  changed_at_ = info.st_ctim;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const auto known = known_.find(path);
  const bool is_known = known != known_.end();
  if (!is_known && !fits(path, size)) return;
  reader_ = std::make_unique<ArtifactReader>(path, std::move(file), size,
                                             is_known ? known->second.get() : -1, out_);
}

// Whether one more file of that size is taken; else it is left out.
bool ArtifactSearch::fits(const std::string& path, std::uint64_t size) {
  if (found_.files.size() == limits_.files) {
    leave_out(path, "more than " + std::to_string(limits_.files) + " files");
  } else if (size > limits_.file_bytes) {
    leave_out(path, policies::format_size(size) + ", a file may have " +
                        policies::format_size(limits_.file_bytes));
  } else if (bytes_ + size > limits_.bytes) {
    leave_out(path, "all may have " + policies::format_size(limits_.bytes));
  } else {
    return true;
  }
  return false;
}

// Whose directories are opened to their owner, his files are as well.
sys::UniqueFd ArtifactSearch::open_file(const std::string& path) const {
  sys::UniqueFd file = open_beneath(directory_, path.c_str(), O_RDONLY);
  if (file.is_open() || errno != EACCES || closed_ == ClosedDirectories::leave) return file;
  const sys::UniqueFd place = open_beneath(directory_, path.c_str(), O_PATH);
  struct stat info = {};
  if (!place.is_open() || ::fstat(place.get(), &info) < 0) return {};
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) return {};
  const std::string name = "/proc/self/fd/" + std::to_string(place.get());
  if (::chmod(name.c_str(), (info.st_mode & 07777U) | S_IRUSR) < 0) return {};
  return open_beneath(directory_, path.c_str(), O_RDONLY);
}

void ArtifactSearch::leave_out(const std::string& path, const std::string& why) {
  if (left_out_count_++ > 0) return;
  left_out_ = "'" + path + "' (" + why + ")";
}

void ArtifactSearch::finish() {
  if (reader_ != nullptr) {  // the time is up
    leave_out(reader_->artifact().path, "the time was up");
    reader_.reset();
  }
  for (; next_ < candidates_.size(); ++next_) {
    leave_out(candidates_[next_], "the time was up");
  }
  found_.left_out = describe_left_out();
  if (remembers_searches_) remember_seen();
  std::ranges::sort(found_.files, {}, &Artifact::path);
  std::exchange(on_found_, nullptr)(std::move(found_));
}

// What was not looked at this time is not forgotten for that, as far as there is room.
void ArtifactSearch::remember_seen() {
  const bool is_whole = is_listed_ && !listing_->saw_too_many() && listing_->unread().empty();
  if (!is_whole && remembered_.size() < limits_.names) seen_.merge(remembered_);
  remembered_ = std::exchange(seen_, {});
  late_ = std::exchange(seen_late_, {});
}

std::string ArtifactSearch::describe_left_out() const {
  std::string text = left_out_;
  if (left_out_count_ > 1) text += " and " + std::to_string(left_out_count_ - 1) + " more";
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (listing_->saw_too_many()) {
    add("what came after the first " + std::to_string(limits_.names) + " names");
  } else if (!is_listed_) {
    add("what was not seen in time");
  }
  if (!listing_->unread().empty()) {
    add("the directory '" + listing_->unread() + "' (it can't be read)");
  }
  return text.empty() ? "" : "not among the artifacts: " + text;
}

}  // namespace wardcase::supervisor

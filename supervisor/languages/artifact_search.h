// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/languages/artifact_reader.h"
#include "supervisor/languages/tree_listing.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/run_record.h"

namespace wardcase::supervisor {

class OutDirectory;

// What a search may take. What is beyond is left out, and told.
struct ArtifactLimits {
  std::size_t files = 256;
  std::uint64_t file_bytes = 64 << 20;  // of one; holes count
  std::uint64_t bytes = 256 << 20;      // of all
  std::uint64_t names = 100'000;        // looked at
  std::chrono::milliseconds time{5000};
};

struct FoundArtifacts {
  std::vector<Artifact> files;  // by path
  std::string left_out;         // a sentence; "": nothing was
  sys::Status brought;          // the first failure to write to the out directory
};

// Finds the files of a directory that are new or have changed: regular ones with one name
// only. It may be a hostile program's that is still at work: nothing is followed, waited for or
// read without bound. Done in slices of the loop; destroying it ends what is under way.
class ArtifactSearch {
 public:
  ArtifactSearch(EventLoop& loop, ClosedDirectories closed, const ArtifactLimits& limits = {});
  ArtifactSearch(const ArtifactSearch&) = delete;
  ArtifactSearch& operator=(const ArtifactSearch&) = delete;
  ~ArtifactSearch();

  // The file is no news as long as it holds what `content` does; without one, whatever it holds.
  void know(std::string path, sys::UniqueFd content);
  // What is in `directory` now (borrowed until `done`) is no news as long as it stays as it is.
  // False: there is too much of it, and what changes can't be told.
  void remember(int directory, std::function<void(bool could)> done);
  // The file that has this state at `path` is no news as long as it stays as it is.
  void remember_file(const std::string& path, const struct stat& info);
  // From here on, whatever a search has seen is no news to the next one as long as it stays as it
  // is; and files of ours that are not whole yet (kUnfinishedName) are none. All look at one
  // directory, from which nobody is kept meanwhile.
  void remember_searches() { remembers_searches_ = true; }

  // Looks for news in `directory`, and copies them to `out` if there is one; both borrowed until
  // `done`, which is called once, in a later turn of the loop.
  void search(int directory, const OutDirectory* out, std::function<void(FoundArtifacts)> done);

 private:
  void slice();
  void in_next_turn();
  void meet(const std::string& path, const struct stat& info);
  void read_one();
  void begin_next();
  void take(const Artifact& artifact);
  [[nodiscard]] bool fits(const std::string& path, std::uint64_t size);
  [[nodiscard]] sys::UniqueFd open_file(const std::string& path) const;
  void leave_out(const std::string& path, const std::string& why);
  void finish();
  void remember_seen();
  [[nodiscard]] std::string describe_left_out() const;

  EventLoop& loop_;
  ClosedDirectories closed_;
  ArtifactLimits limits_;
  EventLoop::TimerId timer_ = 0;
  std::unordered_map<std::string, sys::UniqueFd> known_;
  std::unordered_set<std::size_t> remembered_;  // of each file's path, inode, size and times
  bool remembers_searches_ = false;
  std::unordered_set<std::size_t> seen_;  // by the search under way, as remembered_
  // Sums of those that had changed so late before they were read that one more change would have
  // left their times as they are; by path. Of the last search, and of the one under way.
  std::unordered_map<std::string, std::string> late_;
  std::unordered_map<std::string, std::string> seen_late_;

  int directory_ = -1;
  const OutDirectory* out_ = nullptr;
  std::function<void(bool)> on_remembered_;  // set: no search, but a look before it
  std::function<void(FoundArtifacts)> on_found_;
  Clock::time_point deadline_;
  std::optional<TreeListing> listing_;
  bool is_listed_ = false;
  std::vector<std::string> candidates_;  // paths
  std::size_t unknown_count_ = 0;        // those of them that are not known
  std::size_t next_ = 0;
  std::unique_ptr<ArtifactReader> reader_;
  timespec changed_at_ = {};  // what is read: when it last did
  std::uint64_t bytes_ = 0;
  FoundArtifacts found_;
  std::string left_out_;  // the first of them
  std::size_t left_out_count_ = 0;
};

}  // namespace wardcase::supervisor

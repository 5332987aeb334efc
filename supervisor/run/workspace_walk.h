// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>
#include <time.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

struct stat;

namespace wardcase::supervisor {

struct DiskUse {
  std::uint64_t bytes = 0;  // of blocks: holes cost nothing
  std::uint64_t inodes = 0;
};

// A host directory or file that a program may write to.
struct WorkspaceRoot {
  std::string path;
  sys::UniqueFd place;  // O_PATH: it is what was mounted, whatever becomes of its name
  dev_t device = 0;
  uid_t owner = 0;
  ino_t inode = 0;
};

// Which directories get back the rights that their own owner needs to look into
// them (u+rwx). Never one that was not touched since the run began.
enum class Reopen : std::uint8_t { never, where_needed, all };

struct WalkRules {
  Reopen reopen = Reopen::never;
  timespec began = {};             // of the run, by the clock of the file system
  std::uint64_t most_inodes = 0;   // the walk ends when it has seen more, or more names
  bool refuse_privileged = false;  // the walk ends at a file that privileged() then names
};

// Adds up what is in some trees, in small steps, while a hostile program changes
// them. Each inode counts once, however many names it has and wherever it is moved
// meanwhile. Nothing but directories is ever opened, no link is followed, other file
// systems mounted inside are left out, and one descriptor does for any depth. What is
// moved out of its way is missed by this walk, not by the next.
class WorkspaceWalk {
 public:
  // `roots` must live as long as the walk.
  WorkspaceWalk(std::span<const WorkspaceRoot> roots, const WalkRules& rules);

  // Goes on until all is seen or the time is up; true: it is over.
  bool step(Clock::time_point until);

  [[nodiscard]] const DiskUse& use() const { return use_; }
  [[nodiscard]] bool saw_too_many() const {
    return seen_.size() > rules_.most_inodes || names_ > rules_.most_inodes;
  }
  // A file of the owner that gives rights to whoever runs it (setuid, setgid, capabilities):
  // written to through a mapping, it would keep them. "" where none was met.
  [[nodiscard]] const std::string& privileged() const { return privileged_; }
  // Counts one more inode that was found elsewhere, unless the walk has seen it.
  void add(const struct stat& info);

 private:
  struct Level {
    std::string name;
    ino_t inode = 0;
    std::vector<std::string> waiting;  // directories in it that are still to be seen
  };
  struct Key {
    dev_t device;
    ino_t inode;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>(key.inode * 0x9e37'79b9'7f4a'7c15ULL ^ key.device);
    }
  };

  bool advance();
  void begin_root();
  bool fill();
  void look_at(const char* name);
  void check_privileged(const struct stat& info, const char* name);
  void enter(std::string name);
  void climb();
  void reopen_path();
  sys::UniqueFd open_directory(int in, const char* name);
  bool give_back_rights(int place) const;
  [[nodiscard]] bool is_closed_to_owner(const struct stat& info) const;

  std::span<const WorkspaceRoot> roots_;
  WalkRules rules_;
  std::size_t next_root_ = 0;
  const WorkspaceRoot* root_ = nullptr;
  std::vector<Level> levels_;  // from the root to where we are
  sys::UniqueFd here_;
  bool is_reading_ = false;
  alignas(8) std::array<char, 16 * 1024> entries_;
  std::size_t entries_at_ = 0;
  std::size_t entries_size_ = 0;
  std::unordered_set<Key, Hash> seen_;
  std::uint64_t names_ = 0;
  DiskUse use_;
  std::string privileged_;
};

}  // namespace wardcase::supervisor

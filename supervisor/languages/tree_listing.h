// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/event_loop.h"

struct stat;

namespace wardcase::supervisor {

// Whether directories that their own owner can't look into get those rights back (u+rwx).
enum class ClosedDirectories : std::uint8_t { leave, open };

// Opens `path` below `root` without following a link or leaving the file system; what opening
// waits for or has an effect on (a FIFO, a terminal) it leaves at that. Closed, with errno, where
// that fails.
[[nodiscard]] sys::UniqueFd open_beneath(int root, const char* path, int flags, mode_t mode = 0);

// Lists the files below a directory, those of the upper levels first, in small steps, while a
// hostile program may change it. No link is followed, no file is opened, other file systems
// mounted inside are left out, and one descriptor does for any depth.
class TreeListing {
 public:
  // Called for all that is no directory. `path` is relative to the root.
  using Visit = std::function<void(const std::string& path, const struct stat& info)>;

  // `root` is borrowed, a directory open for reading. `most_names` bounds what is looked at.
  TreeListing(int root, ClosedDirectories closed, std::uint64_t most_names, Visit visit);

  // Goes on until all is listed or the time is up; true: it is over.
  bool step(Clock::time_point until);

  // More names than were to be looked at, or more than is remembered of directories.
  [[nodiscard]] bool saw_too_many() const { return saw_too_many_; }
  // A directory that could not be looked into, or whose path is too long to be opened; "": none.
  [[nodiscard]] const std::string& unread() const { return unread_; }

 private:
  bool advance();
  void enter(std::string path);
  bool fill();
  void look_at(const char* name);
  void give_back_rights(int directory) const;
  sys::UniqueFd open_directory(const std::string& path);

  int root_;
  ClosedDirectories closed_;
  std::uint64_t names_left_;
  Visit visit_;
  std::deque<std::string> waiting_;  // directories to be seen
  std::size_t waiting_bytes_ = 0;
  std::string path_;  // of `here_`, with a slash at its end; "" for the root
  sys::UniqueFd here_;
  alignas(8) std::array<char, 16 * 1024> entries_;
  std::size_t entries_at_ = 0;
  std::size_t entries_size_ = 0;
  bool saw_too_many_ = false;
  std::string unread_;
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

// Files of a box that lives, by the descriptor of its /box and with the rights of its user: what
// its programs do meanwhile, links that they leave in the way included, leads nowhere else.

// Relative to /box; a leading "/box/" is dropped. "": what leads out of it.
[[nodiscard]] sys::Result<std::string> path_in_box(const std::string& path);

// A regular file, for reading. Never waits.
[[nodiscard]] sys::Result<sys::UniqueFd> open_box_file(int box, const BoxUser& user,
                                                       const std::string& path);
// A file that is written beside its place and takes it as a whole, or not at all: what was there,
// which may be a regular file alone, stays until then.
class NewBoxFile {
 public:
  // Its directory must be there. Where `path` is a directory, the file is `name` in it.
  static sys::Result<NewBoxFile> create(int box, const BoxUser& user, const std::string& path,
                                        const std::string& name, mode_t mode);
  NewBoxFile(NewBoxFile&&) noexcept = default;
  NewBoxFile& operator=(NewBoxFile&&) = delete;
  ~NewBoxFile();  // one that did not take its place is removed

  [[nodiscard]] int fd() const { return file_.get(); }
  // Its place, relative to /box, without "." and "//".
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] sys::Status take_place();

 private:
  NewBoxFile(const BoxUser& user, sys::UniqueFd directory, std::string path);
  [[nodiscard]] sys::Status check_place() const;

  BoxUser user_;
  sys::UniqueFd directory_;
  std::string path_;
  std::string name_;  // the last part of it
  std::string unfinished_;
  sys::UniqueFd file_;
};

// One that is a regular file, a link or an empty directory, or any other name that is none.
[[nodiscard]] sys::Status remove_box_file(int box, const BoxUser& user, const std::string& path);

struct BoxEntry {
  std::string name;
  char type;  // '-' regular, 'd' directory, 'l' link, 'p', 's', 'b', 'c' as ls(1) has them
  mode_t mode;
  std::uint64_t size;
  std::int64_t modified_ms;  // since the epoch
};
// What a directory holds, in order of the names, or the file that `path` is. EFBIG: more than
// 10,000.
[[nodiscard]] sys::Result<std::vector<BoxEntry>> list_box_files(int box, const BoxUser& user,
                                                                const std::string& path);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// A file on its way to an OutDirectory: it has a name of its own there until it is whole.
class OutFile {
 public:
  OutFile(OutFile&&) noexcept = default;
  OutFile& operator=(OutFile&&) = delete;
  ~OutFile();  // one that was not finished is removed

  [[nodiscard]] sys::Status write(std::string_view bytes);
  // Puts it in its place, where at most a regular file is replaced.
  [[nodiscard]] sys::Status finish();

 private:
  friend class OutDirectory;
  OutFile() = default;

  std::string path_;
  std::string name_;  // the last part of it
  std::string temporary_;
  sys::UniqueFd directory_;  // that both names are in
  sys::UniqueFd file_;
};

// A directory of the host that files of boxes are brought to. Programs may be able to write to
// it, too: no link in it is followed, whatever the names are. Errors name the path.
class OutDirectory {
 public:
  // Makes it if it is missing, but no directory above it.
  static sys::Result<OutDirectory> open(const std::string& path);

  // `path` is relative, without "." and ".."; directories on the way are made.
  [[nodiscard]] sys::Result<OutFile> begin(const std::string& path, bool is_executable) const;

 private:
  explicit OutDirectory(sys::UniqueFd root, std::string path);
  [[nodiscard]] sys::Result<sys::UniqueFd> open_parent(const std::string& path) const;

  sys::UniqueFd root_;
  std::string path_;
};

}  // namespace wardcase::supervisor

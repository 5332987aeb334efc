// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace wardcase::test {

// A fresh directory of mode 0700, removed with all in it at the end of the scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(std::filesystem::temp_directory_path() / "wardcase-unit-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();  // whatever comes next fails
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
    EXPECT_FALSE(error) << path_ << " is left behind: " << error.message();
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sandbox/cgroup_delegation.h"
#include "sandbox/sys/files.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::test {

// A v2 tree of plain files: new groups get theirs as from the kernel, and
// cgroup.subtree_control takes controllers. Calls can be told to fail.
class FakeV2Tree {
 public:
  explicit FakeV2Tree(std::string_view controllers = "") {
    fill(directory_.path(), controllers);
    std::filesystem::remove(path("/cgroup.events"));  // the real root has none
  }

  [[nodiscard]] const std::string& root() const { return directory_.path(); }
  [[nodiscard]] std::string path(const std::string& group) const { return root() + group; }
  void write(const std::string& file, std::string_view text) const {
    std::ofstream(path(file)) << text;
  }
  [[nodiscard]] std::string read(const std::string& file) const {
    return sys::read_file(AT_FDCWD, path(file).c_str()).value_or("missing");
  }
  void add_group(const std::string& group, std::string_view controllers) const {
    std::filesystem::create_directory(path(group));
    fill(path(group), controllers);
  }

  // Writing `text` (anything, if empty) to files of this name fails with `error`.
  void refuse(std::string file, std::string text, int error) {
    refused_file_ = std::move(file);
    refused_text_ = std::move(text);
    write_error_ = error;
  }
  void refuse_groups(int error) { group_error_ = error; }
  // New groups lack this file, as with older kernels.
  void leave_out(std::string file) { left_out_ = std::move(file); }

  [[nodiscard]] sandbox::CgroupCalls calls() {
    return {[this](const char* new_group, mode_t mode) { return make_group(new_group, mode); },
            [this](int directory, const char* file, std::string_view text) {
              return write_file(directory, file, text);
            }};
  }

 private:
  void fill(const std::string& group, std::string_view controllers) const {
    for (const auto& [file, text] :
         {std::pair<const char*, std::string_view>{"cgroup.controllers", controllers},
          {"cgroup.subtree_control", ""},
          {"cgroup.procs", ""},
          {"cgroup.type", "domain\n"},
          {"cgroup.events", "populated 0\nfrozen 0\n"},
          {"cgroup.kill", ""},
          {"cgroup.freeze", "0\n"},
          {"cpu.stat", "usage_usec 0\n"},
          {"cpu.max", ""},
          {"memory.max", ""},
          {"memory.swap.max", ""},
          {"memory.oom.group", ""},
          {"memory.peak", "0\n"},
          {"memory.events", "oom 0\noom_kill 0\noom_group_kill 0\n"},
          {"pids.max", ""},
          {"pids.peak", "0\n"},
          {"pids.events", "max 0\n"}}) {
      if (left_out_ != file) std::ofstream(group + "/" + file) << text;
    }
  }

  int make_group(const char* new_group, mode_t mode) {
    if (group_error_ != 0) {
      errno = group_error_;
      return -1;
    }
    const int made = ::mkdir(new_group, mode);
    if (made == 0) {
      const auto above = std::filesystem::path(new_group).parent_path() / "cgroup.subtree_control";
      fill(new_group, sys::read_file(AT_FDCWD, above.c_str()).value_or(""));
    }
    return made;
  }

  sys::Status write_file(int directory, const char* file, std::string_view text) {
    if (write_error_ != 0 && refused_file_ == file &&
        (refused_text_.empty() || refused_text_ == text)) {
      return tl::unexpected(sys::Error{write_error_, "write '" + std::string(file) + "'"});
    }
    if (!text.starts_with('+')) return sys::write_file(directory, file, text);
    const std::string given = sys::read_file(directory, file).value_or("");
    return sys::write_file(directory, file,
                           given + (given.empty() ? "" : " ") + std::string(text.substr(1)));
  }

  TemporaryDirectory directory_;
  std::string refused_file_;
  std::string refused_text_;
  int write_error_ = 0;
  int group_error_ = 0;
  std::string left_out_;
};

}  // namespace wardcase::test

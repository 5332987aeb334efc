// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launch_plan.h"
#include "sandbox/launch_request.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

enum class LayoutKind : std::uint8_t { system, user, device };

// A bind with its place decided.
struct LayoutBind {
  std::string source;
  std::string target;  // absolute
  policies::MountMode mode = policies::MountMode::read_only;
  LayoutKind kind = LayoutKind::system;
  bool is_directory = false;
  bool on_scratch = false;  // its mount point is made on the writable file system
  std::optional<FileIdentity> looked_at = std::nullopt;
};

// What stands where in a box: which directories, links and small files are
// made, and which host paths are bound. It looks at the host (what exists, what
// is a link) and changes nothing.
class BoxLayout {
 public:
  // Fails on a bind whose source is missing, and on a file or bind whose target
  // is not below a place where it may be, naming it.
  static sys::Result<BoxLayout> make(const LaunchRequest& request);

  // Writes everything but the binds into the plan (those need descriptors).
  void put_into(PlanBuilder& plan) const;
  [[nodiscard]] const std::vector<LayoutBind>& binds() const { return binds_; }
  [[nodiscard]] bool has_program_directory() const { return has_program_directory_; }
  // Path of a file on the writable file system: /box/a.py -> box/a.py.
  [[nodiscard]] static sys::Result<std::string> scratch_path(std::string_view path);

 private:
  struct Text {
    std::string path;
    std::string text;
    bool on_scratch = false;
  };
  void add_base(const LaunchRequest& request);
  sys::Status add_cpus(const std::vector<unsigned>& cpus);
  sys::Status add_system_binds();
  sys::Status add_system_bind(const std::string& path);
  sys::Status add_system_link(const std::string& path, std::string_view below);
  void add_devices(const LaunchRequest& request);
  sys::Status add_bind(const BindRequest& request);
  void make_mount_point(LayoutBind& bind);
  void make_parents(bool on_scratch, std::string_view path);
  void make_directory(bool on_scratch, const std::string& path, mode_t mode);

  std::map<std::string, mode_t, std::less<>> root_directories_;  // sorted: parents first
  std::map<std::string, mode_t, std::less<>> scratch_directories_;
  std::vector<std::pair<std::string, std::string>> symlinks_;  // target, path
  std::vector<Text> texts_;
  std::vector<LayoutBind> binds_;
  bool has_program_directory_ = false;
};

}  // namespace wardcase::sandbox

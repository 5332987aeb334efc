// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <linux/filter.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "sandbox/id_maps.h"
#include "sandbox/setup_report.h"

namespace wardcase::sandbox {

class Cgroup;

// Where the parts of the box are.
inline constexpr std::string_view kWorkDirectory = "/box";
inline constexpr std::string_view kHomeDirectory = "/home/user";
inline constexpr std::string_view kProgramDirectory = "/run/wardcase";

// Where the program finds its channel, if it has one.
inline constexpr int kProgramChannel = 3;

// Where they are in a private directory, for a box without namespaces. /dev/shm has no other place
// there: it belongs to nobody.
struct PrivatePlace {
  std::string_view target;
  std::string_view name;
};
inline constexpr PrivatePlace kPrivatePlaces[] = {{kWorkDirectory, "box"},
                                                  {kHomeDirectory, "home"},
                                                  {"/tmp", "tmp"},
                                                  {kProgramDirectory, "program"}};

// What a bind is for decides whose files it shows.
enum class BindKind : std::uint8_t {
  system,  // interpreters and libraries: as they are on the host
  user,    // asked for by name: its owner appears as the box's user
};

// Which file a path meant when somebody looked at it.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct BindRequest {
  std::string source;
  std::string target;  // absolute
  policies::MountMode mode = policies::MountMode::read_only;
  BindKind kind = BindKind::system;
  std::optional<FileIdentity> looked_at =
      std::nullopt;  // the launch fails if the source is another by then
};

struct FileRequest {
  std::string path;  // absolute, below /box or /run/wardcase
  int content = -1;  // borrowed; read from its start
  mode_t mode = 0644;
};

struct RlimitRequest {
  int resource = 0;
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;  // neither is ever raised above the hard limit that we came with
};

// One box and the program in it, as the layer above wants it. Borrowed
// descriptors and the cgroup stay the caller's.
struct LaunchRequest {
  std::vector<std::string> argv;
  std::vector<std::string> exec_paths;  // tried in this order
  std::vector<std::string> environment;
  std::string directory = std::string(kWorkDirectory);

  std::vector<BindRequest> binds;
  std::vector<FileRequest> files;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t scratch_inodes = 0;
  policies::Network network = policies::Network::none;
  // Not -1: there are no namespaces of its own (policies::Confinement::landlock). Every path is
  // the host's, and this directory (borrowed), made for the run, has the places that the
  // program may write to, by kPrivatePlaces' names.
  int private_directory = -1;
  std::string private_path;
  [[nodiscard]] bool has_namespaces() const { return private_directory < 0; }

  BoxIds ids;
  std::vector<RlimitRequest> rlimits;
  std::vector<unsigned> cpus;  // the processors that the box is told of; empty: nothing is said
  bool pin_cpus = false;       // it runs on these only
  std::vector<sock_filter> filter;
  int landlock_abi = 0;          // 0: no Landlock
  bool execute_writable = true;  // false: nothing is executed where the program can write
  // /dev/zero reads as ever but can't be mapped: a shared mapping of it is memory that
  // shows only while it is mapped.
  bool unmappable_zero = false;
  Cgroup* cgroup = nullptr;
  std::chrono::milliseconds backstop{0};

  // The program is executed and held before its first instruction; whoever asks for it
  // ends the box then.
  bool hold_at_exec = false;

  // Borrowed; -1: none. The program's descriptor 3 (kProgramChannel), which stays open at its exec.
  int program_channel = -1;
  bool with_stdin = false;  // else the box's own /dev/null
  bool merge_stderr = false;
  // A terminal of this size, of the box's own, in place of all three pipes. Its
  // master comes up as SetupMessage::Kind::terminal.
  std::optional<winsize> terminal;

  // For tests alone: this step fails with this errno.
  SetupStep fault_step = SetupStep::none;
  int fault_error = 0;
};

}  // namespace wardcase::sandbox

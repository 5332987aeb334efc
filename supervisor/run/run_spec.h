// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/limits.h"
#include "policies/policy.h"
#include "policies/syscall_policy.h"
#include "sandbox/setup_report.h"
#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

// A file that is put in the box before the program starts; its bytes come from
// a descriptor (a memfd, or the user's file), never through argv.
struct PlacedFile {
  std::string path;       // absolute in the box, below /box or /run/wardcase
  sys::UniqueFd content;  // a regular file or memfd, read from its start
  mode_t mode = 0644;
};

// Where the program's bytes go, besides the observer.
enum class Capture : std::uint8_t {
  count,        // pass-through: bytes are handed to the observer and only counted
  keep,         // head and tail are kept for the record; a hard output limit by default
  keep_beside,  // kept for the record of a pass-through, which has no such limit
};

// All of what is asked for that can be copied: what many runs of one program have in common.
struct CommonSpec {
  std::string id;  // run_...; chosen by Run where empty
  std::optional<std::string> language;
  // argv[0] is a path in the box, or a name looked for on the box's PATH.
  // program_names, where not empty, are tried in this order in its place (interpreter candidates).
  std::vector<std::string> argv;
  std::vector<std::string> program_names;
  std::vector<std::string> environment;  // "NAME=VALUE", the whole of it
  std::string cwd = "/box";
  std::vector<policies::Mount> mounts;  // -v, checked; target "/box" is the workspace
  // What some of these have to be when they are mounted, whatever their paths mean by then. While
  // it is held nothing else can be taken for it.
  struct HeldSource {
    std::string target;
    std::shared_ptr<const sys::UniqueFd> held;  // by all copies
  };
  std::vector<HeldSource> held_sources;
  std::vector<policies::Mount>
      system_mounts;  // of languages and --interpreter: read-only, never id-mapped for uid 0
  policies::Network network = policies::Network::none;
  std::string policy = "default";     // its name, for messages
  std::vector<std::string> require;   // features without which nothing may run
  policies::SyscallChanges syscalls;  // what the policy changes of the built-in rules
  policies::OomAnswer oom = policies::OomAnswer::end_run;
  bool execute_writable = true;  // false: not where it can write
  policies::Confinement confinement = policies::Confinement::namespaces;
  // The caller's own id on the host even where he has a pool of others (Host::id_pool): files that
  // are shown lie in a directory that is his alone. Root's boxes have theirs all the same.
  bool keeps_id = false;
  policies::Limits limits;  // not yet resolved
  bool merge_stderr = false;
  std::optional<std::string> encoding_fallback;  // the encoding of lines that are not UTF-8
  // The program gets a terminal of its own, of this size: stdin_source is typed into
  // it, and what is written to it is stdout; stderr stays empty.
  std::optional<winsize> terminal;
  Capture capture = Capture::keep;
  // All of a run up to the program's exec, and then its end before the first instruction:
  // the record is `exited` without an exit code where the program would have run.
  bool rehearsal = false;

  // For tests alone: this step of the launch fails with this errno.
  sandbox::SetupStep fault_step = sandbox::SetupStep::none;
  int fault_error = 0;
};

// What is asked for: everything a run needs to know, with nothing worked out yet.
struct RunSpec : CommonSpec {
  std::vector<PlacedFile> files;
  sys::UniqueFd stdin_source;  // closed: the program reads an empty stdin
  // The program's descriptor 3 (sandbox::kProgramChannel), of a pipe or socket whose other end is
  // the asker's; closed: it has none.
  sys::UniqueFd channel;

  // What a complete policy says of the box itself; limits, network, mounts and environment
  // are for whoever asks to settle.
  void take_policy(const policies::Policy& its_policy, policies::SyscallChanges its_syscalls);

  // Another with the same files, but with no input and no channel.
  [[nodiscard]] sys::Result<RunSpec> share() const;
};

// The mount that stands at /box; nullptr: /box is the box's own.
[[nodiscard]] const policies::Mount* find_workspace(const RunSpec& spec);

// Where the box's files come from and PATH leads; also what HOME is.
inline constexpr std::string_view kBoxPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
inline constexpr std::string_view kBoxHome = "/home/user";

}  // namespace wardcase::supervisor

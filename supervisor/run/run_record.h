// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/limits.h"
#include "sandbox/cgroup.h"

namespace wardcase::supervisor {

// How a run ended: one closed list, the first cause wins. The names are those
// of the record.
enum class RunStatus : std::uint8_t {
  exited,
  signaled,
  timeout,
  cpu_time,
  idle,
  oom,
  output_limit,
  disk_limit,
  denied,
  stopped,
  setup_failed,
  cannot_execute,
  invalid_request,
  syntax_error,
  compile_failed,
  install_failed,
  running,
  lost,
};
[[nodiscard]] std::string_view status_name(RunStatus status);
// nullopt: none has that name.
[[nodiscard]] std::optional<RunStatus> status_named(std::string_view name);

struct Degraded {
  std::string feature;  // "memory_cgroup", "supplementary_groups", ...
  std::string because;
  std::string instead;  // what is used in its place, or "nothing"
  std::string fix;
};

struct Isolation {
  std::vector<std::string> requested;
  std::vector<std::string> effective;
  std::vector<Degraded> degraded;
};

// A system call that the policy refused.
struct DeniedCall {
  std::string name;
  std::uint64_t count = 0;
  std::string detail;  // what of the first call's arguments tells; may be ""
  // Not part of the JSON:
  std::string why;     // a clause: what it is refused for
  std::string remedy;  // a clause: what would allow it
};

// Bytes of one stream as they are told: text (valid UTF-8, marker where cut)
// and, where asked for, the kept raw bytes.
struct KeptOutput {
  std::string text;
  std::string raw;          // kept head and tail, without a marker
  std::uint64_t bytes = 0;  // all that was written
  bool truncated = false;
  std::uint64_t encoding_errors = 0;  // U+FFFD put into text
};

// What became of what had to be done before the program: a compilation, an installation.
struct StageRecord {
  RunStatus status = RunStatus::setup_failed;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string out;  // valid UTF-8, head and tail where cut
  std::string err;
  std::chrono::microseconds duration{0};
  std::optional<std::chrono::microseconds> cpu;
  std::optional<std::uint64_t> memory_peak_bytes;
  bool cached = false;  // its outcome was there already, and nothing ran
  std::string error;    // one sentence, "" on success
};

// A regular file that the program left in /box.
struct Artifact {
  std::string path;  // relative to /box; bytes as the file system has them
  std::uint64_t size = 0;
  std::string mime;
  std::string sha256;  // 64 hexadecimal digits
};

// The value of a session's last expression.
struct Result {
  std::string text;
  std::vector<std::pair<std::string, std::string>> mime;  // type, content (base64 for images)
};

// What became of a run: the record of every door. Field by field as in
// record.schema.json.
struct RunRecord {
  std::string id;
  std::optional<std::string> session_id;
  std::optional<std::string> language;
  RunStatus status = RunStatus::setup_failed;
  std::optional<int> exit_code;  // the program's own; cannot_execute: 126 or 127, null in the JSON
  std::optional<int> signal;     // its number; the record has its name
  KeptOutput out;
  KeptOutput err;
  std::string output;  // both, in order of arrival
  std::uint64_t encoding_errors = 0;
  std::chrono::microseconds duration{0};
  std::optional<std::chrono::microseconds> cpu;
  std::chrono::microseconds setup{0};
  std::chrono::microseconds queued{0};
  std::optional<std::uint64_t> memory_peak_bytes;
  std::optional<std::uint64_t> oom_kills;
  std::optional<std::uint64_t> processes_peak;
  std::uint64_t leftover_processes = 0;
  policies::Limits limits;
  std::vector<std::string> limits_hit;
  std::array<sandbox::Enforcement, policies::kLimitCount> enforced_by{};
  Isolation isolation;
  // By name, in order of the first calls. Without a value: nobody notified us of them.
  std::optional<std::vector<DeniedCall>> denied_syscalls;
  bool unkillable = false;
  bool session_ended = false;
  bool session_restarted = false;
  // As the interpreter told them, or as a limit of ours explains them (contract: error_type).
  std::optional<std::string> error_type;
  std::optional<std::string> error_message;
  std::optional<std::string> traceback;
  std::optional<Result> result;
  std::vector<Artifact> artifacts;
  std::optional<StageRecord> compile;
  std::optional<StageRecord> install;
  // Not part of the JSON:
  std::string left_out;       // of the artifacts: a sentence, "" for nothing; or it is the hint
  std::string not_brought;    // an artifact that could not be copied, and why
  std::string missed_module;  // what the exception was about
  std::string missed_path;
  int stop_signal = 0;  // status stopped: the signal we got
  std::string error;    // one sentence, "" on success
  std::string hint;     // one next step, or ""

  [[nodiscard]] bool success() const { return status == RunStatus::exited && exit_code == 0; }
};

enum class OutputForm : std::uint8_t { text, base64 };

// The record as one JSON object without a line break, all fields of the
// contract, valid UTF-8.
[[nodiscard]] std::string to_json(const RunRecord& record, OutputForm form = OutputForm::text);

// The same of one artifact, as the record has it.
[[nodiscard]] std::string to_json(const Artifact& artifact);

// The exit code of the command line for it (contract: exit codes).
[[nodiscard]] int exit_code_of(const RunRecord& record);

[[nodiscard]] std::string_view enforcement_name(sandbox::Enforcement enforcement);
// "SIGKILL"; realtime signals as "SIGRTMIN+3".
[[nodiscard]] std::string signal_name(int signal);

}  // namespace wardcase::supervisor

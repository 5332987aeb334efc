// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sandbox/cgroup.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// What both versions answer alike: which limits were written into their files.
class LimitHolder : public Cgroup {
 public:
  [[nodiscard]] Enforcement memory() const final { return holder_of(limits_.memory_bytes); }
  [[nodiscard]] Enforcement pids() const final { return holder_of(limits_.pids); }
  [[nodiscard]] Enforcement cpus() const final { return holder_of(limits_.millicpus); }

 protected:
  explicit LimitHolder(Enforcement version) : version_(version) {}

  CgroupLimits limits_;  // those that were written

 private:
  [[nodiscard]] Enforcement holder_of(const std::optional<std::uint64_t>& written) const {
    return written ? version_ : Enforcement::none;
  }

  Enforcement version_;
};

// The number that a text begins with; nullopt where there is none ("max") or it does not fit.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

// The number after `key` in a text of "key number" lines.
[[nodiscard]] std::optional<std::uint64_t> parse_keyed(std::string_view text, std::string_view key);

// The files of one control group; `directory` is a descriptor of it (O_PATH will do).

// A file that holds one number; nullopt where it is missing or says "max".
[[nodiscard]] std::optional<std::uint64_t> read_number(int directory, const char* file);

// The same for a file.
[[nodiscard]] std::optional<std::uint64_t> read_keyed(int directory, const char* file,
                                                      std::string_view key);

[[nodiscard]] sys::Status write_number(int directory, const char* file, std::uint64_t number);

// What both versions count in the same files: pids.peak (not on older kernels) and
// pids.events; cpu.stat of v2.
void read_pids_usage(int directory, CgroupUsage& usage);
[[nodiscard]] std::optional<std::chrono::microseconds> read_cpu_time(int directory);

// One round of SIGKILL to what is inside: cgroup.kill where there is one, else
// each process of cgroup.procs, thawed if it was frozen. How many processes it
// found, 0 with cgroup.kill; they are still dying when this returns.
int kill_inside(int directory);

}  // namespace wardcase::sandbox

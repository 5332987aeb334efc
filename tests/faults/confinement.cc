// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/faults/confinement.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "tests/support/workplace.h"

namespace wardcase::test {
namespace fs = std::filesystem;
namespace {

// The pool that SECURITY.md names.
const std::regex& pool_id() {
  static const std::regex pattern("1900[0-9]{6}");
  return pattern;
}

std::string without_ids(const std::string& text) {
  return std::regex_replace(text, pool_id(), "POOL");
}

std::string status_of(const fs::path& process) {
  constexpr std::array kKept = {
      "Umask:",  "Uid:",    "Gid:",    "Groups:", "SigBlk:", "SigIgn:",     "SigCgt:", "CapInh:",
      "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NSpid:",  "NoNewPrivs:", "Seccomp:"};
  std::istringstream lines(read_file(process / "status"));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const bool is_kept = std::any_of(kKept.begin(), kKept.end(),
                                     [&](const char* name) { return line.starts_with(name); });
    if (!is_kept) continue;
    // Of the pid only its depth and its number inside stay.
    if (line.starts_with("NSpid:")) {
      const bool is_inside = line.find('\t') != line.rfind('\t');
      line = "NSpid: " + (is_inside ? line.substr(line.rfind('\t') + 1) : "the host's");
    }
    kept += line + "\n";
  }
  return kept;
}

// How many, as which ones is drawn anew for each run.
std::string processors_of(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  (void)::sched_getaffinity(process, sizeof set, &set);
  return "processors: " + std::to_string(CPU_COUNT(&set)) + "\n";
}

std::string namespaces_of(const fs::path& process) {
  std::string text;
  for (const char* kind : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    std::error_code error;
    const auto own = fs::read_symlink(process / "ns" / kind, error);
    const auto ours = fs::read_symlink(fs::path("/proc/self/ns") / kind, error);
    text += std::string(kind) + " namespace: " + (own == ours ? "the host's" : "its own") + "\n";
  }
  return text;
}

// "36 35 98:0 / /usr ro,nosuid - ext4 ...": what is shown where, and how; not its numbers.
std::string mounts_of(const fs::path& process) {
  std::istringstream lines(read_file(process / "mountinfo"));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, root, point, options;
    words >> skipped >> skipped >> skipped >> root >> point >> options;
    const std::string rest = line.substr(line.find(" - "));
    const bool is_propagated = line.substr(0, line.find(" - ")).find(":") == std::string::npos;
    text += root + " " + point + " " + options + rest.substr(0, rest.find(' ', 3)) +
            (is_propagated ? " propagated" : "") + "\n";
  }
  return text;
}

std::string descriptors_of(const fs::path& process) {
  std::vector<std::string> open;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(process / "fd", error)) {
    const std::string target = fs::read_symlink(entry.path(), error).string();
    open.push_back(entry.path().filename().string() + " " + target.substr(0, target.find('[')));
  }
  std::sort(open.begin(), open.end());
  std::string text;
  for (const std::string& line : open) text += "descriptor " + line + "\n";
  return text;
}

// Of each hierarchy where the process is in a group of wardcase: what the group allows.
std::string control_groups_of(const fs::path& process) {
  static const std::regex leaf_name("sup_[a-z2-7]+\\.[0-9]+");
  std::istringstream lines(read_file(process / "cgroup"));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("sup_") == std::string::npos) continue;
    const std::string names = line.substr(line.find(':') + 1, line.rfind(':') - line.find(':') - 1);
    const std::string path = line.substr(line.rfind(':') + 1);
    std::string limits;
    const std::string mount = names.empty() ? "unified" : names;
    for (const char* file :
         {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max", "memory.swap.max",
          "memory.oom.group", "pids.max", "cpu.cfs_quota_us", "cpu.max"}) {
      std::string value;
      for (const std::string& root : {"/sys/fs/cgroup/" + mount, std::string("/sys/fs/cgroup")}) {
        if (value.empty()) value = read_file(root + path + "/" + file);
      }
      if (value.empty()) continue;
      limits += std::string(" ") + file + "=" + value.substr(0, value.find('\n'));
    }
    if (limits.empty()) continue;  // it counts or kills, and holds nothing
    text += names + " in " + std::regex_replace(path, leaf_name, "LEAF") + ":" + limits + "\n";
  }
  return text;
}

}  // namespace

std::string describe_confinement(pid_t process) {
  const fs::path proc = "/proc/" + std::to_string(process);
  return without_ids(status_of(proc) + processors_of(process) + "uid_map " +
                     read_file(proc / "uid_map") + "gid_map " + read_file(proc / "gid_map") +
                     namespaces_of(proc) + mounts_of(proc) + descriptors_of(proc) +
                     control_groups_of(proc) + read_file(proc / "limits"));
}

}  // namespace wardcase::test

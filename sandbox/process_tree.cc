// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Called some fifty times a second, so it reads into buffers on the stack. One
// listing of /proc says who was there at nearly one moment; processes may vanish
// between it and any later read.
#include "sandbox/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {
namespace {

constexpr pid_t kInit = 1;

// Long enough for "PID/task/TID/stat" with the longest ids.
using Path = std::array<char, 64>;

Path process_path(pid_t pid, const char* file) {
  Path path;
  (void)std::snprintf(path.data(), path.size(), "%d/%s", pid, file);
  return path;
}

// Not sys::open_at(): its error text would be built each time a process vanishes.
sys::UniqueFd open_read(int dir, const char* path, int flags = 0) {
  return sys::UniqueFd(
      sys::retry_eintr([&] { return ::openat(dir, path, O_RDONLY | O_CLOEXEC | flags); }));
}

struct Stat {
  char state = 0;
  std::uint64_t threads = 0;
  std::uint64_t resident_pages = 0;
  std::uint64_t own_ticks = 0;
  std::uint64_t waited_ticks = 0;
};

// proc_pid_stat(5). The name in field 2 may hold anything, a ')' too: counting
// starts after the last one.
std::optional<Stat> read_stat(int dir, const char* path) {
  std::array<char, 1024> text;
  const sys::UniqueFd file = open_read(dir, path);
  if (!file.is_open()) return std::nullopt;
  const ssize_t size =
      sys::retry_eintr([&] { return ::read(file.get(), text.data(), text.size()); });
  if (size <= 0) return std::nullopt;
  std::string_view rest(text.data(), static_cast<std::size_t>(size));
  const auto name_end = rest.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= rest.size()) return std::nullopt;
  rest.remove_prefix(name_end + 2);

  Stat stat;
  stat.state = rest.front();
  for (int field = 3; field <= 24 && !rest.empty(); ++field) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    std::uint64_t value = 0;
    (void)std::from_chars(word.data(), word.data() + word.size(), value);  // 0 for what is none
    if (field == 14 || field == 15) stat.own_ticks += value;
    if (field == 16 || field == 17) stat.waited_ticks += value;
    if (field == 20) stat.threads = value;
    if (field == 24) stat.resident_pages = value;
  }
  return stat;
}

// The ids that a directory of /proc lists; nothing if it can't be read.
std::vector<pid_t> list_ids(int dir, const char* path) {
  std::vector<pid_t> ids;
  const sys::UniqueFd directory = open_read(dir, path, O_DIRECTORY);
  if (!directory.is_open()) return ids;
  // Three hundred names in one call, between which and the next one things may change.
  alignas(dirent64) std::array<char, 8192> entries;
  while (true) {
    const ssize_t size = ::getdents64(directory.get(), entries.data(), entries.size());
    if (size <= 0) return ids;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const std::string_view name(entry->d_name);
      pid_t id = 0;
      (void)std::from_chars(name.data(), name.data() + name.size(), id);
      if (id != 0) ids.push_back(id);  // no "." and no "meminfo"
    }
  }
}

bool is_dead(const Stat& stat) { return stat.state == 'Z' || stat.state == 'X'; }

// A main thread that ended by pthread_exit() looks like a zombie without memory
// while its other threads go on: their stat tells the size.
void correct_dead_leader(int proc, pid_t pid, Stat& stat) {
  stat.threads -= 1;
  const sys::UniqueFd tasks = open_read(proc, process_path(pid, "task").data(), O_DIRECTORY);
  if (!tasks.is_open()) return;
  for (const pid_t tid : list_ids(tasks.get(), ".")) {
    const auto thread = read_stat(tasks.get(), process_path(tid, "stat").data());
    if (!thread || is_dead(*thread)) continue;
    stat.state = thread->state;
    stat.resident_pages = std::max(stat.resident_pages, thread->resident_pages);
  }
}

void append_children(int tasks, pid_t thread, std::vector<pid_t>& processes) {
  const auto text = sys::read_file(tasks, process_path(thread, "children").data());
  if (!text) return;
  const char* const end = text->data() + text->size();
  for (const char* at = text->data(); at < end; ++at) {  // each pid is followed by a space
    pid_t pid = 0;
    at = std::from_chars(at, end, pid).ptr;
    if (pid != 0) processes.push_back(pid);
  }
}

// All below init, and init itself; the threads of those below, where they are asked for.
std::vector<pid_t> walk_tree(int proc, pid_t init, std::vector<pid_t>* threads) {
  std::vector<pid_t> processes = {init};
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const pid_t pid = processes[i];
    const sys::UniqueFd tasks = open_read(proc, process_path(pid, "task").data(), O_DIRECTORY);
    if (!tasks.is_open()) continue;
    for (const pid_t thread : list_ids(tasks.get(), ".")) {
      append_children(tasks.get(), thread, processes);
      if (threads != nullptr && pid != init) threads->push_back(thread);
    }
  }
  return processes;
}

// Visits each process of the box with its stat, or without one if it has gone meanwhile.
template <typename Visit>
void visit_all(const ProcessTree& tree, Visit visit) {
  const int proc = tree.proc;
  const std::vector<pid_t> processes =
      tree.init == kInit ? list_ids(proc, ".") : walk_tree(proc, tree.init, nullptr);
  for (const pid_t pid : processes) {
    auto stat = read_stat(proc, process_path(pid, "stat").data());
    if (stat && is_dead(*stat) && stat->threads > 1) correct_dead_leader(proc, pid, *stat);
    visit(pid, stat);
  }
}

std::uint64_t page_size() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::optional<std::uint64_t> read_pss(int proc, pid_t pid) {
  const auto text = sys::read_file(proc, process_path(pid, "smaps_rollup").data());
  if (!text) return std::nullopt;
  const auto label = text->find("\nPss:");
  if (label == std::string::npos) return std::nullopt;
  const auto digit = text->find_first_of("0123456789", label);
  if (digit == std::string::npos) return std::nullopt;
  std::uint64_t kibibytes = 0;
  (void)std::from_chars(text->data() + digit, text->data() + text->size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

TreeUsage read_tree_usage(const ProcessTree& tree) {
  TreeUsage usage;
  std::uint64_t pages = 0;
  std::uint64_t ticks = 0;
  visit_all(tree, [&](pid_t pid, const std::optional<Stat>& stat) {
    if (stat) ticks += stat->waited_ticks;
    if (pid == tree.init) return;
    if (!stat || is_dead(*stat)) {
      usage.tasks += 1;
      if (stat) ticks += stat->own_ticks;
      return;
    }
    usage.processes += 1;
    usage.threads += stat->threads;
    usage.tasks += stat->threads;
    pages += stat->resident_pages;
    ticks += stat->own_ticks;
  });
  usage.resident_bytes = pages * page_size();
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  usage.cpu = std::chrono::microseconds(ticks * (1'000'000 / per_second));
  return usage;
}

std::uint64_t read_tree_pss(const ProcessTree& tree) {
  std::uint64_t bytes = 0;
  visit_all(tree, [&](pid_t pid, const std::optional<Stat>& stat) {
    if (pid == tree.init || !stat || is_dead(*stat)) return;
    bytes += read_pss(tree.proc, pid).value_or(stat->resident_pages * page_size());
  });
  return bytes;
}

std::vector<pid_t> list_tree_threads(pid_t init) {
  std::vector<pid_t> threads;
  const sys::UniqueFd proc = open_read(AT_FDCWD, "/proc", O_DIRECTORY);
  (void)walk_tree(proc.get(), init, &threads);
  return threads;
}

std::uint64_t count_tasks_of(uid_t user) {
  std::uint64_t tasks = 0;
  const sys::UniqueFd proc = open_read(AT_FDCWD, "/proc", O_DIRECTORY);
  for (const pid_t pid : list_ids(proc.get(), ".")) {
    struct stat info = {};
    if (::fstatat(proc.get(), process_path(pid, ".").data(), &info, 0) < 0) continue;
    if (info.st_uid != user) continue;
    const auto stat = read_stat(proc.get(), process_path(pid, "stat").data());
    tasks += stat ? std::max<std::uint64_t>(stat->threads, 1) : 1;
  }
  return tasks;
}

}  // namespace wardcase::sandbox

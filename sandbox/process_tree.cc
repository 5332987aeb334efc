// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Called some fifty times a second, so it reads into buffers on the stack and
// walks with one vector. Processes may vanish between any two reads: what can't
// be read counts as gone. A process whose parent dies during the walk may be
// missed once; the next look finds it below init.
#include "sandbox/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
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

// Long enough for "/proc/PID/task/TID/children" with the longest ids.
using Path = std::array<char, 64>;

Path task_path(pid_t pid, pid_t tid, const char* file) {
  Path path;
  (void)std::snprintf(path.data(), path.size(), "/proc/%d/task/%d/%s", pid, tid, file);
  return path;
}

Path process_path(pid_t pid, const char* file) {
  Path path;
  (void)std::snprintf(path.data(), path.size(), "/proc/%d/%s", pid, file);
  return path;
}

// Not sys::open_at(): its error text would be built each time a process vanishes.
sys::UniqueFd open_read(const Path& path, int flags = 0) {
  return sys::UniqueFd(
      sys::retry_eintr([&] { return ::open(path.data(), O_RDONLY | O_CLOEXEC | flags); }));
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
std::optional<Stat> read_stat(const Path& path) {
  std::array<char, 1024> text;
  const sys::UniqueFd file = open_read(path);
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

// Appends the pids of a `children` file, which may be longer than the buffer.
void append_children(const Path& path, std::vector<pid_t>& processes) {
  const sys::UniqueFd file = open_read(path);
  if (!file.is_open()) return;
  std::array<char, 1024> text;
  pid_t pid = 0;
  while (true) {
    const ssize_t size =
        sys::retry_eintr([&] { return ::read(file.get(), text.data(), text.size()); });
    if (size <= 0) return;
    for (const char c : std::string_view(text.data(), static_cast<std::size_t>(size))) {
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
      } else if (pid != 0) {  // each pid is followed by a space
        processes.push_back(pid);
        pid = 0;
      }
    }
  }
}

template <typename Visit>
void for_each_task(pid_t pid, Visit visit) {
  const sys::UniqueFd directory = open_read(process_path(pid, "task"), O_DIRECTORY);
  if (!directory.is_open()) return;
  alignas(dirent64) std::array<char, 2048> entries;
  while (true) {
    const ssize_t size = ::getdents64(directory.get(), entries.data(), entries.size());
    if (size <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      const std::string_view name(entry->d_name);
      pid_t tid = 0;
      (void)std::from_chars(name.data(), name.data() + name.size(), tid);
      if (tid != 0) visit(tid);  // not "." and ".."
    }
  }
}

struct Process {
  pid_t pid = 0;
  Stat stat;
};

bool is_dead(const Stat& stat) { return stat.state == 'Z' || stat.state == 'X'; }

// A main thread that ended by pthread_exit() looks like a zombie without memory
// while its other threads go on: their stat tells the size.
Process correct_dead_leader(Process process) {
  process.stat.threads -= 1;
  for_each_task(process.pid, [&](pid_t tid) {
    const auto stat = read_stat(task_path(process.pid, tid, "stat"));
    if (!stat || is_dead(*stat)) return;
    process.stat.state = stat->state;
    process.stat.resident_pages = std::max(process.stat.resident_pages, stat->resident_pages);
  });
  return process;
}

// Visits init and everything below it, parents first. A child hangs from the
// thread that forked it, so that all threads have to be asked.
template <typename Visit>
void walk(pid_t init, Visit visit) {
  std::vector<pid_t> processes;
  processes.reserve(64);
  processes.push_back(init);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const pid_t pid = processes[i];
    auto stat = read_stat(process_path(pid, "stat"));
    if (!stat) continue;
    Process process{pid, *stat};
    if (is_dead(*stat) && stat->threads > 1) process = correct_dead_leader(process);
    visit(process);
    if (stat->threads == 1) {
      append_children(task_path(pid, pid, "children"), processes);
    } else {
      for_each_task(
          pid, [&](pid_t tid) { append_children(task_path(pid, tid, "children"), processes); });
    }
  }
}

std::uint64_t page_size() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::optional<std::uint64_t> read_pss(pid_t pid) {
  const auto text = sys::read_file(AT_FDCWD, process_path(pid, "smaps_rollup").data());
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

TreeUsage read_tree_usage(pid_t init) {
  TreeUsage usage;
  std::uint64_t pages = 0;
  std::uint64_t ticks = 0;
  walk(init, [&](const Process& process) {
    ticks += process.stat.waited_ticks;
    if (process.pid == init) return;
    ticks += process.stat.own_ticks;
    if (is_dead(process.stat)) {
      usage.zombies += 1;
      return;
    }
    usage.processes += 1;
    usage.threads += process.stat.threads;
    pages += process.stat.resident_pages;
  });
  usage.resident_bytes = pages * page_size();
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  usage.cpu = std::chrono::microseconds(ticks * (1'000'000 / per_second));
  return usage;
}

std::vector<pid_t> list_tree_threads(pid_t init) {
  std::vector<pid_t> threads;
  walk(init, [&](const Process& process) {
    if (process.pid == init || is_dead(process.stat)) return;
    for_each_task(process.pid, [&](pid_t thread) { threads.push_back(thread); });
  });
  return threads;
}

std::uint64_t read_tree_pss(pid_t init) {
  std::uint64_t bytes = 0;
  walk(init, [&](const Process& process) {
    if (process.pid == init || is_dead(process.stat)) return;
    bytes += read_pss(process.pid).value_or(process.stat.resident_pages * page_size());
  });
  return bytes;
}

}  // namespace wardcase::sandbox

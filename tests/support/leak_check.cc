// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/leak_check.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/workplace.h"

namespace wardcase::test {
namespace fs = std::filesystem;
using namespace std::chrono_literals;
namespace {

using Names = std::set<std::string>;

constexpr const char* kCgroupRoot = "/sys/fs/cgroup";
constexpr const char* kSystemRuntime = "/run/wardcase";

// The directories of wardcase itself: one a hierarchy, and on a pure v2 host at the root.
std::vector<fs::path> cgroup_parents() {
  std::vector<fs::path> parents;
  std::error_code error;
  const fs::path own = fs::path(kCgroupRoot) / "wardcase";
  if (fs::is_directory(own, error)) parents.push_back(own);
  for (const auto& entry : fs::directory_iterator(kCgroupRoot, error)) {
    const fs::path parent = entry.path() / "wardcase";
    std::error_code missing;
    if (entry.path() != own && fs::is_directory(parent, missing)) parents.push_back(parent);
  }
  return parents;
}

Names cgroup_leaves() {
  Names leaves;
  for (const fs::path& parent : cgroup_parents()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(parent, error)) {
      std::error_code gone;
      if (entry.is_directory(gone)) leaves.insert(entry.path().string());
    }
  }
  return leaves;
}

std::vector<fs::path> runtime_directories() {
  std::vector<fs::path> directories;
  if (::geteuid() == 0) directories.emplace_back(kSystemRuntime);
  for (const Caller caller : {Caller::root, Caller::user}) {
    directories.push_back(Workplace::get().runtime(caller));
    directories.push_back(Workplace::get().temporary(caller));
  }
  return directories;
}

Names runtime_files() {
  Names files;
  for (const fs::path& directory : runtime_directories()) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code gone;
      if (!it->is_directory(gone)) files.insert(it->path().string());
    }
  }
  // Private directories of boxes without namespaces (sandbox/private_directory.h).
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/tmp", error)) {
    if (entry.path().filename().string().starts_with("wardcase-sup_")) {
      files.insert(entry.path().string());
    }
  }
  return files;
}

// System V objects and files of POSIX shared memory, which nobody's end removes.
Names shared_objects() {
  Names objects;
  for (const char* kind : {"shm", "sem", "msg"}) {
    std::istringstream lines(read_file(std::string("/proc/sysvipc/") + kind));
    std::string line;
    std::getline(lines, line);  // the heading
    for (std::string key, id; lines >> key >> id; std::getline(lines, line)) {
      objects.insert(std::string(kind).append(" ").append(id));
    }
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev/shm", error)) {
    objects.insert(entry.path().string());
  }
  return objects;
}

// But for those that a service manager makes and takes away for services and users.
std::string mounts() {
  std::istringstream all(read_file("/proc/self/mountinfo"));
  std::string ours;
  for (std::string line; std::getline(all, line);) {
    if (line.find(" /run/credentials/") != std::string::npos) continue;
    if (line.find(" /run/user/") == std::string::npos) ours += line + "\n";
  }
  return ours;
}

std::size_t count_descriptors() {
  std::error_code error;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd", error), fs::directory_iterator()));
}

struct Process {
  pid_t pid;
  std::string label;  // "pid (comm)"
};

void add_children(pid_t pid, std::vector<Process>& found) {
  const fs::path tasks = "/proc/" + std::to_string(pid) + "/task";
  std::error_code error;
  for (const auto& task : fs::directory_iterator(tasks, error)) {
    std::istringstream children(read_file(task.path() / "children"));
    for (pid_t child = 0; children >> child;) {
      const fs::path process = "/proc/" + std::to_string(child);
      const std::string stat = read_file(process / "stat");
      const std::size_t name_end = stat.rfind(')');
      const bool is_alive = name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
      if (is_alive) found.push_back({child, stat.substr(0, name_end + 1)});
      add_children(child, found);
    }
  }
}

std::vector<Process> descendants() {
  std::vector<Process> found;
  add_children(::getpid(), found);
  return found;
}

// So that one leak fails one test.
void end_descendants() {
  for (const Process& process : descendants()) (void)::kill(process.pid, SIGKILL);
  (void)eventually([] { return descendants().empty(); });
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// What is in `now` and was not in `before`.
std::string added(const Names& before, const Names& now) {
  std::string lines;
  for (const std::string& name : now) {
    if (!before.contains(name)) lines += name + "\n";
  }
  return lines;
}

std::string lines_of(const Names& names) { return added({}, names); }

class LeakCheck : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest&) override {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    had_runtime_ = fs::exists(kSystemRuntime);
    for (const fs::path& parent : cgroup_parents()) parents_before_.insert(parent.string());
    (void)Workplace::get();
  }

  void OnTestStart(const testing::TestInfo&) override {
    mounts_ = mounts();
    leaves_ = cgroup_leaves();
    files_ = runtime_files();
    objects_ = shared_objects();
    descriptors_ = count_descriptors();
  }

  // Teardown in the kernel may lag a little behind the record: each is given time.
  void OnTestEnd(const testing::TestInfo&) override {
    EXPECT_TRUE(eventually([] { return list_descendants().empty(); })) << "processes are left:\n"
                                                                       << list_descendants();
    end_descendants();
    EXPECT_TRUE(eventually([this] { return added(leaves_, cgroup_leaves()).empty(); }))
        << "cgroups are left:\n"
        << added(leaves_, cgroup_leaves());
    EXPECT_TRUE(eventually([this] { return added(files_, runtime_files()).empty(); }))
        << "locks, leases or temporary files are left:\n"
        << added(files_, runtime_files());
    EXPECT_EQ(added(objects_, shared_objects()), "") << "objects of shared memory are left";
    EXPECT_TRUE(eventually([this] { return mounts() == mounts_; })) << "mounts changed:\n"
                                                                    << mounts();
    EXPECT_EQ(count_descriptors(), descriptors_) << "descriptors of the test program leak";
  }

  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const fs::path& parent : cgroup_parents()) {
      if (!parents_before_.contains(parent.string())) ::rmdir(parent.c_str());
    }
    if (had_runtime_ || ::geteuid() != 0) return;
    for (const char* below : {"/locks", "/ids", ""}) {
      ::rmdir((kSystemRuntime + std::string(below)).c_str());  // only when empty
    }
  }

  bool had_runtime_ = false;
  Names parents_before_;
  std::string mounts_;
  Names leaves_;
  Names files_;
  Names objects_;
  std::size_t descriptors_ = 0;
};

}  // namespace

bool install_leak_check() {
  static bool is_installed = false;
  if (!is_installed) testing::UnitTest::GetInstance()->listeners().Append(new LeakCheck);
  return is_installed = true;
}

std::string list_descendants() {
  std::string lines;
  for (const Process& process : descendants()) lines += process.label + "\n";
  return lines;
}

std::string list_cgroups() { return lines_of(cgroup_leaves()); }

std::string list_runtime_files() { return lines_of(runtime_files()); }

bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>

#include "sandbox/cgroup_delegation.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/cgroup_v1.h"
#include "sandbox/cgroup_v2.h"
#include "sandbox/state_lock.h"
#include "sandbox/sys/files.h"

namespace wardcase::sandbox {
namespace {

// v2 first: leaves are made in this order and removed in the reverse one, so
// that whoever has any leaf has one in the first hierarchy.
constexpr std::array<std::string_view, 6> kControllers = {"",    "memory",  "pids",
                                                          "cpu", "cpuacct", "freezer"};

// mountinfo writes space, tab, newline and backslash as three octal digits.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(i + 1) && is_octal(i + 2) &&
        is_octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::string_view take_until(std::string_view& text, char end) {
  const std::string_view word = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

struct Mount {
  std::string_view root;  // the part of the file system that is mounted
  std::string_view point;
  std::string_view type;
  std::string_view options;  // of the super block: v1 lists its controllers there
};

// proc_pid_mountinfo(5): id parent device ROOT POINT options fields... - TYPE source OPTIONS
Mount parse_mount(std::string_view line) {
  const auto separator = line.find(" - ");
  if (separator == std::string_view::npos) return {};
  Mount mount;
  std::string_view after = line.substr(separator + 3);
  mount.type = take_until(after, ' ');
  (void)take_until(after, ' ');  // the source
  mount.options = take_until(after, ' ');
  for (int field = 1; field < 4; ++field) (void)take_until(line, ' ');
  mount.root = take_until(line, ' ');
  mount.point = take_until(line, ' ');
  return mount;
}

bool has_controller(const Mount& mount, std::string_view controller) {
  if (controller.empty()) return mount.type == "cgroup2";
  if (mount.type != "cgroup") return false;
  for (std::string_view options = mount.options; !options.empty();) {
    if (take_until(options, ',') == controller) return true;
  }
  return false;
}

// Hybrid hosts have a v2 tree as well, but keep the controllers in v1.
bool is_v2_in_charge(std::span<const CgroupHost::Hierarchy> hierarchies) {
  if (hierarchies.empty() || !hierarchies.front().controller.empty()) return false;
  return hierarchies.size() == 1 || has_memory_controller(hierarchies.front().mount_point);
}

void kill_leaf(const std::string& path) {
  const auto leaf = sys::open_at(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  if (leaf) (void)kill_inside(leaf->get());
}

// What is killed takes a moment to die; a process in D state takes for ever, and
// is left to the next sweep.
bool kill_and_remove(const std::string& path) {
  constexpr timespec kPause = {0, 1'000'000};
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY) return false;
    kill_leaf(path);
    (void)::nanosleep(&kPause, nullptr);
  }
  return false;
}

// Older than any leaf is before its first process enters.
bool is_old(const std::string& path) {
  constexpr time_t kOld = 600;
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && info.st_mtime < ::time(nullptr) - kOld;
}

}  // namespace

sys::Result<CgroupHost> CgroupHost::find() {
  const auto mounts = sys::read_file(AT_FDCWD, "/proc/self/mountinfo");
  if (!mounts) return tl::unexpected(mounts.error());
  // A kernel without control groups has no such file.
  return discover(*mounts, sys::read_file(AT_FDCWD, "/proc/self/cgroup").value_or(""));
}

CgroupHost CgroupHost::discover(const std::string& mountinfo, const std::string& own_groups) {
  std::vector<Mount> mounts;
  for (std::string_view text = mountinfo; !text.empty();) {
    const Mount mount = parse_mount(take_until(text, '\n'));
    if (mount.point.starts_with('/')) mounts.push_back(mount);
  }
  CgroupHost host;
  std::string unified_root;
  for (const std::string_view controller : kControllers) {
    const auto found = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& mount) {
      return has_controller(mount, controller);
    });
    if (found == mounts.end()) continue;
    if (controller.empty()) unified_root = unescape(found->root);
    host.hierarchies_.push_back({std::string(controller), unescape(found->point)});
  }
  host.is_v2_ = is_v2_in_charge(host.hierarchies_);
  if (host.is_v2_) {
    host.hierarchies_.resize(1);
    Hierarchy& unified = host.hierarchies_.front();
    unified.group = choose_v2_group(unified.mount_point,
                                    find_own_v2_group(own_groups, unified_root), ::geteuid());
  }
  return host;
}

bool CgroupHost::may_create() const {
  return std::any_of(hierarchies_.begin(), hierarchies_.end(), [](const Hierarchy& hierarchy) {
    const std::string group = hierarchy.mount_point + hierarchy.group;
    return ::faccessat(AT_FDCWD, group.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  });
}

bool CgroupHost::has_v1_controllers() const {
  return std::any_of(hierarchies_.begin(), hierarchies_.end(),
                     [](const Hierarchy& hierarchy) { return !hierarchy.controller.empty(); });
}

sys::Result<std::unique_ptr<Cgroup>> CgroupHost::create(const std::string& leaf,
                                                        const CgroupLimits& limits,
                                                        std::string* why) const {
  if (!is_v2_) return create_cgroup_v1(hierarchies_, leaf, limits, why);
  const Hierarchy& unified = hierarchies_.front();
  return create_cgroup_v2(unified.mount_point + unified.group, leaf, limits, CgroupCalls(), why);
}

int CgroupHost::sweep(const std::string& lock_directory, std::set<std::string>* unfinished) const {
  int swept = 0;
  std::map<std::string, StateLock> dead;  // held till the end: one may have left several
  for (const Hierarchy& listed : hierarchies_) {
    const std::vector<std::string> names = sys::list_directory(listed.parent(), DT_DIR);
    for (const std::string& name : names) {
      const std::string lock_name = name.substr(0, name.find('.'));
      if (!dead.contains(lock_name)) {
        auto lock = StateLock::take_over(lock_directory, lock_name);
        if (!lock && lock.error().code != ENOENT) continue;  // its owner lives, or we can't tell
        if (lock) dead.emplace(lock_name, *std::move(lock));
      }
      const std::string path = listed.parent() + "/" + name;
      // A lock that is not here may be in the /run of another container that
      // shares these groups: its live box is not ours to end. The kernel keeps what is in
      // use, and what is young may be about to be.
      const bool is_dead = dead.contains(lock_name);
      if (!is_dead && !(is_old(path) && ::rmdir(path.c_str()) == 0)) continue;
      kill_leaf(path);  // at once, where it is v2
      bool gone = true;
      for (auto other = hierarchies_.rbegin(); other != hierarchies_.rend(); ++other) {
        gone = kill_and_remove(other->parent() + "/" + name) && gone;
      }
      if (gone) {
        ++swept;
      } else if (is_dead) {
        dead.at(lock_name).leave();
        if (unfinished != nullptr) unfinished->insert(lock_name);
      }
    }
    if (!names.empty()) break;
  }
  return swept;
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/cgroup_delegation.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {
namespace {

constexpr std::string_view kSupervisor = "/supervisor";

// Memory first: alone of these it is refused (EBUSY) in a group with processes.
// The cpu and pids controllers would turn such a group into a threaded one, which
// nothing can be born into any more (cgroups(7)).
constexpr std::array<std::string_view, std::tuple_size_v<Controllers>> kControllers = {
    "memory", "pids", "cpu", "io"};

struct Group {
  std::string path;
  sys::UniqueFd directory;
};

sys::Result<Group> open_group(std::string path) {
  auto directory = sys::open_at(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  if (!directory) return tl::unexpected(std::move(directory).error());
  return Group{std::move(path), std::move(*directory)};
}

// Those that stay are shared by all runs: there already is fine.
sys::Result<Group> open_or_make_group(std::string path, const CgroupCalls& calls) {
  if (calls.make_directory(path.c_str(), 0755) < 0 && errno != EEXIST) {
    return tl::unexpected(sys::errno_error("make control group '" + path + "'"));
  }
  return open_group(std::move(path));
}

std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \n"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

Controllers read_controllers(int directory, const char* file) {
  Controllers listed = {};
  const std::string text = sys::read_file(directory, file).value_or("");
  std::string_view rest = text;
  for (auto word = take_word(rest); !word.empty(); word = take_word(rest)) {
    const auto* found = std::find(kControllers.begin(), kControllers.end(), word);
    if (found != kControllers.end()) {
      listed[static_cast<std::size_t>(found - kControllers.begin())] = true;
    }
  }
  return listed;
}

Controllers without(Controllers these, const Controllers& those) {
  for (std::size_t i = 0; i < these.size(); ++i) these[i] = these[i] && !those[i];
  return these;
}

bool is_any(const Controllers& controllers) {
  return std::find(controllers.begin(), controllers.end(), true) != controllers.end();
}

void add_reasons(std::string* why, const Controllers& controllers, std::string_view reason) {
  for (std::size_t i = 0; i < controllers.size(); ++i) {
    if (controllers[i]) add_reason(why, kControllers[i], reason);
  }
}

// The root of the whole tree, not that of a container, has no such file.
bool is_real_root(const std::string& path) {
  return ::access((path + "/cgroup.events").c_str(), F_OK) < 0 && errno == ENOENT;
}

// What systemd marks the groups of units with Delegate=yes with.
bool is_marked_as_delegated(const std::string& path) {
  char value = 0;
  return ::getxattr(path.c_str(), "trusted.delegate", &value, sizeof value) == 1 && value == '1';
}

bool can_write(int directory, const char* file) {
  return ::faccessat(directory, file, W_OK, AT_EACCESS) == 0;
}

// To be born into a leaf takes the right to write cgroup.procs of what we and the
// leaf have in common. A group that somebody else owns is no place for a box.
sys::Status check_is_ours(const Group& group) {
  struct stat status = {};
  if (::fstatat(group.directory.get(), "", &status, AT_EMPTY_PATH) < 0) {
    return tl::unexpected(sys::errno_error("look at '" + group.path + "'"));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return tl::unexpected(sys::plain_error("'" + group.path + "' belongs to another user"));
  }
  for (const char* file : {"cgroup.procs", "cgroup.subtree_control"}) {
    if (can_write(group.directory.get(), file)) continue;
    return tl::unexpected(sys::errno_error("write '" + group.path + "/" + file + "'"));
  }
  return {};
}

// "PID (NAME) STATE PARENT ..."; the name may hold anything (proc_pid_stat(5)).
bool is_our_child(std::string_view pid) {
  const std::string stat =
      sys::read_file(AT_FDCWD, ("/proc/" + std::string(pid) + "/stat").c_str()).value_or("");
  const std::size_t name_end = stat.rfind(") ");
  constexpr std::size_t kParent = 4;  // after ") S "
  return name_end != std::string::npos &&
         std::string_view(stat).substr(name_end).substr(kParent).starts_with(
             std::to_string(::getpid()) + " ");
}

// Empties `group`, so that it can give controllers: of us, and of what we started
// ourselves, such as the relay of our output.
sys::Status move_out_of(const Group& group, const CgroupCalls& calls) {
  if (is_real_root(group.path)) return {};
  const auto procs = sys::read_file(group.directory.get(), "cgroup.procs");
  if (!procs) return tl::unexpected(procs.error());
  std::vector<std::string> movers;
  std::string_view rest = *procs;
  for (auto pid = take_word(rest); !pid.empty(); pid = take_word(rest)) {
    if (pid != std::to_string(::getpid()) && !is_our_child(pid)) {
      return tl::unexpected(sys::plain_error("other processes are in '" + group.path +
                                             "', start wardcase in a group of its own"));
    }
    movers.emplace_back(pid);
  }
  if (movers.empty()) return {};
  const auto supervisor = open_or_make_group(group.path + std::string(kSupervisor), calls);
  if (!supervisor) return tl::unexpected(supervisor.error());
  for (const std::string& pid : movers) {
    auto moved = calls.write_file(supervisor->directory.get(), "cgroup.procs", pid);
    if (!moved && moved.error().code != ESRCH) return moved;  // it may have ended meanwhile
  }
  return {};
}

// Has `group` give what is wanted to the groups in it. Returns what it gives then.
Controllers enable(const Group& group, const Controllers& wanted, const CgroupCalls& calls,
                   std::string* why) {
  constexpr const char* kFile = "cgroup.subtree_control";
  Controllers given = read_controllers(group.directory.get(), kFile);
  const Controllers missing = without(wanted, given);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!missing[i]) continue;
    const auto written =
        calls.write_file(group.directory.get(), kFile, "+" + std::string(kControllers[i]));
    given[i] = written.has_value();
    if (written) continue;
    const std::string reason = written.error().message() + " in '" + group.path + "'";
    if (written.error().code == EBUSY) {  // somebody entered just now: see kControllers
      add_reasons(why, without(missing, given), reason);
      return given;
    }
    add_reason(why, kControllers[i], reason);
  }
  return given;
}

// Brings the controllers down to the leaves in `parent`. Returns those that they have.
Controllers bring_down(const Group& group, const Group& parent, const CgroupCalls& calls,
                       std::string* why) {
  const Controllers there = read_controllers(group.directory.get(), "cgroup.controllers");
  Controllers all;
  all.fill(true);
  const bool is_threaded =
      sys::read_file(group.directory.get(), "cgroup.type").value_or("").starts_with("threaded");
  add_reasons(why, without(all, there),
              (is_threaded ? "no box can be born below the threaded group '"
                           : "not among the controllers of '") +
                  group.path + "'");
  Controllers given = read_controllers(group.directory.get(), "cgroup.subtree_control");
  if (const Controllers missing = without(there, given); is_any(missing)) {
    if (const auto moved = move_out_of(group, calls); moved) {
      given = enable(group, there, calls, why);
    } else {
      add_reasons(why, missing, moved.error().message());
    }
  }
  return enable(parent, given, calls, why);
}

}  // namespace

void add_reason(std::string* why, std::string_view subject, std::string_view reason) {
  if (!why->empty()) *why += "; ";
  why->append(subject).append(": ").append(reason);
}

bool has_memory_controller(const std::string& mount_point) {
  const auto root = open_group(mount_point);
  return root && read_controllers(root->directory.get(), "cgroup.controllers")[memory_controller];
}

// The line of v2 is "0::/path" (cgroups(7)).
std::optional<std::string> find_own_v2_group(std::string_view own_groups,
                                             std::string_view mount_root) {
  constexpr std::string_view kV2 = "0::";
  while (!own_groups.empty() && !own_groups.starts_with(kV2)) {
    own_groups.remove_prefix(std::min(own_groups.find('\n'), own_groups.size() - 1) + 1);
  }
  if (own_groups.empty()) return std::nullopt;
  std::string_view path = own_groups.substr(kV2.size());
  path = path.substr(0, path.find('\n'));
  if (mount_root == "/") mount_root = "";
  // "/..": outside of our cgroup namespace, as seen from in here.
  if (!path.starts_with(mount_root) || path.starts_with("/..")) return std::nullopt;
  path.remove_prefix(mount_root.size());
  if (path == "/") path = "";
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return std::string(path);
}

std::string choose_v2_group(const std::string& mount_point, const std::optional<std::string>& own,
                            uid_t caller) {
  std::string group = own.value_or("");
  if (group.ends_with(kSupervisor)) {
    const std::string above = group.substr(0, group.size() - kSupervisor.size());
    if (can_write(AT_FDCWD, (mount_point + above + "/cgroup.procs").c_str())) group = above;
  }
  const bool takes_root =
      caller == 0 && is_real_root(mount_point) && !is_marked_as_delegated(mount_point + group);
  return takes_root ? "" : group;
}

sys::Result<Controllers> prepare_leaf_parent(const std::string& group, const CgroupCalls& calls,
                                             std::string* why) {
  const auto above = open_group(group);
  if (!above) return tl::unexpected(above.error());
  if (auto ours = check_is_ours(*above); !ours) return tl::unexpected(std::move(ours).error());
  const auto parent = open_or_make_group(group + "/wardcase", calls);
  if (!parent) return tl::unexpected(parent.error());
  return bring_down(*above, *parent, calls, why);
}

}  // namespace wardcase::sandbox

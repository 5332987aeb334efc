// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/id_maps.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

std::string process_file(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

std::string one_id(std::uint32_t inside, std::uint32_t outside) {
  return std::to_string(inside) + " " + std::to_string(outside) + " 1";
}

sys::Status write_map(pid_t pid, std::string_view name, const std::string& map) {
  const std::string path = process_file(pid, name);
  auto written = sys::write_file(AT_FDCWD, path.c_str(), map);
  if (!written) {
    return tl::unexpected(std::move(written).error().while_doing("write '" + std::string(name) +
                                                                 "' of the box's user namespace"));
  }
  return {};
}

sys::Status verify_map(pid_t pid, std::uint32_t inside, std::uint32_t outside) {
  const auto map = sys::read_file(AT_FDCWD, process_file(pid, "uid_map").c_str());
  if (!map) return tl::unexpected(map.error());
  unsigned long first = 0;
  unsigned long second = 0;
  unsigned long count = 0;
  const int read = std::sscanf(map->c_str(), "%lu %lu %lu", &first, &second, &count);
  if (read != 3 || first != inside || second != outside || count != 1) {
    return tl::unexpected(sys::plain_error("the box's uid_map is not as written: '" + *map + "'"));
  }
  return {};
}

int wait_to_be_killed(void*) {
  for (;;) (void)::pause();
}

}  // namespace

sys::Status write_id_maps(pid_t pid, const BoxIds& ids) {
  if (ids.is_unmapped) return {};
  if (!ids.is_leased) {
    // Without privilege the kernel asks for it before a gid map (user_namespaces(7)).
    if (auto denied = write_map(pid, "setgroups", "deny"); !denied) return denied;
  }
  if (auto done = write_map(pid, "gid_map", one_id(ids.inside_gid, ids.host_gid)); !done) {
    return done;
  }
  if (auto done = write_map(pid, "uid_map", one_id(ids.inside_uid, ids.host_uid)); !done) {
    return done;
  }
  return verify_map(pid, ids.inside_uid, ids.host_uid);
}

// A user namespace lives as long as a descriptor of it: the process that opens
// it may die at once. It shares our memory, so that making it costs little.
sys::Result<sys::UniqueFd> make_mount_namespace_ids(std::uint32_t owner_uid,
                                                    std::uint32_t owner_gid, const BoxIds& box) {
  alignas(16) std::array<char, 16 * 1024> stack;
  const pid_t pid =
      ::clone(wait_to_be_killed, stack.data() + stack.size(), CLONE_VM | CLONE_NEWUSER, nullptr);
  if (pid < 0) return tl::unexpected(sys::errno_error("make a user namespace for an id map"));
  auto mapped = write_map(pid, "uid_map", one_id(owner_uid, box.host_uid));
  if (mapped) mapped = write_map(pid, "gid_map", one_id(owner_gid, box.host_gid));
  sys::Result<sys::UniqueFd> space =
      sys::open_at(AT_FDCWD, process_file(pid, "ns/user").c_str(), O_RDONLY);
  // It stands on our stack: we go on when it is gone, and only then.
  while (::kill(pid, SIGKILL) < 0 && errno != ESRCH) {
  }
  // __WALL: it sends no SIGCHLD at its end.
  (void)sys::retry_eintr([&] { return ::waitpid(pid, nullptr, __WALL); });
  if (!mapped) return tl::unexpected(mapped.error());
  return space;
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/id_pool.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <utility>
#include <vector>

#include "sandbox/state_lock.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "sandbox/user_namespace.h"

namespace wardcase::sandbox {
namespace {

sys::Error about(const std::string& path, const sys::Error& error) {
  return sys::Error(error).while_doing("the pool of host ids '" + path + "'");
}

std::string path_of(uid_t user, const std::string& directory) {
  return directory + "/" + std::to_string(user);
}

// What a uid_map or gid_map maps to itself, but for its owner's `own`.
std::vector<IdRange> read_identities(const std::string& map, std::uint32_t own) {
  std::vector<IdRange> ranges;
  std::istringstream lines(map);
  std::uint32_t inside = 0;
  std::uint32_t outside = 0;
  std::uint32_t count = 0;
  while (lines >> inside >> outside >> count) {
    const IdRange range = {inside, count};
    if (inside == outside && !range.has(own)) ranges.push_back(range);
  }
  return ranges;
}

sys::Result<IdRange> read_ids(int space) {
  std::array<sys::Result<std::string>, 2> maps;
  auto entered = in_user_namespace(space, [&maps] {
    maps[0] = sys::read_file(AT_FDCWD, "/proc/self/uid_map");
    maps[1] = sys::read_file(AT_FDCWD, "/proc/self/gid_map");
  });
  if (!entered) return tl::unexpected(std::move(entered).error());
  for (auto& map : maps) {
    if (!map) return tl::unexpected(std::move(map).error());
  }
  const auto ids = find_common_range(read_identities(*maps[0], ::geteuid()),
                                     read_identities(*maps[1], ::getegid()));
  if (ids) return *ids;
  return tl::unexpected(sys::plain_error("no ids but its owner's are mapped in it"));
}

bool become(uid_t user, gid_t group) {
  if (user == ::geteuid()) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(group, group, group) == 0 &&
         ::setresuid(user, user, user) == 0;
}

// A process in a new user namespace of `user`'s, until the socket is closed.
[[noreturn]] void hold_user_namespace(uid_t user, gid_t group, int socket) {
  const bool is_made = become(user, group) && ::unshare(CLONE_NEWUSER) == 0;
  const int error = is_made ? 0 : errno;
  char ended = 0;
  if (::send(socket, &error, sizeof error, MSG_NOSIGNAL) == sizeof error) {
    (void)sys::retry_eintr([&] { return ::read(socket, &ended, 1); });
  }
  ::_exit(0);
}

class NamespaceHolder {
 public:
  NamespaceHolder(const NamespaceHolder&) = delete;
  NamespaceHolder& operator=(const NamespaceHolder&) = delete;
  NamespaceHolder() = default;
  ~NamespaceHolder() {
    socket_.reset();
    if (pid_ > 0) (void)sys::retry_eintr([&] { return ::waitpid(pid_, nullptr, 0); });
  }

  sys::Status start(uid_t user, gid_t group) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
      return tl::unexpected(sys::errno_error("make a socket pair"));
    }
    socket_.reset(ends[0]);
    const sys::UniqueFd childs(ends[1]);
    pid_ = ::fork();
    if (pid_ < 0) return tl::unexpected(sys::errno_error("make a process"));
    if (pid_ == 0) {
      socket_.reset();
      hold_user_namespace(user, group, childs.get());
    }
    int error = 0;
    if (sys::retry_eintr([&] { return ::read(socket_.get(), &error, sizeof error); }) !=
        sizeof error) {
      error = ECHILD;
    }
    if (error == 0) return {};
    return tl::unexpected(sys::Error{error, "make a user namespace for that user"});
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] std::string file(std::string_view name) const {
    return "/proc/" + std::to_string(pid_) + "/" + std::string(name);
  }

 private:
  sys::UniqueFd socket_;
  pid_t pid_ = -1;
};

// The owner's own id is mapped too: its files are to be given to boxes.
std::string map_of(std::uint32_t own, const IdRange& ids) {
  const std::string first = std::to_string(ids.first);
  return std::to_string(own) + " " + std::to_string(own) + " 1\n" + first + " " + first + " " +
         std::to_string(ids.count) + "\n";
}

// Made by root for all to read: whoever could write in it could lead us elsewhere.
sys::Status make_directory(const std::string& path) {
  const bool is_made = ::mkdir(path.c_str(), 0755) == 0;
  if (!is_made && errno != EEXIST) return tl::unexpected(sys::errno_error("make the directory"));
  if (is_made && ::chmod(path.c_str(), 0755) < 0) {  // whatever our umask is
    return tl::unexpected(sys::errno_error("open the directory to its readers"));
  }
  struct stat info = {};
  if (::lstat(path.c_str(), &info) < 0) {
    return tl::unexpected(sys::errno_error("look at the directory"));
  }
  if (S_ISDIR(info.st_mode) && info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return {};
  }
  return tl::unexpected(sys::plain_error("the directory must be root's and for root to write"));
}

sys::Status pin(const std::string& space, const std::string& path) {
  auto file = sys::open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0444);
  if (!file) return tl::unexpected(std::move(file).error());
  if (::mount(space.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0) return {};
  const sys::Error error = sys::errno_error("mount the user namespace there");
  (void)::unlink(path.c_str());
  return tl::unexpected(error);
}

}  // namespace

sys::Result<std::optional<IdPool>> IdPool::find(uid_t user) {
  const std::string path = path_of(user, kDirectory);
  auto space = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NOFOLLOW);
  if (!space && space.error().code == ENOENT) return std::nullopt;
  if (!space) return tl::unexpected(std::move(space).error());
  uid_t owner = 0;
  if (::ioctl(space->get(), NS_GET_NSTYPE) != CLONE_NEWUSER ||
      ::ioctl(space->get(), NS_GET_OWNER_UID, &owner) < 0 || owner != user) {
    return tl::unexpected(about(path, sys::plain_error("is no user namespace of this user's")));
  }
  auto ids = read_ids(space->get());
  if (!ids) return tl::unexpected(about(path, ids.error()));
  return IdPool(*std::move(space), *ids);
}

sys::Result<IdPool> IdPool::make(const std::function<sys::Status(pid_t)>& map) {
  NamespaceHolder holder;
  auto made = holder.start(::geteuid(), ::getegid());
  if (made) made = map(holder.pid());
  if (!made) return tl::unexpected(std::move(made).error());
  auto space = sys::open_at(AT_FDCWD, holder.file("ns/user").c_str(), O_RDONLY);
  if (!space) return tl::unexpected(std::move(space).error());
  auto ids = read_ids(space->get());
  if (!ids) return tl::unexpected(std::move(ids).error());
  return IdPool(*std::move(space), *ids);
}

sys::Status make_id_pool(uid_t user, gid_t group, const IdRange& ids,
                         const std::string& directory) {
  const std::string path = path_of(user, directory);
  if (ids.count == 0 || ids.has(user) || ids.has(group) || ids.has(0) ||
      ids.overlaps({IdLease::kPoolFirst, IdLease::kPoolCount})) {
    return tl::unexpected(about(path, sys::plain_error("the ids must be free: not root's, nor its "
                                                       "boxes', nor the user's own")));
  }
  NamespaceHolder holder;
  auto made = holder.start(user, group);
  if (made) {
    made = sys::write_file(AT_FDCWD, holder.file("gid_map").c_str(), map_of(group, ids));
  }
  if (made) made = sys::write_file(AT_FDCWD, holder.file("uid_map").c_str(), map_of(user, ids));
  if (made) made = make_directory(directory);
  if (made) made = drop_id_pool(user, directory);
  if (made) made = pin(holder.file("ns/user"), path);
  if (!made) return tl::unexpected(about(path, made.error()));
  return {};
}

sys::Status drop_id_pool(uid_t user, const std::string& directory) {
  const std::string path = path_of(user, directory);
  while (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
  }
  if (errno != EINVAL && errno != ENOENT) {  // nothing is mounted there (any more)
    return tl::unexpected(about(path, sys::errno_error("unmount")));
  }
  if (::unlink(path.c_str()) < 0 && errno != ENOENT) {
    return tl::unexpected(about(path, sys::errno_error("remove")));
  }
  return {};
}

}  // namespace wardcase::sandbox

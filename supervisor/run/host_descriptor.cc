// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/host_descriptor.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr int kFirstFreeFd = 3;  // never one of stdin, stdout, stderr, should they be closed

// Regular files never have to be waited for, pipes always. Of the rest epoll refuses, with
// EPERM, exactly what is always ready: /dev/null and the like.
sys::Result<bool> is_always_ready(int fd, mode_t mode) {
  if (S_ISREG(mode) || S_ISFIFO(mode)) return S_ISREG(mode);
  const sys::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return tl::unexpected(sys::errno_error("create epoll set"));
  epoll_event nothing = {};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &nothing) == 0) return false;
  if (errno == EPERM) return true;
  return tl::unexpected(sys::errno_error("watch it"));
}

// The link leads to the object itself, whatever is mounted where.
sys::UniqueFd reopen(int fd, HostAccess access) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const int mode = access == HostAccess::reading ? O_RDONLY : O_WRONLY;
  return sys::UniqueFd(sys::retry_eintr(
      [&] { return ::open(link.c_str(), mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); }));
}

sys::Result<HostDescriptor> open_by_kind(int fd, HostAccess access) {
  HostDescriptor opened;
  opened.fd.reset(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFreeFd));
  if (!opened.fd.is_open()) return tl::unexpected(sys::errno_error("duplicate it"));
  struct stat about = {};
  if (::fstat(fd, &about) < 0) return tl::unexpected(sys::errno_error("look at it"));

  if (S_ISSOCK(about.st_mode)) {
    opened.use = HostUse::socket;
    return opened;
  }
  const auto always_ready = is_always_ready(fd, about.st_mode);
  if (!always_ready) return tl::unexpected(always_ready.error());
  if (*always_ready) {
    opened.use = HostUse::direct;
    return opened;
  }
  opened.is_terminal = S_ISCHR(about.st_mode) && ::isatty(fd) == 1;
  if (sys::UniqueFd own = reopen(fd, access); own.is_open()) {
    opened.fd = std::move(own);
    opened.use = HostUse::own_description;
  }
  return opened;
}

}  // namespace

sys::Result<HostDescriptor> open_host_descriptor(int fd, HostAccess access) {
  auto opened = open_by_kind(fd, access);
  if (opened) return opened;
  return tl::unexpected(
      std::move(opened).error().while_doing("open host descriptor '" + std::to_string(fd) + "'"));
}

ssize_t read_now(const HostDescriptor& descriptor, std::span<char> buffer) {
  return sys::retry_eintr([&] {
    return descriptor.use == HostUse::socket
               ? ::recv(descriptor.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)
               : ::read(descriptor.fd.get(), buffer.data(), buffer.size());
  });
}

ssize_t write_now(const HostDescriptor& descriptor, std::string_view bytes) {
  return sys::retry_eintr([&] {
    return descriptor.use == HostUse::socket
               ? ::send(descriptor.fd.get(), bytes.data(), bytes.size(),
                        MSG_DONTWAIT | MSG_NOSIGNAL)
               : ::write(descriptor.fd.get(), bytes.data(), bytes.size());
  });
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// The kernel tells in which system call a thread sleeps, and with which arguments, in
// /proc/TID/syscall; of one that does not sleep it says "running" (proc(5)). What a descriptor
// leads to is told by /proc/TID/fd, the arguments in memory by /proc/TID/mem, and whom an epoll
// watches by /proc/TID/fdinfo.
#include "sandbox/input_wait.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <string>
#include <vector>

#include "sandbox/process_tree.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

constexpr std::size_t kMostPolled = 4096;  // descriptors of one call; more is not looked at

enum class Wait : std::uint8_t { no, yes, unknown };

// Of a thread that sleeps in a system call.
struct Call {
  long number = -1;
  std::array<unsigned long, 6> arguments = {};
};

class Watcher {
 public:
  Watcher(pid_t thread, const struct stat& pipe)
      : place_("/proc/" + std::to_string(thread)), pipe_(pipe) {}

  [[nodiscard]] Wait look() const {
    const auto text = sys::read_file(AT_FDCWD, (place_ + "/syscall").c_str());
    // It has ended; no system call of one that ends fails otherwise.
    if (!text) return is_gone(text.error().code) ? Wait::no : Wait::unknown;
    Call call;
    auto& at = call.arguments;
    if (std::sscanf(text->c_str(), "%ld %lx %lx %lx %lx %lx %lx", &call.number, &at[0], &at[1],
                    &at[2], &at[3], &at[4], &at[5]) != 7) {
      return Wait::no;  // it runs, or sleeps outside of any call
    }
    return judge(call);
  }

 private:
  static bool is_gone(int error) { return error == ENOENT || error == ESRCH; }

  [[nodiscard]] Wait judge(const Call& call) const {
    switch (call.number) {
      case SYS_read:
      case SYS_readv:
      case SYS_preadv2:  // with an offset of -1
      case SYS_splice:
      case SYS_tee:
        return leads_there(static_cast<int>(call.arguments[0]));
      case SYS_sendfile:
        return leads_there(static_cast<int>(call.arguments[1]));
#ifdef SYS_poll
      case SYS_poll:
#endif
      case SYS_ppoll:
        return polls(call);
#ifdef SYS_select
      case SYS_select:
#endif
      case SYS_pselect6:
        return selects(call);
#ifdef SYS_epoll_wait
      case SYS_epoll_wait:
#endif
      case SYS_epoll_pwait:
      case SYS_epoll_pwait2:
        return waits_for_events(static_cast<int>(call.arguments[0]));
      default:
        return Wait::no;
    }
  }

  [[nodiscard]] Wait leads_there(int fd) const {
    struct stat info = {};
    const std::string path = place_ + "/fd/" + std::to_string(fd);
    // Closed since the call began, by another thread: what that waits for can't be told.
    if (::stat(path.c_str(), &info) < 0) return Wait::unknown;
    return info.st_dev == pipe_.st_dev && info.st_ino == pipe_.st_ino ? Wait::yes : Wait::no;
  }

  // False: its memory can't be read.
  [[nodiscard]] bool read_memory(unsigned long address, void* to, std::size_t size) const {
    auto memory = sys::open_at(AT_FDCWD, (place_ + "/mem").c_str(), O_RDONLY);
    if (!memory) return false;
    const ssize_t got = sys::retry_eintr(
        [&] { return ::pread(memory->get(), to, size, static_cast<off_t>(address)); });
    return got == static_cast<ssize_t>(size);
  }

  [[nodiscard]] Wait polls(const Call& call) const {
    std::vector<pollfd> polled(std::min<std::size_t>(call.arguments[1], kMostPolled));
    if (polled.empty()) return Wait::no;  // a sleep
    if (!read_memory(call.arguments[0], polled.data(), polled.size() * sizeof(pollfd))) {
      return Wait::unknown;
    }
    Wait wait = call.arguments[1] > kMostPolled ? Wait::unknown : Wait::no;
    for (const pollfd& each : polled) {
      if (each.fd < 0 || (each.events & (POLLIN | POLLRDNORM)) == 0) continue;
      wait = either(wait, leads_there(each.fd));
    }
    return wait;
  }

  [[nodiscard]] Wait selects(const Call& call) const {
    constexpr std::size_t kBits = CHAR_BIT * sizeof(unsigned long);
    const std::size_t count = std::min<std::size_t>(call.arguments[0], kMostPolled);
    const unsigned long readable = call.arguments[1];
    if (count == 0 || readable == 0) return Wait::no;
    std::vector<unsigned long> bits((count + kBits - 1) / kBits);
    if (!read_memory(readable, bits.data(), bits.size() * sizeof(unsigned long))) {
      return Wait::unknown;
    }
    Wait wait = call.arguments[0] > kMostPolled ? Wait::unknown : Wait::no;
    for (std::size_t fd = 0; fd < count; ++fd) {
      if ((bits[fd / kBits] >> (fd % kBits) & 1) == 0) continue;
      wait = either(wait, leads_there(static_cast<int>(fd)));
    }
    return wait;
  }

  // By what is watched itself: its number may have been closed since (epoll(7), question 6).
  [[nodiscard]] Wait waits_for_events(int epoll) const {
    const auto text =
        sys::read_file(AT_FDCWD, (place_ + "/fdinfo/" + std::to_string(epoll)).c_str());
    if (!text) return Wait::unknown;
    const unsigned long device = static_cast<unsigned long>(::major(pipe_.st_dev)) << 20U |
                                 ::minor(pipe_.st_dev);  // as the kernel has it
    for (std::size_t at = 0; (at = text->find("tfd:", at)) != std::string::npos; ++at) {
      unsigned events = 0;
      unsigned long inode = 0;
      unsigned long its_device = 0;
      if (std::sscanf(text->c_str() + at, "tfd: %*d events: %x data: %*x pos:%*d ino:%lx sdev:%lx",
                      &events, &inode, &its_device) != 3) {
        return Wait::unknown;
      }
      const bool is_there = inode == pipe_.st_ino && its_device == device;
      if (is_there && (events & EPOLLIN) != 0) return Wait::yes;
    }
    return Wait::no;
  }

  static Wait either(Wait one, Wait other) {
    if (one == Wait::yes || other == Wait::yes) return Wait::yes;
    return one == Wait::unknown ? one : other;
  }

  std::string place_;
  const struct stat& pipe_;
};

}  // namespace

std::optional<bool> is_input_awaited(pid_t init, int pipe) {
  struct stat info = {};
  int unread = 0;
  if (::fstat(pipe, &info) < 0 || !S_ISFIFO(info.st_mode)) return std::nullopt;
  if (::ioctl(pipe, FIONREAD, &unread) < 0) return std::nullopt;
  if (unread > 0) return false;
  if (::access("/proc/self/syscall", R_OK) < 0) return std::nullopt;  // the kernel tells it of none
  const std::vector<pid_t> threads = list_tree_threads(init);
  bool is_known = !threads.empty();
  for (const pid_t thread : threads) {
    const Wait wait = Watcher(thread, info).look();
    if (wait == Wait::yes) return true;
    is_known = is_known && wait != Wait::unknown;
  }
  return is_known ? std::optional(false) : std::nullopt;
}

}  // namespace wardcase::sandbox

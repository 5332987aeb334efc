// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// How all processes of one host id are ended. A process of that user and without a capability can
// signal its like alone, and at one moment all of them: nobody forks beside it. They may signal it
// as well (below ABI 6 of Landlock), and so it may be stopped or ended at any moment, before or
// after its own signal: then another one does it again. A real id of root's would keep them from
// that, but its signal would reach all of root's processes.
#include "sandbox/leased_user.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "sandbox/state_lock.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

constexpr int kTries = 200;  // each is a race that those who lose it don't outlive

[[noreturn]] void end_the_like(uid_t user, pid_t supervisor) {
  // It makes sure that we are not among them.
  const bool is_one_of_them = sys::set_groups_to_none() == 0 && sys::setresgid(user) == 0 &&
                              sys::setresuid(user) == 0 && ::kill(supervisor, 0) < 0;
  const bool is_done = is_one_of_them && (::kill(-1, SIGKILL) == 0 || errno == ESRCH);
  ::_exit(is_done ? 0 : 1);
}

enum class Try { done, failed, hindered };

Try try_to_end_all_of(uid_t user) {
  const pid_t supervisor = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) end_the_like(user, supervisor);
  if (pid < 0) return Try::failed;
  siginfo_t ended = {};
  const auto wait_for = [&](int what) noexcept {
    return sys::retry_eintr(
        [&]() noexcept { return ::waitid(P_PID, static_cast<id_t>(pid), &ended, what); });
  };
  if (wait_for(WEXITED | WSTOPPED) < 0) return Try::failed;
  if (ended.si_code == CLD_STOPPED) {
    (void)::kill(pid, SIGKILL);  // a child that nobody has waited for
    (void)wait_for(WEXITED);
    return Try::hindered;
  }
  if (ended.si_code != CLD_EXITED) return Try::hindered;
  return ended.si_status == 0 ? Try::done : Try::failed;
}

// Of our pool alone: nothing else is anybody's to end.
std::optional<uid_t> leased_id(const std::string& name) {
  uid_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (id < IdLease::kPoolFirst || id - IdLease::kPoolFirst >= IdLease::kPoolCount) {
    return std::nullopt;
  }
  return id;
}

}  // namespace

bool end_all_of(uid_t user) {
  for (int i = 0; i < kTries; ++i) {
    const Try tried = try_to_end_all_of(user);
    if (tried != Try::hindered) return tried == Try::done;
  }
  return false;
}

void sweep_leased_ids(const std::string& directory) {
  for (const std::string& name : sys::list_directory(directory, DT_REG)) {
    auto dead = StateLock::take_over(directory, name);
    if (!dead) continue;
    const auto id = leased_id(name);
    if (id && ::geteuid() == 0 && !end_all_of(*id)) dead->leave();
  }
}

}  // namespace wardcase::sandbox

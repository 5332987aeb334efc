// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/user_namespace.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <memory>

#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {
namespace {

constexpr std::size_t kStackSize = 256 * 1024;

struct Visit {
  int space;
  void (*task)(void*);
  void* argument;
  int error = 0;
};

int enter_and_call(void* of_visit) {
  auto& visit = *static_cast<Visit*>(of_visit);
  if (::setns(visit.space, CLONE_NEWUSER) < 0) {
    visit.error = errno;
  } else {
    visit.task(visit.argument);
  }
  return 0;
}

}  // namespace

sys::Status call_in_user_namespace(int space, void (*task)(void*), void* argument) {
  Visit visit = {space, task, argument};
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(kStackSize);
  // CLONE_VFORK: we go on when it is gone. Its exit signal becomes that of its CLONE_PARENT
  // children. What it changes of its own, its ids above all, goes with it.
  const pid_t pid = ::clone(enter_and_call, stack.get() + kStackSize,
                            CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &visit);
  if (pid < 0) return tl::unexpected(sys::errno_error("make a process for a user namespace"));
  (void)sys::retry_eintr([&] { return ::waitpid(pid, nullptr, 0); });
  if (visit.error == 0) return {};
  return tl::unexpected(sys::Error{visit.error, "enter a user namespace"});
}

}  // namespace wardcase::sandbox

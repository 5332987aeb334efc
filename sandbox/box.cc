// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/socket.h>
#include <sys/wait.h>

#include <utility>

#include "sandbox/launch.h"
#include "sandbox/leased_user.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::sandbox {

Box::Box(Box&& other) noexcept { *this = std::move(other); }

Box& Box::operator=(Box&& other) noexcept {
  if (this == &other) return *this;
  kill_init();
  reap();
  init = std::exchange(other.init, -1);
  init_pidfd = std::move(other.init_pidfd);
  setup = std::move(other.setup);
  life = std::move(other.life);
  stdin_write = std::move(other.stdin_write);
  stdout_read = std::move(other.stdout_read);
  stderr_read = std::move(other.stderr_read);
  ends_by_itself = other.ends_by_itself;
  only_user = other.only_user;
  joined_cgroup_at_birth = other.joined_cgroup_at_birth;
  plan = std::move(other.plan);
  release_error = std::move(other.release_error);
  return *this;
}

Box::~Box() {
  kill_init();
  reap();
}

// Init has the box's id as well: a program that ends it, or holds it still, gains nothing by that.
void Box::kill_init() const {
  if (init <= 0) return;
  const bool has_ended_all = only_user != 0 && end_all_of(only_user);
  if (!ends_by_itself || has_ended_all) return sys::kill_child(init_pidfd.get());
  (void)::shutdown(life.get(), SHUT_RDWR);
  (void)::shutdown(setup.get(), SHUT_WR);  // it may still wait to be let go
}

void Box::abandon_init() {
  if (init > 0) sys::kill_child(init_pidfd.get());
  init = -1;
}

void Box::reap() {
  if (init <= 0) return;
  siginfo_t ended = {};
  const auto id = static_cast<id_t>(std::exchange(init, -1));
  (void)sys::retry_eintr([&]() noexcept { return ::waitid(P_PID, id, &ended, WEXITED); });
  if (only_user != 0) (void)end_all_of(only_user);  // whom it may have left
}

std::string_view Box::text(Offset at) const {
  if (at == 0 || at >= plan.size()) return {};
  return reinterpret_cast<const char*>(plan.data()) + at;
}

}  // namespace wardcase::sandbox

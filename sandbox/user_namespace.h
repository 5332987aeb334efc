// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <type_traits>

#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// Calls `task(argument)` inside the user namespace `space`, whose owner we must be (or have
// CAP_SYS_ADMIN in it): in a process that shares our memory and our descriptors, while we
// wait. It has all capabilities of that namespace, and none elsewhere; we stay what we are
// (setns(2), user_namespaces(7)). A child that it makes with CLONE_PARENT is ours.
[[nodiscard]] sys::Status call_in_user_namespace(int space, void (*task)(void*), void* argument);

// The same, with anything that can be called.
template <typename Task>
[[nodiscard]] sys::Status in_user_namespace(int space, Task&& task) {
  using Callable = std::remove_reference_t<Task>;
  return call_in_user_namespace(
      space, [](void* callable) { (*static_cast<Callable*>(callable))(); }, &task);
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/syscall_names.h"

#include <seccomp.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace wardcase::sandbox {
namespace {

// From 424 on all 64-bit architectures with the common table share their numbers.
struct NewCall {
  std::string_view name;
  std::uint32_t number;
};
constexpr NewCall kNewCalls[] = {
    {"cachestat", 451},         {"fchmodat2", 452},        {"map_shadow_stack", 453},
    {"futex_wake", 454},        {"futex_wait", 455},       {"futex_requeue", 456},
    {"statmount", 457},         {"listmount", 458},        {"lsm_get_self_attr", 459},
    {"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
    {"setxattrat", 463},        {"getxattrat", 464},       {"listxattrat", 465},
    {"removexattrat", 466},     {"open_tree_attr", 467},   {"file_getattr", 468},
    {"file_setattr", 469},
};
static_assert(std::end(kNewCalls)[-1].number == kNewestCall);

}  // namespace

sys::Result<std::optional<std::uint32_t>> syscall_number(const std::string& name) {
  const int known = ::seccomp_syscall_resolve_name(name.c_str());
  if (known == __NR_SCMP_ERROR) {
    const auto* const added = std::ranges::find(kNewCalls, name, &NewCall::name);
    if (added != std::end(kNewCalls)) return added->number;
  } else if (known < 0) {
    return std::nullopt;  // libseccomp's mark for a call of other architectures
  } else if (static_cast<std::uint32_t>(known) <= kNewestCall) {
    return static_cast<std::uint32_t>(known);
  }
  return tl::unexpected(sys::plain_error("'" + name + "': no such system call"));
}

std::string syscall_name(std::uint32_t number) {
  const auto* const added = std::ranges::find(kNewCalls, number, &NewCall::number);
  if (added != std::end(kNewCalls)) return std::string(added->name);
  if (number > kNewestCall) return "";
  const std::unique_ptr<char, decltype(&std::free)> name(
      ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number)), &std::free);
  return name ? name.get() : "";
}

std::vector<std::string> syscall_names() {
  std::vector<std::string> names;
  for (std::uint32_t number = 0; number <= kNewestCall; ++number) {
    if (std::string name = syscall_name(number); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace wardcase::sandbox

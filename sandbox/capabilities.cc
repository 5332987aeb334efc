// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/capabilities.h"

#include <fcntl.h>
#include <sys/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <sstream>
#include <string>

#include "sandbox/sys/files.h"

namespace wardcase::sandbox {
namespace {

struct FreeCapabilities {
  void operator()(cap_t capabilities) const noexcept { (void)::cap_free(capabilities); }
};
using Capabilities = std::unique_ptr<std::remove_pointer_t<cap_t>, FreeCapabilities>;

bool is_effective(cap_t capabilities, cap_value_t which) {
  cap_flag_value_t value = CAP_CLEAR;
  return ::cap_get_flag(capabilities, which, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

bool has_all(cap_t capabilities, std::span<const cap_value_t> needed) {
  return std::ranges::all_of(needed, [&](auto which) { return is_effective(capabilities, which); });
}

// The first user namespace maps everything: "0 0 4294967295" (user_namespaces(7)).
sys::Result<bool> is_every_id_mapped() {
  const auto map = sys::read_file(AT_FDCWD, "/proc/self/uid_map");
  if (!map) return tl::unexpected(map.error());
  unsigned long inside = 1;
  unsigned long outside = 1;
  unsigned long count = 0;
  if (std::sscanf(map->c_str(), "%lu %lu %lu", &inside, &outside, &count) != 3) return false;
  return inside == 0 && count >= 4'294'967'294UL;
}

}  // namespace

std::uint32_t capability_count() { return static_cast<std::uint32_t>(::cap_max_bits()); }

sys::Result<bool> can_choose_ids() {
  if (::geteuid() != 0) return false;
  const Capabilities held(::cap_get_proc());
  if (held == nullptr) return tl::unexpected(sys::errno_error("look at our own capabilities"));
  constexpr std::array kNeeded = {CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID,
                                  CAP_CHOWN,     CAP_KILL,   CAP_DAC_OVERRIDE};
  return has_all(held.get(), kNeeded) ? is_every_id_mapped() : false;
}

sys::Result<bool> can_become(std::uint32_t id) {
  if (::geteuid() != 0) return false;
  const Capabilities held(::cap_get_proc());
  if (held == nullptr) return tl::unexpected(sys::errno_error("look at our own capabilities"));
  constexpr std::array kNeeded = {CAP_SETUID, CAP_SETGID, CAP_SETPCAP,     CAP_CHOWN,
                                  CAP_FOWNER, CAP_KILL,   CAP_DAC_OVERRIDE};
  if (!has_all(held.get(), kNeeded)) return false;
  const auto map = sys::read_file(AT_FDCWD, "/proc/self/uid_map");
  if (!map) return tl::unexpected(map.error());
  std::istringstream lines(*map);
  for (std::uint64_t inside = 0, outside = 0, count = 0; lines >> inside >> outside >> count;) {
    if (id >= inside && id - inside < count) return true;
  }
  return false;
}

}  // namespace wardcase::sandbox

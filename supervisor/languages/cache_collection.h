// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// What of the caches (content_cache.h) may go.
struct CollectionRules {
  std::chrono::seconds unused_for = std::chrono::hours(24 * 30);
  std::optional<std::uint64_t> keep_bytes;  // of all kinds together; the last used ones stay
  bool dry_run = false;
};

// Something that was removed, or would be.
struct Collected {
  enum class Why : std::uint8_t { age, size, leftover };

  std::string kind;  // "environments", "compiled"
  std::string name;
  std::vector<std::string> about;  // of an environment: its installer, its requirements
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point used;
  Why why = Why::age;
};
[[nodiscard]] std::string_view why_name(Collected::Why why);

struct Collection {
  std::vector<Collected> removed;
  std::uint64_t kept = 0;
  std::uint64_t kept_bytes = 0;
  std::uint64_t in_use = 0;          // of those that would have gone
  std::vector<std::string> trouble;  // what could not be removed, and why
};

// Removes what is old, beyond a size, or left by builds that were killed; never what somebody
// uses. Takes its time.
[[nodiscard]] sys::Result<Collection> collect_caches(const CollectionRules& rules);

}  // namespace wardcase::supervisor

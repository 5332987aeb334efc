// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// `first` and the `count - 1` ids after it.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  [[nodiscard]] bool has(std::uint32_t id) const { return id >= first && id - first < count; }
  [[nodiscard]] bool overlaps(const IdRange& other) const {
    return count > 0 && other.count > 0 && (has(other.first) || other.has(first));
  }
};

// Host ids that were given to somebody, by name or number (subuid(5)).
struct SubordinateIds {
  std::string owner;
  IdRange range;
};

// Reads /etc/subuid's format, `owner:first:count` a line; other lines are passed over.
[[nodiscard]] std::vector<SubordinateIds> parse_subordinate_ids(std::string_view text);

// Those of the user called `name`, or named by his number.
[[nodiscard]] std::vector<IdRange> ranges_of(std::span<const SubordinateIds> given,
                                             std::string_view name, uid_t user);

// The longest stretch that is in both lists; nullopt where they share nothing.
[[nodiscard]] std::optional<IdRange> find_common_range(std::span<const IdRange> some,
                                                       std::span<const IdRange> others);

// The name that /etc/passwd's text has for a number; "": none. (The C library's own functions
// do not work in a static program.)
[[nodiscard]] std::string find_user_name(std::string_view passwd, uid_t user);

// The longest stretch that both /etc/subuid and /etc/subgid give to `user`, by his number
// or by one of the names that /etc/passwd or our own environment ($USER) has for him. The
// error says how to get one.
[[nodiscard]] sys::Result<IdRange> read_subordinate_ids(uid_t user);

}  // namespace wardcase::sandbox

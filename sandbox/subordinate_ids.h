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

namespace wardcase::sandbox {

// `first` and the `count - 1` ids after it.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  [[nodiscard]] bool has(std::uint32_t id) const { return id >= first && id - first < count; }
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

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/units.h"

#include <string_view>

#include "policies/limits.h"
#include "tests/fuzz/fuzz_target.h"

namespace policies = wardcase::policies;
using wardcase::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = policies::parse_duration(text)) {
    require(time->count() > 0, "a time is above 0");
    const auto again = policies::parse_duration(policies::format_duration(*time));
    require(again && *again == *time, "a time that is written can be read again");
  }
  if (const auto bytes = policies::parse_size(text)) {
    require(*bytes > 0 && !policies::format_size(*bytes).empty(), "a size is above 0");
  }
  if (const auto count = policies::parse_count(text)) {
    const auto again = policies::parse_count(std::to_string(*count));
    require(again && *again == *count && *count > 0, "a count that is written can be read again");
  }
  if (const auto millicpus = policies::parse_millicpus(text)) {
    const auto again = policies::parse_millicpus(policies::format_millicpus(*millicpus));
    require(again && *again == *millicpus, "a number of processors can be read again");
  }
  for (const policies::LimitRow& row : policies::limit_table()) {
    const auto limit = policies::parse_limit(row, text, {row.maximum});
    if (!limit) {
      require(!limit.error().message().empty(), "a refusal gives its reason");
      continue;
    }
    require(*limit || row.none_allowed, "no limit only where the table allows it");
    require(!*limit || !row.maximum || **limit <= *row.maximum, "no value above its maximum");
  }
  return 0;
}

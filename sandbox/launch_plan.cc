// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/launch_plan.h"

#include <limits>

#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

PlanBuilder::PlanBuilder() {
  buffer_.reserve(16 * 1024);
  buffer_.resize(sizeof(LaunchPlan));
}

Offset PlanBuilder::text(std::string_view text) {
  const std::size_t at = buffer_.size();
  buffer_.resize(at + text.size() + 1);
  std::memcpy(buffer_.data() + at, text.data(), text.size());
  WARDCASE_CHECK(buffer_.size() < std::numeric_limits<Offset>::max());
  return static_cast<Offset>(at);
}

Slice PlanBuilder::append(const void* items, std::size_t size, std::size_t alignment,
                          std::size_t count) {
  const std::size_t at = (buffer_.size() + alignment - 1) / alignment * alignment;
  buffer_.resize(at + size * count);
  if (count != 0) std::memcpy(buffer_.data() + at, items, size * count);
  WARDCASE_CHECK(buffer_.size() < std::numeric_limits<Offset>::max());
  return {static_cast<Offset>(at), static_cast<std::uint32_t>(count)};
}

std::vector<std::byte> PlanBuilder::finish() {
  header.size = static_cast<std::uint32_t>(buffer_.size());
  std::memcpy(buffer_.data(), &header, sizeof header);
  return std::move(buffer_);
}

}  // namespace wardcase::sandbox

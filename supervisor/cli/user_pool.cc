// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/user_pool.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "sandbox/subordinate_ids.h"
#include "supervisor/cli/ask_program.h"

namespace wardcase::supervisor {
namespace {

constexpr const char* kNewUidMap = "/usr/bin/newuidmap";
constexpr const char* kNewGidMap = "/usr/bin/newgidmap";

sys::Status ask_to_map(const char* program, pid_t pid, std::uint32_t own,
                       const sandbox::IdRange& ids) {
  const std::string self = std::to_string(own);
  const std::string first = std::to_string(ids.first);
  const auto answer = ask_program(
      {program, std::to_string(pid), self, self, "1", first, first, std::to_string(ids.count)},
      {"LANG=C.UTF-8"});
  if (answer && answer->is_success) return {};
  const std::string why = answer && !answer->line.empty() ? answer->line : "no answer";
  return tl::unexpected(sys::plain_error(std::string(program) + ": " + why));
}

}  // namespace

sys::Result<sandbox::IdPool> make_user_pool() {
  auto ids = sandbox::read_subordinate_ids(::geteuid());
  if (!ids) return tl::unexpected(std::move(ids).error());
  for (const char* program : {kNewUidMap, kNewGidMap}) {
    if (::access(program, X_OK) == 0) continue;
    return tl::unexpected(
        sys::plain_error(std::string(program) + " is not there (Debian: install uidmap)"));
  }
  return sandbox::IdPool::make([&](pid_t pid) {
    auto mapped = ask_to_map(kNewGidMap, pid, ::getegid(), *ids);
    return mapped ? ask_to_map(kNewUidMap, pid, ::geteuid(), *ids) : mapped;
  });
}

}  // namespace wardcase::supervisor

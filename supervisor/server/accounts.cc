// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/accounts.h"

#include <grp.h>
#include <pwd.h>

#include <charconv>
#include <optional>

namespace wardcase::supervisor {
namespace {

std::optional<uid_t> number_of(const std::string& name) {
  uid_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return id;
}

}  // namespace

sys::Result<uid_t> find_user_id(const std::string& name) {
  if (const auto number = number_of(name)) return *number;
  const passwd* const entry = ::getpwnam(name.c_str());
  if (entry != nullptr) return entry->pw_uid;
  return tl::unexpected(sys::plain_error("there is no user '" + name + "'"));
}

sys::Result<gid_t> find_group_id(const std::string& name) {
  if (const auto number = number_of(name)) return *number;
  const group* const entry = ::getgrnam(name.c_str());
  if (entry != nullptr) return entry->gr_gid;
  return tl::unexpected(sys::plain_error("there is no group '" + name + "'"));
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/allowed_calls.h"

#include <algorithm>
#include <string>
#include <vector>

#include "policies/spelling.h"
#include "policies/syscall_policy.h"
#include "sandbox/syscall_names.h"

namespace wardcase::supervisor {
namespace {

sys::Status check_name(const std::string& name) {
  if (sandbox::syscall_number(name)) return {};
  const std::vector<std::string> names = sandbox::syscall_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  return tl::unexpected(
      sys::plain_error("no such system call" + policies::did_you_mean(name, known)));
}

}  // namespace

sys::Status allow_calls(std::string_view asked_by, std::string_view names,
                        Configuration& configuration) {
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name(names.substr(begin, end - begin));
    const auto allowed = check_name(name).and_then([&] {
      return policies::open_call(configuration.syscalls, name, configuration.policy.name->value);
    });
    if (!allowed) {
      return tl::unexpected(
          sys::Error(allowed.error()).while_doing(std::string(asked_by) + " '" + name + "'"));
    }
    begin = end + 1;
  }
  return {};
}

}  // namespace wardcase::supervisor

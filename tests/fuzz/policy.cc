// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A policy, a configuration or groups of system calls: the same text read as each of them.
#include <string>
#include <string_view>

#include "policies/policy_reader.h"
#include "policies/policy_text.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using namespace wardcase::policies;

namespace {

void read_as(FileKind kind, std::string_view text) {
  const auto policy = read_policy(text, "p.toml", kind);
  if (!policy) {
    require(policy.error().message().starts_with("p.toml:"), "a refusal names the file");
    return;
  }
  const std::string written = to_toml(*policy, Origins::left_out);
  const auto again = read_policy(written, "q.toml", kind);
  require(again.has_value(), "what is written can be read");
  require(to_toml(*again, Origins::left_out) == written, "nothing is lost by writing");
  require(read_policy(to_toml(*policy, Origins::shown), "r.toml", kind).has_value(),
          "origins are comments");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as(FileKind::policy, text);
  read_as(FileKind::configuration, text);
  const auto groups = read_syscall_groups(text, "g.toml");
  require(groups || groups.error().message().starts_with("g.toml:"), "a refusal names the file");
  return 0;
}

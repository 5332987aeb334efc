// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/run_spec.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sandbox/launch_request.h"

namespace wardcase::supervisor {

void RunSpec::take_policy(const policies::Policy& its_policy,
                          policies::SyscallChanges its_syscalls) {
  policy = its_policy.name->value;
  syscalls = std::move(its_syscalls);
  oom = its_policy.oom->value;
  execute_writable = its_policy.execute_writable->value;
  confinement = its_policy.confinement->value;
  const auto standard = policies::standard_require(confinement);
  require.assign(standard.begin(), standard.end());
  for (const auto& feature : its_policy.require) require.push_back(feature.value);
}

sys::Result<RunSpec> RunSpec::share() const {
  RunSpec other;
  static_cast<CommonSpec&>(other) = *this;
  for (const PlacedFile& file : files) {
    sys::UniqueFd content(::fcntl(file.content.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!content.is_open()) return tl::unexpected(sys::errno_error("share '" + file.path + "'"));
    other.files.push_back({file.path, std::move(content), file.mode});
  }
  return other;
}

const policies::Mount* find_workspace(const RunSpec& spec) {
  const auto found =
      std::ranges::find(spec.mounts, sandbox::kWorkDirectory, &policies::Mount::target);
  return found == spec.mounts.end() ? nullptr : &*found;
}

}  // namespace wardcase::supervisor

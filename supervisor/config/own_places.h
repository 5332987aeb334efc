// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"

namespace wardcase::supervisor {

enum class Missing : bool { is_error, is_made };

// A directory of the caller's that we keep things in.
struct OwnPlace {
  std::string path;
  sys::UniqueFd directory;
};

// $XDG_STATE_HOME/wardcase/`name` and $XDG_CACHE_HOME/wardcase/`name`, or what stands for them
// below HOME; of a service the directory that its manager gave it ($STATE_DIRECTORY,
// $CACHE_DIRECTORY, systemd.exec(5)), and of root without a HOME of its own /var/cache. Fails
// unless it and those between are the caller's own and no links; those of the state have to be
// closed to others, those of the cache to their writing.
[[nodiscard]] sys::Result<OwnPlace> open_state(const std::string& name, Missing missing);
[[nodiscard]] sys::Result<OwnPlace> open_cache(const std::string& name, Missing missing);

}  // namespace wardcase::supervisor

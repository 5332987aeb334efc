// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "sandbox/id_maps.h"
#include "sandbox/sys/error.h"

namespace wardcase::sandbox {

// Shows a directory of the host, read-only, at a place of a box that lives: as if it had been
// bound there at its start. `process` is a pidfd of one of its processes. The place, which no link
// of the box's leads away from, is made where it is missing, and covered where it is not. The
// mount ends with the box.
[[nodiscard]] sys::Status show_in_box(int process, const BoxIds& ids, const std::string& directory,
                                      const std::string& place);

}  // namespace wardcase::sandbox

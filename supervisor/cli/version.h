// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

namespace wardcase::supervisor {

// `wardcase version`: name, version, architecture. Returns the exit code.
int version_command();

}  // namespace wardcase::supervisor

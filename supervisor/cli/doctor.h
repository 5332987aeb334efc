// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

namespace wardcase::supervisor {

// `wardcase doctor`: tells what of this host a box can use, and what to fix.
// Returns the exit code: 1 if a run can't work.
int doctor_command();

}  // namespace wardcase::supervisor

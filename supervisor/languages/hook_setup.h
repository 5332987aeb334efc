// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "sandbox/sys/error.h"
#include "supervisor/languages/interpreter_hook.h"
#include "supervisor/languages/prelude.h"
#include "supervisor/run/run_spec.h"

namespace wardcase::supervisor {

// Puts the files of a hook into the box, and what its interpreter needs into argv and environment.
[[nodiscard]] sys::Status set_up_hook(const InterpreterHook& hook, RunSpec& program);

// After that: the same for a prelude.
[[nodiscard]] sys::Status set_up_prelude(const InterpreterHook& hook, Prelude prelude,
                                         RunSpec& program);

}  // namespace wardcase::supervisor

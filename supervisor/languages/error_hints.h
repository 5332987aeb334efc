// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "supervisor/languages/run_error.h"

namespace wardcase::supervisor {

// One next step for a run that failed, or "": the limit that ended it and its maximum, or what
// the exception was about. Names that the program chose are shown bounded, and only where they
// have no control characters.
[[nodiscard]] std::string find_error_hint(const ToldError& told, const ErrorScene& scene,
                                          const RunRecord& record);

// What is to be installed for a module, where that has another name: "opencv-python" for "cv2".
[[nodiscard]] std::string package_of(std::string_view module);

}  // namespace wardcase::supervisor

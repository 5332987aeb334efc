// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <span>
#include <string>

namespace wardcase::supervisor {

// `wardcase-server serve WORDS`: the service, in the foreground, until a signal ends it. The
// exit code: 0 after that, 125 where it could not begin.
[[nodiscard]] int serve(std::span<const std::string> words);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

namespace wardcase::supervisor {

// What `wardcase help VERB` says of the verbs of sessions before their options; "" of others.
[[nodiscard]] std::string_view session_help_head(std::string_view verb);

}  // namespace wardcase::supervisor

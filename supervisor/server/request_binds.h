// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "supervisor/server/request_field.h"

namespace wardcase::supervisor {

// What of the host a request names: directories and files below roots that its policy lists, and
// those that the client hands over as descriptors, by their order.

// "binds": a list of {"path" or "fd", "target", "mode"}.
[[nodiscard]] Read read_binds(const boost::json::value& value, RunRequest& request);

// The number of a descriptor.
[[nodiscard]] Read read_descriptor(const std::string& field, const boost::json::value& value,
                                   std::optional<std::size_t>& descriptor);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string_view>

namespace wardcase::supervisor {

// The target of a request, in the parts that somebody asks for. They point into it.

// Without the scheme and authority of the absolute form, and without a query.
[[nodiscard]] std::string_view path_of(std::string_view target);

// What stands behind NAME= in the query, as it was sent; nullopt: there is no such parameter.
[[nodiscard]] std::optional<std::string_view> parameter_of(std::string_view target,
                                                           std::string_view name);

// Whether `path` is of the form `pattern`, in which {id} stands for one segment that is not empty;
// `id` becomes that.
[[nodiscard]] bool matches(std::string_view path, std::string_view pattern, std::string_view& id);

}  // namespace wardcase::supervisor

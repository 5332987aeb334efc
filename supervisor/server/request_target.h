// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wardcase::supervisor {

// The target of a request, in the parts that somebody asks for. They point into it.

// Without the scheme and authority of the absolute form, and without a query.
[[nodiscard]] std::string_view path_of(std::string_view target);

// What stands behind NAME= in the query, as it was sent; nullopt: there is no such parameter.
[[nodiscard]] std::optional<std::string_view> parameter_of(std::string_view target,
                                                           std::string_view name);

// Whether `path` is of the form `pattern`, in which {id} stands for one segment that is not empty,
// and {path} at its end for one or more; `id` and `rest` become those.
[[nodiscard]] bool matches(std::string_view path, std::string_view pattern, std::string_view& id,
                           std::string_view& rest);

// What is written as %41 and so on (RFC 3986, section 2.1). nullopt: what makes no sense.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

}  // namespace wardcase::supervisor

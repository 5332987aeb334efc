// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string_view>

namespace wardcase::supervisor {

// Why `name` can't be a file's path below /box, as the end of a sentence; "": it can. It is
// relative, as "data/a.csv", and may have any bytes but zero.
[[nodiscard]] std::string_view why_no_box_name(std::string_view name);

// Whether there can't be two files of these names: they are the same, or one would have to be a
// directory.
[[nodiscard]] bool clash_in_box(std::string_view name, std::string_view other);

// What the names of files begin with that we write and that are not whole yet.
inline constexpr std::string_view kUnfinishedName = ".wardcase-";

}  // namespace wardcase::supervisor

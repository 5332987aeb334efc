// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// Units of systemd in a guest, which is thrown away.

inline constexpr const char* kUnits = "packaging/systemd";
// Where their command lies; a directory that no unit hides.
inline constexpr const char* kUnitsBin = "/run/wardcase-units/bin";

[[nodiscard]] bool is_in_guest();

// A command of the host, as root.
[[nodiscard]] Outcome call(const std::vector<std::string>& argv);
void expect_success(const std::vector<std::string>& argv);
// `systemctl WORDS`, which has to succeed.
void systemctl(std::vector<std::string> words);
[[nodiscard]] std::string unit_property(const std::string& unit, const std::string& name);

// As eventually(), with the patience that systemd in a slow guest takes.
[[nodiscard]] bool comes_true(const std::function<bool()>& holds);

// As `make install` does it, with both commands in `bin`.
void install_units(const std::filesystem::path& from, const std::filesystem::path& to,
                   const std::string& bin);
void remove_units(const std::filesystem::path& from, const std::filesystem::path& to);
void install_command();
void remove_command();

}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "supervisor/server/json_members.h"
#include "supervisor/server/request_field.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// Readers of members that are texts, lists of them, or objects of them. `field` is how the member
// is called, for errors.

// A list of words: what one may have, and all of them.
struct Most {
  std::size_t words;
  std::size_t word_bytes;
  std::size_t bytes;
};
// As execve(2) counts: with its zero byte no word may have more (MAX_ARG_STRLEN), and all of
// them with their pointers no more than a quarter of the usual stack.
inline constexpr Most kMostArguments = {4096, (128 << 10) - 1, 2 << 20};
inline constexpr Most kMostVariables = {kMostMembers, (128 << 10) - 1, 2 << 20};

[[nodiscard]] Read read_text(const std::string& field, const boost::json::value& value,
                             std::string& text);
// What becomes a word of a command or a name of the kernel.
[[nodiscard]] Read read_word(const std::string& field, const boost::json::value& value,
                             std::string& word);
[[nodiscard]] Read read_words(const std::string& field, const boost::json::value& value,
                              const Most& most, std::vector<std::string>& words);
[[nodiscard]] Read read_switch(const std::string& field, const boost::json::value& value,
                               bool& is_on);
// Of base64.
[[nodiscard]] Read read_bytes(const std::string& field, const boost::json::value& value,
                              std::string& bytes);
// The members `env` and `files`.
[[nodiscard]] Read read_environment(const boost::json::value& value,
                                    std::vector<std::string>& environment);
[[nodiscard]] Read read_files(const boost::json::value& value,
                              std::vector<RunRequest::File>& files);

// What the kernel counts of a program's arguments or variables.
[[nodiscard]] std::size_t bytes_of(const std::vector<std::string>& words);
[[nodiscard]] tl::unexpected<Problem> too_long_with_env(const std::string& field);

}  // namespace wardcase::supervisor

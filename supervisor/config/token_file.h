// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// Tokens of the service's clients. A file has their names and what they allow, and of the tokens
// themselves a hash alone: who reads it can't use them.

// `admin` is all, and of what is everybody's.
enum class Scope : std::uint8_t { run, session, admin };
inline constexpr std::size_t kScopeCount = 3;
[[nodiscard]] std::string_view scope_name(Scope scope);
[[nodiscard]] std::optional<Scope> find_scope(std::string_view name);

using TokenHash = std::array<unsigned char, 32>;
using Seconds = std::chrono::sys_seconds;

struct Token {
  std::string name;
  TokenHash hash{};
  std::array<bool, kScopeCount> scopes{};
  Seconds created;
  std::optional<Seconds> expires;

  [[nodiscard]] bool has(Scope scope) const { return scopes[static_cast<std::size_t>(scope)]; }
  [[nodiscard]] bool is_expired(Seconds now) const { return expires && *expires <= now; }
};

// 256 random bits behind "wct_", by which scanners for secrets know it.
[[nodiscard]] sys::Result<std::string> make_token();
[[nodiscard]] TokenHash hash_token(std::string_view token);
// The one whose hash it is; nullptr: none. How long it takes tells nothing of the hashes.
[[nodiscard]] const Token* find_token(std::span<const Token> tokens, const TokenHash& hash);

// 1 to 64 letters, digits, dots, dashes and underscores.
[[nodiscard]] bool is_token_name(std::string_view name);

// "2026-12-31T23:59:59Z".
[[nodiscard]] std::string write_time(Seconds time);
[[nodiscard]] std::optional<Seconds> parse_time(std::string_view text);

[[nodiscard]] sys::Result<std::vector<Token>> parse_tokens(std::string_view text,
                                                           std::string_view file);
[[nodiscard]] std::string write_tokens(std::span<const Token> tokens);

// Fails on a file that anybody but root and ourselves can write to.
[[nodiscard]] sys::Result<std::vector<Token>> read_token_file(const std::string& path);

enum class NoFile : bool { is_error, is_made };
// Has `change` change them, while no other process does. The file is replaced as a whole, by one
// that has its owner and mode; a new one is its owner's alone.
[[nodiscard]] sys::Status change_token_file(
    const std::string& path, NoFile missing,
    const std::function<sys::Status(std::vector<Token>& tokens)>& change);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sodium.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string>

#include "policies/toml_document.h"
#include "supervisor/config/token_file.h"

namespace wardcase::supervisor {
namespace {

using policies::TomlNode;

constexpr std::string_view kPrefix = "wct_";
constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kMostTokens = 10'000;
constexpr std::size_t kLongestName = 64;
constexpr const char* kTimeFormat = "%Y-%m-%dT%H:%M:%SZ";
constexpr Scope kScopes[] = {Scope::run, Scope::session, Scope::admin};

std::string hex(const TokenHash& hash) {
  std::array<char, 2 * sizeof(TokenHash) + 1> text;
  return ::sodium_bin2hex(text.data(), text.size(), hash.data(), hash.size());
}

bool parse_hex(const std::string& text, TokenHash& hash) {
  std::size_t size = 0;
  return text.size() == 2 * hash.size() &&
         ::sodium_hex2bin(hash.data(), hash.size(), text.data(), text.size(), nullptr, &size,
                          nullptr) == 0 &&
         size == hash.size();
}

// Reads one [[token]]; its errors name the place, and never the hash.
class TokenReader {
 public:
  TokenReader(const TomlNode& node, std::string_view file) : node_(node), file_(file) {}

  sys::Result<Token> read() {
    if (node_.kind != TomlNode::Kind::table) return wrong(node_, "token: write [[token]]");
    Token token;
    for (std::size_t i = 0; i < node_.keys.size(); ++i) {
      auto status = read_key(node_.keys[i].name, node_.elements[i], token);
      if (!status) return tl::unexpected(std::move(status).error());
    }
    for (const char* key : {"name", "hash", "scopes", "created"}) {
      if (node_.find(key) == nullptr) return wrong(node_, std::string("token: needs ") + key);
    }
    return token;
  }

 private:
  tl::unexpected<sys::Error> wrong(const TomlNode& at, const std::string& what) const {
    return tl::unexpected(policies::error_at(file_, at.place, what));
  }

  sys::Status read_key(const std::string& key, const TomlNode& value, Token& token) const {
    if (key == "scopes") return read_scopes(value, token);
    if (key == "name") {
      token.name = value.text;
      if (is_token_name(token.name)) return {};
      return wrong(value, "name: write 1 to 64 of A-Z a-z 0-9 . _ -");
    }
    if (key == "hash") {
      if (parse_hex(value.text, token.hash)) return {};
      return wrong(value, "hash: not 64 hexadecimal digits");
    }
    if (key == "created" || key == "expires") {
      const auto time = parse_time(value.text);
      if (!time) return wrong(value, key + ": write it as \"2026-12-31T23:59:59Z\"");
      if (key == "created") token.created = *time;
      if (key == "expires") token.expires = *time;
      return {};
    }
    return wrong(value, "unknown key '" + key + "'");
  }

  sys::Status read_scopes(const TomlNode& value, Token& token) const {
    if (value.kind != TomlNode::Kind::list) return wrong(value, "scopes: write a list");
    for (const TomlNode& each : value.elements) {
      const auto scope = find_scope(each.text);
      if (!scope) return wrong(each, "scopes: write run, session or admin");
      token.scopes[static_cast<std::size_t>(*scope)] = true;
    }
    return {};
  }

  const TomlNode& node_;
  std::string_view file_;
};

}  // namespace

std::string_view scope_name(Scope scope) {
  switch (scope) {
    case Scope::session:
      return "session";
    case Scope::admin:
      return "admin";
    case Scope::run:
      break;
  }
  return "run";
}

std::optional<Scope> find_scope(std::string_view name) {
  const auto* const found = std::ranges::find(kScopes, name, scope_name);
  return found == std::end(kScopes) ? std::nullopt : std::optional(*found);
}

sys::Result<std::string> make_token() {
  if (::sodium_init() < 0) return tl::unexpected(sys::plain_error("there are no random numbers"));
  std::array<unsigned char, kRandomBytes> bytes;
  ::randombytes_buf(bytes.data(), bytes.size());
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::array<char, sodium_base64_ENCODED_LEN(kRandomBytes, kVariant)> text;
  std::string token(kPrefix);
  token += ::sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  return token;
}

TokenHash hash_token(std::string_view token) {
  TokenHash hash;
  // BLAKE2b. std::string_view has char, libsodium takes bytes. It fails on wrong sizes alone.
  (void)::crypto_generichash(hash.data(), hash.size(),
                             reinterpret_cast<const unsigned char*>(token.data()), token.size(),
                             nullptr, 0);
  return hash;
}

const Token* find_token(std::span<const Token> tokens, const TokenHash& hash) {
  const Token* found = nullptr;
  for (const Token& token : tokens) {
    if (::sodium_memcmp(token.hash.data(), hash.data(), hash.size()) == 0) found = &token;
  }
  return found;
}

bool is_token_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
  });
}

std::string write_time(Seconds time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts = {};
  std::array<char, 64> text;
  const std::size_t size = ::gmtime_r(&seconds, &parts) == nullptr
                               ? 0
                               : std::strftime(text.data(), text.size(), kTimeFormat, &parts);
  return {text.data(), size};
}

std::optional<Seconds> parse_time(std::string_view text) {
  const std::string copy(text);
  std::tm parts = {};
  const char* const end = ::strptime(copy.c_str(), kTimeFormat, &parts);
  if (end == nullptr || *end != '\0' || end != copy.c_str() + copy.size()) return std::nullopt;
  return Seconds(std::chrono::seconds(::timegm(&parts)));
}

// An empty file, as one that was just made, has none.
sys::Result<std::vector<Token>> parse_tokens(std::string_view text, std::string_view file) {
  std::vector<Token> tokens;
  if (text.empty()) return tokens;
  const auto table = policies::parse_toml(text, file);
  if (!table) return tl::unexpected(table.error());
  for (std::size_t i = 0; i < table->keys.size(); ++i) {
    const TomlNode::Key& key = table->keys[i];
    const TomlNode& value = table->elements[i];
    if (key.name == "schema" && value.integer == 1) continue;
    if (key.name != "token" || value.kind != TomlNode::Kind::list) {
      return tl::unexpected(policies::error_at(
          file, key.place, "'" + key.name + "': write schema = 1 and [[token]]"));
    }
    if (value.elements.size() > kMostTokens) {
      return tl::unexpected(policies::error_at(
          file, value.place, "more than " + std::to_string(kMostTokens) + " tokens"));
    }
    for (const TomlNode& each : value.elements) {
      auto token = TokenReader(each, file).read();
      if (!token) return tl::unexpected(std::move(token).error());
      tokens.push_back(*std::move(token));
    }
  }
  if (table->find("schema") != nullptr) return tokens;
  return tl::unexpected(sys::plain_error(std::string(file) + ": no schema; write schema = 1"));
}

std::string write_tokens(std::span<const Token> tokens) {
  std::string text = "# Made by `wardcase token`; of each token it has a hash alone.\nschema = 1\n";
  for (const Token& token : tokens) {
    text += "\n[[token]]\nname = \"" + token.name + "\"\nhash = \"" + hex(token.hash) + "\"\n";
    std::string scopes;
    for (const Scope scope : kScopes) {
      if (!token.has(scope)) continue;
      scopes +=
          std::string(scopes.empty() ? "" : ", ") + "\"" + std::string(scope_name(scope)) + "\"";
    }
    text += "scopes = [" + scopes + "]\ncreated = \"" + write_time(token.created) + "\"\n";
    if (token.expires) text += "expires = \"" + write_time(*token.expires) + "\"\n";
  }
  return text;
}

}  // namespace wardcase::supervisor

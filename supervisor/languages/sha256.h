// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sodium/crypto_hash_sha256.h>

#include <string>
#include <string_view>

namespace wardcase::supervisor {

// SHA-256 of bytes that come in parts.
class Sha256 {
 public:
  Sha256();

  void add(std::string_view bytes);
  // 64 hexadecimal digits, in lower case. Nothing may be added or asked for after that.
  [[nodiscard]] std::string finish();

 private:
  crypto_hash_sha256_state state_;
};

// The same of bytes that are all there.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace wardcase::supervisor

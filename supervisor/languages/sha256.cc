// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/sha256.h"

#include <array>

namespace wardcase::supervisor {

// None of these calls can fail: they return 0 always (libsodium's manual).
Sha256::Sha256() : state_() { (void)crypto_hash_sha256_init(&state_); }

void Sha256::add(std::string_view bytes) {
  (void)crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                                  bytes.size());
}

std::string Sha256::finish() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest = {};
  (void)crypto_hash_sha256_final(&state_, digest.data());
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.finish();
}

}  // namespace wardcase::supervisor

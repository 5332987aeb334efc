// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/json_text.h"

#include <boost/beast/core/detail/base64.hpp>
#include <boost/json.hpp>

namespace wardcase::supervisor {

std::string json_string(std::string_view text) { return boost::json::serialize(text); }

std::string base64(std::string_view bytes) {
  namespace codec = boost::beast::detail::base64;
  std::string text(codec::encoded_size(bytes.size()), '\0');
  text.resize(codec::encode(text.data(), bytes.data(), bytes.size()));
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  namespace codec = boost::beast::detail::base64;
  if (text.size() % 4 != 0) return std::nullopt;  // the codec would write more than it has room for
  std::string bytes(codec::decoded_size(text.size()), '\0');
  bytes.resize(codec::decode(bytes.data(), text.data(), text.size()).first);
  // The codec stops where it does not understand, and passes over what is missing.
  if (base64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace wardcase::supervisor

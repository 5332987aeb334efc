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

}  // namespace wardcase::supervisor

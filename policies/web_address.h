// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"

namespace wardcase::policies {

// A URL, as far as it says whom to talk to.
struct WebAddress {
  std::string host;  // in lower case; of an IPv6 address without its brackets
  std::uint16_t port = 0;
  bool is_encrypted = true;

  friend bool operator==(const WebAddress&, const WebAddress&) = default;
};

// `https://HOST[:PORT][/PATH]`; `http` only for an address of this host itself, since whoever
// stands in between could answer as he likes. No user name, password, query or fragment: what
// is installed can read the URL.
[[nodiscard]] sys::Result<WebAddress> parse_web_address(std::string_view url);

// `HOST:PORT`, an IPv6 address in brackets, as a proxy is asked for it.
[[nodiscard]] sys::Result<WebAddress> parse_authority(std::string_view text);

}  // namespace wardcase::policies

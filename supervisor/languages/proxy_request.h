// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <string_view>

#include "policies/web_address.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// What a client asks a proxy for (RFC 9110, 9.3.6 and RFC 9112, 3.2.2).
struct ProxyRequest {
  policies::WebAddress address;
  bool is_tunnel = false;  // CONNECT: bytes both ways; else one request without encryption
  std::string head;        // of the latter: what its server is to be sent
};

inline constexpr std::size_t kLongestProxyHead = 16 << 10;

// Where the head ends that `bytes` begin with, its blank line included; npos: it is not whole.
[[nodiscard]] std::size_t end_of_head(std::string_view bytes);

// `head`: whole. A request without encryption becomes one of its own connection, so that no
// other can follow it to the same server under another name.
[[nodiscard]] sys::Result<ProxyRequest> parse_proxy_request(std::string_view head);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/web_address.h"

#include <algorithm>
#include <charconv>

namespace wardcase::policies {
namespace {

constexpr std::size_t kLongestUrl = 2048;
constexpr std::size_t kLongestHost = 253;  // RFC 1035, 2.3.4
constexpr std::string_view kEncrypted = "https://";
constexpr std::string_view kPlain = "http://";
constexpr std::uint16_t kEncryptedPort = 443;
constexpr std::uint16_t kPlainPort = 80;

tl::unexpected<sys::Error> wrong(std::string_view what) {
  return tl::unexpected(sys::plain_error(what));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
}
bool is_address_byte(char c) { return is_letter(c) || is_digit(c) || c == ':' || c == '.'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Takes HOST or [HOST] off the front of `text`.
sys::Result<std::string> take_host(std::string_view& text) {
  const bool is_bracketed = text.starts_with('[');
  const std::size_t end = is_bracketed ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string_view::npos) return wrong("no ] after the address");
  std::string host(text.substr(is_bracketed ? 1 : 0, end - (is_bracketed ? 1 : 0)));
  text.remove_prefix(is_bracketed ? end + 1 : end);
  if (host.empty() || host.size() > kLongestHost ||
      !std::ranges::all_of(host, is_bracketed ? is_address_byte : is_name_byte)) {
    return wrong("names no host");
  }
  std::ranges::transform(host, host.begin(), lower);
  return host;
}

sys::Result<WebAddress> take_authority(std::string_view text, std::uint16_t port) {
  auto host = take_host(text);
  if (!host) return tl::unexpected(std::move(host).error());
  WebAddress address = {*std::move(host), port};
  if (text.empty()) return address;
  if (!text.starts_with(':')) return wrong("names no host");
  text.remove_prefix(1);
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), address.port);
  if (error != std::errc() || stop != text.data() + text.size() || address.port == 0) {
    return wrong("names no port between 1 and 65535");
  }
  return address;
}

bool is_this_host(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

sys::Result<WebAddress> parse_web_address(std::string_view url) {
  const bool is_encrypted = url.starts_with(kEncrypted);
  if (!is_encrypted && !url.starts_with(kPlain)) return wrong("write https://HOST/PATH");
  if (url.size() > kLongestUrl) return wrong("is too long");
  for (const char c : url) {
    if (c <= ' ' || c > '~' || c == '"' || c == '\\' || c == '?' || c == '#') {
      return wrong("may have neither blanks, quotes, ? nor #");
    }
  }
  url.remove_prefix(is_encrypted ? kEncrypted.size() : kPlain.size());
  const std::string_view authority = url.substr(0, url.find('/'));
  if (authority.find('@') != std::string_view::npos) {
    return wrong("may have no user name and password: what is installed could read them");
  }
  auto address = take_authority(authority, is_encrypted ? kEncryptedPort : kPlainPort);
  if (!address) return address;
  address->is_encrypted = is_encrypted;
  if (!is_encrypted && !is_this_host(address->host)) {
    return wrong("write https: http only for this host itself (127.0.0.1)");
  }
  return address;
}

sys::Result<WebAddress> parse_authority(std::string_view text) {
  return take_authority(text, /*port=*/0).and_then([](WebAddress address) {
    return address.port != 0 ? sys::Result<WebAddress>(std::move(address))
                             : wrong("names no port between 1 and 65535");
  });
}

}  // namespace wardcase::policies

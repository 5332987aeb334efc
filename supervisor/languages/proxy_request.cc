// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/proxy_request.h"

#include <algorithm>
#include <array>

namespace wardcase::supervisor {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

tl::unexpected<sys::Error> malformed(std::string_view what) {
  return tl::unexpected(sys::plain_error(what));
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find(kLineEnd), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + kLineEnd.size(), text.size()));
  return line;
}

bool is_visible(char c) { return c > ' ' && c <= '~'; }

bool has_same_letters(std::string_view one, std::string_view other) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

// Of a connection and not of its request (RFC 9110, 7.6.1), or written anew.
bool is_left_out(std::string_view name) {
  constexpr std::array kNames = {"connection", "proxy-connection", "proxy-authorization",
                                 "keep-alive", "upgrade",          "host"};
  return std::ranges::any_of(kNames,
                             [&](std::string_view one) { return has_same_letters(name, one); });
}

sys::Result<std::string> fields_to_pass(std::string_view fields) {
  std::string passed;
  while (!fields.empty()) {
    const std::string_view line = take_line(fields);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == 0 || colon == std::string_view::npos || !std::ranges::all_of(name, is_visible) ||
        line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      return malformed("a header field is not well-formed");
    }
    if (!is_left_out(name)) passed.append(line).append(kLineEnd);
  }
  return passed;
}

// `http://HOST[:PORT]/PATH?QUERY`, as far as HOST and PORT.
sys::Result<ProxyRequest> parse_plain(std::string_view method, std::string_view target,
                                      std::string_view fields) {
  constexpr std::string_view kScheme = "http://";
  constexpr std::string_view kDefaultPort = ":80";
  if (!target.starts_with(kScheme)) return malformed("the target is no http:// URL");
  target.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(target.find_first_of("/?#"), target.size());
  const std::string_view authority = target.substr(0, slash);
  const bool has_port = authority.rfind(':') != std::string_view::npos && !authority.ends_with(']');
  auto address =
      policies::parse_authority(std::string(authority) + std::string(has_port ? "" : kDefaultPort));
  if (!address) return tl::unexpected(std::move(address).error());
  address->is_encrypted = false;
  const auto passed = fields_to_pass(fields);
  if (!passed) return tl::unexpected(passed.error());
  std::string_view path = target.substr(slash);
  ProxyRequest request;
  request.address = *std::move(address);
  request.head.append(method).append(" ").append(path.starts_with('/') ? "" : "/").append(path);
  request.head.append(" HTTP/1.1\r\nHost: ").append(authority).append(kLineEnd).append(*passed);
  request.head.append("Connection: close\r\n\r\n");
  return request;
}

}  // namespace

std::size_t end_of_head(std::string_view bytes) {
  const std::size_t end = bytes.find(kHeadEnd);
  return end == std::string_view::npos ? end : end + kHeadEnd.size();
}

sys::Result<ProxyRequest> parse_proxy_request(std::string_view head) {
  const std::string_view line = take_line(head);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return malformed("the request line is not well-formed");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (method.empty() || !std::ranges::all_of(method, is_visible) || target.empty() ||
      !std::ranges::all_of(target, is_visible) || !version.starts_with("HTTP/1.")) {
    return malformed("the request line is not well-formed");
  }
  if (method != "CONNECT") return parse_plain(method, target, head);
  auto address = policies::parse_authority(target);
  if (!address) return tl::unexpected(std::move(address).error());
  return ProxyRequest{*std::move(address), /*is_tunnel=*/true, ""};
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/proxy_request.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

std::string asked(std::string_view head) {
  const auto parsed = parse_proxy_request(head);
  if (!parsed) return "refused";
  return std::string(parsed->is_tunnel ? "tunnel " : "plain ") + parsed->address.host + " " +
         std::to_string(parsed->address.port);
}

TEST(ProxyRequest, ATunnelNamesHostAndPort) {
  EXPECT_EQ(asked("CONNECT Pypi.org:443 HTTP/1.1\r\nHost: pypi.org:443\r\n\r\n"),
            "tunnel pypi.org 443");
  EXPECT_EQ(asked("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n"), "tunnel 2001:db8::1 443");
}

TEST(ProxyRequest, ARequestInTheClearGoesOnAsOneOfItsOwnConnection) {
  const auto parsed = parse_proxy_request(
      "GET http://127.0.0.1:8000/simple/a/?x=1 HTTP/1.1\r\nHost: elsewhere\r\nAccept: */*\r\n"
      "Connection: keep-alive\r\nProxy-Connection: keep-alive\r\n\r\n");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->address.host, "127.0.0.1");
  EXPECT_EQ(parsed->address.port, 8000);
  EXPECT_EQ(parsed->head,
            "GET /simple/a/?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: */*\r\n"
            "Connection: close\r\n\r\n");
  EXPECT_EQ(asked("GET http://index HTTP/1.1\r\n\r\n"), "plain index 80");
}

TEST(ProxyRequest, WhatIsNotWellFormedIsRefused) {
  for (const std::string_view head :
       {"\r\n\r\n", "CONNECT\r\n\r\n", "CONNECT host:443\r\n\r\n", "CONNECT host HTTP/1.1\r\n\r\n",
        "CONNECT host:0 HTTP/1.1\r\n\r\n", "CONNECT host:99999 HTTP/1.1\r\n\r\n",
        "CONNECT a b:443 HTTP/1.1\r\n\r\n", "CONNECT user@host:443 HTTP/1.1\r\n\r\n",
        "GET /simple HTTP/1.1\r\n\r\n", "GET https://h/ HTTP/1.1\r\n\r\n",
        "GET ftp://h/ HTTP/1.1\r\n\r\n", "GET http:///x HTTP/1.1\r\n\r\n",
        "GET http://u:p@h/x HTTP/1.1\r\n\r\n", "GET http://h/x HTTP/2\r\n\r\n",
        "GET http://h/x HTTP/1.1\r\nno colon\r\n\r\n",
        "GET http://h/x HTTP/1.1\r\nA: b\nC: d\r\n\r\n", "CONNECT h:443:443 HTTP/1.1\r\n\r\n",
        "CONNECT [::1:443 HTTP/1.1\r\n\r\n"}) {
    EXPECT_EQ(asked(head), "refused") << head;
  }
}

TEST(ProxyRequest, AHeadEndsWithItsBlankLine) {
  EXPECT_EQ(end_of_head("GET / HTTP/1.1\r\n"), std::string_view::npos);
  EXPECT_EQ(end_of_head("a\r\n\r\nbody"), 5U);
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "tests/support/record.h"

namespace wardcase::test {

struct HttpAnswer {
  int status = 0;                                            // 0: none came
  std::vector<std::pair<std::string, std::string>> headers;  // names as they came
  std::string body;

  [[nodiscard]] std::string header(std::string_view name) const;
  // The body, a record or a problem document.
  [[nodiscard]] Record json() const { return Record::parse(body); }
};
std::ostream& operator<<(std::ostream& out, const HttpAnswer& answer);

// A client that says exactly what a test wants said.
class HttpClient {
 public:
  static constexpr std::chrono::seconds kPatience{30};

  static HttpClient to_unix(const std::string& path);
  static HttpClient to_port(std::uint16_t port);

  [[nodiscard]] bool is_connected() const { return socket_.is_open(); }
  // False: the server has hung up.
  bool send(std::string_view text) const;
  // With descriptors beside the first byte.
  bool send_with(std::string_view text, std::span<const int> descriptors) const;
  // The next answer, or what came of it.
  [[nodiscard]] HttpAnswer receive(std::chrono::milliseconds patience = kPatience);
  // That of HEAD has a length, and no body.
  [[nodiscard]] HttpAnswer receive_head();
  [[nodiscard]] HttpAnswer get(std::string_view path, std::string_view more_headers = "");
  [[nodiscard]] HttpAnswer remove(std::string_view path, std::string_view more_headers = "");
  [[nodiscard]] HttpAnswer post(std::string_view path, std::string_view body,
                                std::string_view more_headers = "");
  // The next line of an answer in chunks, whose head was received; "": it has ended, or none came.
  [[nodiscard]] std::string next_line(std::chrono::milliseconds patience = kPatience);
  // Whether the server hangs up, whatever it still says, before patience ends.
  [[nodiscard]] bool is_hung_up_on(std::chrono::milliseconds patience = kPatience);
  void hang_up() { socket_.reset(); }
  // No more is sent; answers can still come.
  void finish_sending() const;

 private:
  bool read_some(std::chrono::milliseconds patience);
  bool read_chunk(std::chrono::milliseconds patience);

  sys::UniqueFd socket_;
  std::string input_;
  std::string of_chunks_;
};

// The body of a request that runs this code; `more` is JSON between its braces.
[[nodiscard]] std::string code_body(std::string_view language, std::string_view code,
                                    std::string_view more = "");

// What a POST of this body to /v1/runs looks like.
[[nodiscard]] std::string run_request(std::string_view body, std::string_view more_headers = "");

}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardcase::supervisor {

// HTTP/1.1 as text and back. Knows no socket and no clock.

struct HttpRequest {
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  bool keep_alive = true;    // the client would send another one behind it
  bool takes_chunks = true;  // of an answer whose length is not known

  // Of the first header of that name (in lower case); nullptr: there is none.
  [[nodiscard]] const std::string* header(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // besides those of length and type
  std::string body;
  std::optional<std::uint64_t> length = std::nullopt;  // of a body that comes otherwise
};

// Why a request can't be read any further. The connection is of no use after it.
struct ReadFailure {
  int status = 400;
  std::string_view code;    // of the problem document
  std::string_view detail;  // a sentence
};

// One request, a piece at a time.
class RequestReader {
 public:
  struct Most {
    std::uint32_t header_bytes = 16 << 10;
    std::uint64_t body_bytes = 16 << 20;
  };
  enum class State : std::uint8_t { nothing_yet, in_head, in_body, complete, failed };

  explicit RequestReader(Most most);
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;
  ~RequestReader();

  // Takes what it can from the front of `bytes` and returns how much that was. What it
  // leaves is to come again, with more behind it; behind a complete request it is the next one's.
  [[nodiscard]] std::size_t feed(std::string_view bytes);
  [[nodiscard]] State state() const { return state_; }
  // From in_body on: the client waits for a word before it sends its body.
  [[nodiscard]] bool expects_continue() const { return expects_continue_; }
  [[nodiscard]] const ReadFailure& failure() const { return failure_; }
  // From in_body on: all but the body.
  [[nodiscard]] const HttpRequest& head() const;
  // Bytes of the body that are here.
  [[nodiscard]] std::size_t held() const;
  // Once, of a complete one.
  [[nodiscard]] HttpRequest take();

 private:
  struct Parser;
  void look_at_head();
  void keep_head();
  void fail(int status, std::string_view code, std::string_view detail);

  std::unique_ptr<Parser> parser_;
  std::size_t head_left_;
  std::size_t most_of_frame_;  // of a chunked body, in one piece
  State state_ = State::nothing_yet;
  bool expects_continue_ = false;
  ReadFailure failure_;
};

// Behind it nothing more is sent on the connection, or there may be.
enum class Afterwards : std::uint8_t { close, keep_open };

// How the client knows the end of the body: by its length, by the last chunk, or by that of the
// connection.
enum class Framing : std::uint8_t { length, chunks, connection };

// All but the body.
[[nodiscard]] std::string response_head(const HttpResponse& response, Afterwards afterwards,
                                        Framing framing = Framing::length);

// A part of a body in chunks; "" is the last one.
[[nodiscard]] std::string chunk_of(std::string_view part);

// What a client that expects it is told before it sends its body.
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace wardcase::supervisor

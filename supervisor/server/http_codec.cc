// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Boost.Beast reads and writes the text of messages here, and nothing else: its headers are
// in no other file, and no socket is ever given to it.
#include "supervisor/server/http_codec.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/optional/optional.hpp>
#include <charconv>
#include <string>

namespace wardcase::supervisor {

namespace beast = boost::beast;
namespace http = beast::http;

namespace {

constexpr unsigned kHttp11 = 11;
constexpr std::string_view kServer = "wardcase";

std::string to_string(beast::string_view text) { return {text.data(), text.size()}; }

std::string lower_case(beast::string_view text) {
  std::string lower = to_string(text);
  std::ranges::transform(lower, lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

ReadFailure describe(const beast::error_code& error) {
  if (error == http::error::header_limit) {
    return {431, "header_too_large", "the request line and headers are too long"};
  }
  if (error == http::error::body_limit) {
    return {413, "body_too_large", "the body is longer than this service takes"};
  }
  if (error == http::error::bad_version) {
    return {505, "unsupported_version", "this service speaks HTTP/1.1"};
  }
  return {400, "bad_request", "this is not a request of HTTP/1.1"};
}

}  // namespace

struct RequestReader::Parser {
  http::request_parser<http::string_body> parser;
  HttpRequest request;  // its head
};

const std::string* HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
  return found == headers.end() ? nullptr : &found->second;
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count(headers, name, &std::pair<std::string, std::string>::first));
}

// Beast's own limit of the head depends on how that arrives; it is a bound of memory alone.
RequestReader::RequestReader(Most most)
    : parser_(std::make_unique<Parser>()),
      head_left_(most.header_bytes),
      most_of_frame_(2 * most.header_bytes + 1024) {
  parser_->parser.header_limit(2 * most.header_bytes + 1024);
  parser_->parser.body_limit(most.body_bytes);
}
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;
RequestReader::~RequestReader() = default;

std::size_t RequestReader::held() const { return parser_->parser.get().body().size(); }

void RequestReader::fail(int status, std::string_view code, std::string_view detail) {
  state_ = State::failed;
  failure_ = {status, code, detail};
}

std::size_t RequestReader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  // An empty line before a request is to be passed over (RFC 9112, section 2.2).
  while (state_ == State::nothing_yet && bytes.substr(taken).starts_with("\r\n")) taken += 2;
  if (state_ == State::nothing_yet && bytes.substr(taken) == "\r") return taken;
  auto& parser = parser_->parser;
  while (taken < bytes.size() && state_ < State::complete) {
    if (state_ == State::nothing_yet) state_ = State::in_head;
    const std::string_view rest = bytes.substr(taken);
    beast::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    taken += used;
    if (error && error != http::error::need_more) {
      failure_ = describe(error);
      state_ = State::failed;
      break;
    }
    if (state_ == State::in_head) {
      const std::size_t of_head = parser.is_header_done() ? used : rest.size();
      if (of_head > head_left_) {
        failure_ = describe(http::error::header_limit);
        state_ = State::failed;
        break;
      }
      head_left_ -= used;
      if (parser.is_header_done()) look_at_head();
    }
    if (state_ != State::failed && parser.is_done()) state_ = State::complete;
    if (used > 0) continue;
    // More has to come first; but what stands around chunks is no place for a body.
    if (state_ == State::in_body && rest.size() > most_of_frame_) {
      failure_ = describe(http::error::header_limit);
      state_ = State::failed;
    }
    break;
  }
  return taken;
}

// What Beast lets pass, and would let two readers see two different messages.
void RequestReader::look_at_head() {
  const auto& head = parser_->parser.get();
  state_ = State::in_body;
  keep_head();
  const auto encodings = head.count(http::field::transfer_encoding);
  if (encodings > 0 && (head.version() != kHttp11 || head.count(http::field::content_length) > 0)) {
    return fail(400, "bad_request", "the length of the body is told in two ways");
  }
  if (encodings > 1 ||
      (encodings == 1 && !beast::iequals(head[http::field::transfer_encoding], "chunked"))) {
    return fail(501, "not_implemented", "the only transfer encoding is chunked");
  }
  const auto hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() == kHttp11)) {
    return fail(400, "bad_request", "a request has one Host header");
  }
  if (head.count(http::field::expect) == 0 || head.version() != kHttp11) return;
  if (!beast::iequals(head[http::field::expect], "100-continue")) {
    return fail(417, "expectation_failed", "the only expectation is 100-continue");
  }
  expects_continue_ = !parser_->parser.is_done();
}

// At once: Beast puts what comes behind a chunked body among the headers, where nobody has
// checked it.
void RequestReader::keep_head() {
  const auto& head = parser_->parser.get();
  HttpRequest& request = parser_->request;
  request.method = to_string(head.method_string());
  request.target = to_string(head.target());
  request.keep_alive = head.keep_alive();
  request.takes_chunks = head.version() == kHttp11;
  for (const auto& field : head) {
    request.headers.emplace_back(lower_case(field.name_string()), to_string(field.value()));
  }
}

const HttpRequest& RequestReader::head() const { return parser_->request; }

HttpRequest RequestReader::take() {
  parser_->request.body = std::move(parser_->parser.get().body());
  return std::move(parser_->request);
}

std::string chunk_of(std::string_view part) {
  std::array<char, 2 * sizeof(std::size_t)> digits;
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), part.size(), /*base=*/16);
  std::string chunk(digits.data(), written.ptr);
  return chunk.append("\r\n").append(part).append("\r\n");
}

std::string response_head(const HttpResponse& response, Afterwards afterwards, Framing framing) {
  http::response<http::empty_body> message;
  message.version(kHttp11);
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::server, beast::string_view(kServer.data(), kServer.size()));
  message.set(http::field::content_type, response.content_type);
  if (framing == Framing::length) {
    message.content_length(response.length.value_or(response.body.size()));
  }
  if (framing == Framing::chunks) message.chunked(true);
  message.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : response.headers) {
    // What stands behind a line end would be a header of its own.
    message.set(name, value.substr(0, value.find_first_of("\r\n")));
  }
  if (afterwards == Afterwards::close) message.set(http::field::connection, "close");
  std::string text;
  http::response_serializer<http::empty_body> serializer(message);
  serializer.split(true);  // else a last chunk comes with it
  while (!serializer.is_header_done()) {
    beast::error_code error;
    std::size_t size = 0;
    serializer.next(error, [&](beast::error_code&, const auto& buffers) {
      for (auto at = boost::asio::buffer_sequence_begin(buffers);
           at != boost::asio::buffer_sequence_end(buffers); ++at) {
        const boost::asio::const_buffer part = *at;
        text.append(static_cast<const char*>(part.data()), part.size());
        size += part.size();
      }
    });
    if (error) break;  // an empty body has none to give
    serializer.consume(size);
  }
  return text;
}

}  // namespace wardcase::supervisor

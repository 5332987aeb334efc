// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The first byte says in pieces of which length the rest comes.
#include <string>
#include <string_view>

#include "supervisor/server/http_codec.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using wardcase::supervisor::Afterwards;
using wardcase::supervisor::HttpRequest;
using wardcase::supervisor::RequestReader;

namespace {

constexpr RequestReader::Most kMost = {.header_bytes = 512, .body_bytes = 512};

struct Reading {
  RequestReader::State state = RequestReader::State::nothing_yet;
  int status = 0;
  std::size_t taken = 0;
  HttpRequest request;
};

Reading read_in_pieces(std::string_view text, std::size_t piece) {
  RequestReader reader(kMost);
  Reading reading;
  std::string input;
  for (std::size_t at = 0; at < text.size() && reader.state() < RequestReader::State::complete;) {
    const std::string_view more = text.substr(at, piece);
    at += more.size();
    input += more;
    const std::size_t used = reader.feed(input);
    require(used <= input.size(), "no more is taken than there is");
    reading.taken += used;
    input.erase(0, used);
    require(input.size() <= kMost.header_bytes + piece, "what is held is bounded");
  }
  reading.state = reader.state();
  if (reading.state == RequestReader::State::failed) {
    reading.status = reader.failure().status;
    require(reading.status >= 400 && !reader.failure().code.empty(), "a refusal says why");
  }
  if (reading.state == RequestReader::State::complete) reading.request = reader.take();
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Reading whole = read_in_pieces(text, text.size());
  const Reading pieces = read_in_pieces(text, 1U + data[0]);
  require((whole.state == RequestReader::State::complete) ==
              (pieces.state == RequestReader::State::complete),
          "a request does not depend on how it arrives");
  if (whole.state != RequestReader::State::complete) return 0;
  require(whole.taken == pieces.taken && whole.request.body == pieces.request.body &&
              whole.request.headers == pieces.request.headers &&
              whole.request.target == pieces.request.target,
          "nor do its parts");
  require(whole.request.body.size() <= kMost.body_bytes, "a body has its most");
  require(whole.request.count("host") <= 1, "there are not two hosts");
  wardcase::supervisor::HttpResponse response;
  response.body = whole.request.body;
  require(response_head(response, Afterwards::close).ends_with("\r\n\r\n"), "a head has an end");
  return 0;
}

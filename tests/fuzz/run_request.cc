// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_request.h"

#include <algorithm>
#include <string_view>

#include "supervisor/server/problem.h"
#include "tests/fuzz/fuzz_target.h"

using wardcase::fuzz::require;
using wardcase::supervisor::parse_run_request;
using wardcase::supervisor::RunRequest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = parse_run_request({reinterpret_cast<const char*>(data), size});
  if (!request) {
    require(!request.error().detail.empty() && !request.error().code.empty(),
            "a refusal gives its reason");
    require(to_response(request.error()).status == request.error().status, "and can be told");
    return 0;
  }
  require(request->code.has_value() != !request->argv.empty(), "there is one thing to run");
  require(!request->code || request->language, "code has a language");
  require(request->cwd.starts_with('/'), "the directory is absolute");
  for (const auto& words : {request->argv, request->arguments, request->environment}) {
    require(std::ranges::all_of(
                words, [](const auto& word) { return word.find('\0') == std::string::npos; }),
            "no word is cut short by the kernel");
  }
  for (const RunRequest::File& file : request->files) {
    require(
        !file.name.starts_with('/') && ("/" + file.name + "/").find("/../") == std::string::npos,
        "no file leaves the box");
  }
  return 0;
}

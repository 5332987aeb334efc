// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_run.h"
#include "supervisor/server/request_terms.h"
#include "supervisor/server/run_registry.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// What whoever asks for a run has in common, be it in a session or not.

// nullopt: the body is JSON, as far as the client says.
[[nodiscard]] std::optional<Problem> refuse_body_type(const HttpRequest& request);

// How a client wants to be answered.
struct WantedReply {
  AnswerKind kind = AnswerKind::json;
  bool is_async = false;
};
[[nodiscard]] tl::expected<WantedReply, Problem> wanted_reply(const HttpRequest& request);

// What he says of the run beside the run itself. `fingerprinted`: what a key is for.
[[nodiscard]] tl::expected<RunTerms, Problem> terms_of(const ApiCall& call, const RunRequest& asked,
                                                       std::string_view fingerprinted);

// Under a key that was used before it is the run that was asked for then; but not one that never
// began, or was stopped because its client was gone, who now comes again. nullptr: a new one.
[[nodiscard]] tl::expected<KnownRun*, Problem> find_same(const RunRegistry& registry,
                                                         const RunTerms& terms);

// By the record at its end, by its events, or by saying where it is found.
void reply_with(const ApiCall& call, KnownRun& run, const WantedReply& wanted);
// Its events after that one.
void stream_run(const ApiCall& call, KnownRun& run, std::uint64_t after, RunReader::Bond bond,
                AnswerKind kind);

[[nodiscard]] Problem not_acceptable(std::string_view kinds);

}  // namespace wardcase::supervisor

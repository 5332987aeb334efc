// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_work.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/request_terms.h"
#include "supervisor/server/run_request.h"

namespace wardcase::supervisor {

// What requests for runs and for batches have in common.

// nullopt: the body is JSON, as far as the client says.
[[nodiscard]] std::optional<Problem> refuse_body_type(const HttpRequest& request);

// How one is to be begun and answered, as its headers say.
struct Asking {
  AnswerKind kind = AnswerKind::json;
  bool is_async = false;
  RunTerms terms;  // without what the body says
};
[[nodiscard]] tl::expected<Asking, Problem> read_asking(const ApiCall& call);

// Under a key that was used before it is what was asked for then; nullptr: there is nothing of
// that kind. Nor is what never began, or was stopped because its client was gone, who now comes
// again.
[[nodiscard]] tl::expected<KnownWork*, Problem> same_as_before(KnownWork* known,
                                                               const RunTerms& terms);

// What becomes of a run that nobody waits for could be forgotten.
[[nodiscard]] Problem not_stored();

// Of a program's code, or of its command.
[[nodiscard]] std::string code_sum(const RunRequest& asked);

// GET .../events, from ?after= on or where Last-Event-ID says.
void follow_work(KnownWork& work, const ApiCall& call);
// DELETE.
void stop_work(KnownWork& work, const ApiCall& call);

}  // namespace wardcase::supervisor

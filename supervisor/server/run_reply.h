// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_run.h"
#include "supervisor/server/request_terms.h"

namespace wardcase::supervisor {

// As answer() of run_answers.h, but for a run that may turn out never to be taken: what says that
// there is one is said once that is certain, and until then it may be refused.
void reply_once_taken(KnownRun& run, AnswerKind kind, bool is_async, Exchange& exchange);

}  // namespace wardcase::supervisor

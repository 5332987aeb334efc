// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_work.h"
#include "supervisor/server/request_terms.h"

namespace wardcase::supervisor {

// What a run or a batch is told as.

// What the head of each answer about it has.
[[nodiscard]] HttpResponse head_of(const KnownWork& work);
// Its record; what there is of it where it goes on, and a problem where it has none.
[[nodiscard]] HttpResponse record_of(const KnownWork& work);
// That of its end, once that is there.
void answer_at_end(KnownWork& work, WorkReader::Bond bond, Exchange& exchange);
// What happens in it after that number, until its end.
void stream(KnownWork& work, std::uint64_t after, WorkReader::Bond bond, AnswerKind kind,
            Exchange& exchange);
// What who has asked for it is answered: at once, at its end, or as it goes on.
void answer(KnownWork& work, AnswerKind kind, bool is_async, Exchange& exchange);
// It goes on, and this is where to ask for it.
[[nodiscard]] HttpResponse accepted(const KnownWork& work);
// Of all of them, as a list of that name.
[[nodiscard]] HttpResponse list_of(std::string_view name,
                                   const std::vector<const KnownWork*>& works);

}  // namespace wardcase::supervisor

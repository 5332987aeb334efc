// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <memory>

#include "supervisor/server/exchange.h"
#include "supervisor/server/known_work.h"
#include "supervisor/server/request_terms.h"

namespace wardcase::supervisor {

// The events of it after that number, until its end, as lines of JSON or server-sent events.
[[nodiscard]] std::unique_ptr<BodySource> stream_events(KnownWork& work, std::uint64_t after,
                                                        WorkReader::Bond bond, AnswerKind kind,
                                                        Exchange& exchange);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "supervisor/server/http_codec.h"
#include "supervisor/server/problem.h"

namespace wardcase::supervisor {

// What the headers of a request say of how it is to be answered.

enum class AnswerKind : std::uint8_t { json, ndjson, sse };
[[nodiscard]] std::string_view media_type_of(AnswerKind kind);

// The kind that the client would rather have; the first of `offered` where it does not care.
// nullopt: it takes none of them.
[[nodiscard]] std::optional<AnswerKind> choose_kind(const HttpRequest& request,
                                                    std::span<const AnswerKind> offered);

// Prefer: respond-async (RFC 7240).
[[nodiscard]] bool prefers_async(const HttpRequest& request);

// That of Idempotency-Key, with or without quotes; "": there is none.
[[nodiscard]] tl::expected<std::string, Problem> idempotency_key(const HttpRequest& request);

// The trace that the client is in (W3C Trace Context): 32 hexadecimal digits; "": it names none.
[[nodiscard]] std::string trace_id(const HttpRequest& request);
// traceparent of an answer: our own part of that trace, or of a new one.
[[nodiscard]] std::string own_traceparent(const std::string& trace);

}  // namespace wardcase::supervisor

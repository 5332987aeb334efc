// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

#include "supervisor/server/caller.h"
#include "supervisor/server/exchange.h"
#include "supervisor/server/http_codec.h"
#include "supervisor/server/problem.h"

namespace wardcase::supervisor {

// One request on its way to a handler.
struct ApiCall {
  const HttpRequest& request;
  Exchange& exchange;
  const Caller& caller;
  std::string_view id;    // what stands for {id} in the path
  std::string_view rest;  // and for {path} behind it, as it was sent

  void refuse(const Problem& problem) const { exchange.answer(to_response(problem)); }
};

inline constexpr int kRetrySeconds = 1;
inline constexpr int kRestartSeconds = 5;

[[nodiscard]] Problem draining();
[[nodiscard]] HttpResponse json_response(const boost::json::object& body);

}  // namespace wardcase::supervisor

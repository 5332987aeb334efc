// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_session.h"

namespace wardcase::supervisor {

// Hands the body of the request to the keeper of a session: as a file ("write"), which is written
// whole or not at all, or as a tar for a directory ("unpack").
void upload(EventLoop& loop, const ApiCall& call, const KnownSession& session, std::string op,
            std::string path);

}  // namespace wardcase::supervisor

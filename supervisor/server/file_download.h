// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>

#include "supervisor/server/api_call.h"
#include "supervisor/server/known_session.h"

namespace wardcase::supervisor {

// Answers with a file of a session, or that part of it that the Range header names, as it comes
// from the keeper. The file may change meanwhile: one that becomes shorter breaks the answer off.
void download_file(EventLoop& loop, const ApiCall& call, const KnownSession& session,
                   std::string path);

// The same of a directory, as a tar.
void download_archive(EventLoop& loop, const ApiCall& call, const KnownSession& session,
                      const std::string& path);

}  // namespace wardcase::supervisor

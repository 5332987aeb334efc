// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/server/api_call.h"
#include "supervisor/server/session_registry.h"

namespace wardcase::supervisor {

// /v1/sessions/{id}/files and what is below it, and /archive. Of a file that is read nothing is
// held but the piece that goes.
class SessionFileHandlers {
 public:
  SessionFileHandlers(EventLoop& loop, SessionRegistry& sessions)
      : loop_(loop), sessions_(sessions) {}

  void list(const ApiCall& call);
  void read(const ApiCall& call);
  void write(const ApiCall& call);
  void remove(const ApiCall& call);
  void archive(const ApiCall& call);
  void unpack(const ApiCall& call);

 private:
  void list_at(const ApiCall& call, const KnownSession& session, std::string path);

  EventLoop& loop_;
  SessionRegistry& sessions_;
};

}  // namespace wardcase::supervisor

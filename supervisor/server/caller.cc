// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/caller.h"

#include <unistd.h>

namespace wardcase::supervisor {

Caller caller_at(const Peer& peer) {
  if (!peer.uid) return {"anybody", false};
  return {"uid:" + std::to_string(*peer.uid), *peer.uid == 0 || *peer.uid == ::geteuid()};
}

}  // namespace wardcase::supervisor

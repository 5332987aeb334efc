// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/run/host.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/own_report.h"

namespace wardcase::supervisor {

// What can be run on this host, and how.
class HostHandlers {
 public:
  HostHandlers(EventLoop& loop, const Host& host)
      : host_(host), languages_(loop, "languages"), doctor_(loop, "doctor") {}

  void languages(const ApiCall& call) { tell(languages_, call); }
  void doctor(const ApiCall& call) { tell(doctor_, call); }
  static void policies(const ApiCall& call);
  void limits(const ApiCall& call) const;

 private:
  static void tell(OwnReport& report, const ApiCall& call);

  const Host& host_;
  OwnReport languages_;
  OwnReport doctor_;
};

}  // namespace wardcase::supervisor

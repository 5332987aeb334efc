// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include "supervisor/run/host.h"
#include "supervisor/server/api_call.h"
#include "supervisor/server/own_report.h"
#include "supervisor/server/service_configuration.h"

namespace wardcase::supervisor {

// What can be run on this host, and how.
class HostHandlers {
 public:
  HostHandlers(EventLoop& loop, const Host& host, const ServiceConfiguration& configuration)
      : host_(host),
        configuration_(configuration),
        languages_(loop, "languages"),
        doctor_(loop, "doctor") {}

  void languages(const ApiCall& call) { tell(languages_, call); }
  void doctor(const ApiCall& call) { tell(doctor_, call); }
  void policies(const ApiCall& call) const;
  void limits(const ApiCall& call) const;

 private:
  static void tell(OwnReport& report, const ApiCall& call);

  const Host& host_;
  const ServiceConfiguration& configuration_;
  OwnReport languages_;
  OwnReport doctor_;
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/config/config.h"

namespace wardcase::supervisor {

// The policies and languages that requests are settled by, as the files of this host were when
// they were read: whatever becomes of them, a request meets all of one time.
class ServicePolicies {
 public:
  // Where a service was started says nothing of who asks: its directory has no say. Fails where
  // what holds for requests that name no policy can't be used.
  static sys::Result<ServicePolicies> read();

  // Of a request that names none.
  [[nodiscard]] const Configuration& standard() const { return *standard_; }
  // Those that a request can name.
  [[nodiscard]] std::span<const ListedPolicy> list() const { return list_; }
  // nullptr: it is not listed. An error: it can't be used.
  [[nodiscard]] const sys::Result<Configuration>* find(std::string_view name) const;
  // Why one of those that can be named can't be used; "": they all can.
  [[nodiscard]] std::string trouble() const;

 private:
  ServicePolicies() = default;

  std::shared_ptr<const Configuration> standard_;
  std::vector<ListedPolicy> list_;
  std::map<std::string, sys::Result<Configuration>, std::less<>> by_name_;
};

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <vector>

#include "sandbox/box_layout.h"
#include "sandbox/launch_plan.h"

namespace wardcase::sandbox {

// Descriptors on their way to the child, and the indexes that the plan has for
// them. Owned ones are closed with the table, borrowed ones are not.
class FdTable {
 public:
  FdIndex own(sys::UniqueFd fd);
  FdIndex borrow(int fd);
  void replace(FdIndex index, sys::UniqueFd fd);
  [[nodiscard]] const int* data() const { return fds_.data(); }
  void close_owned() { owned_.clear(); }

 private:
  std::vector<int> fds_;
  std::vector<sys::UniqueFd> owned_;
};

// Opens every source and writes the binds into the plan. With leased ids the
// mounts are made here: detached, private, with their flags, and id-mapped where
// files of another owner shall appear as the box's user's. Otherwise the child makes
// them from the same paths, which must still be what was seen here. Errors name the path.
[[nodiscard]] sys::Status put_binds_into(PlanBuilder& plan, FdTable& fds,
                                         const std::vector<LayoutBind>& binds, const BoxIds& ids,
                                         bool execute_writable);

}  // namespace wardcase::sandbox

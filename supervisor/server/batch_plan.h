// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tl/expected.hpp>

#include "supervisor/languages/prepared_program.h"
#include "supervisor/run/host.h"
#include "supervisor/run/run_record.h"
#include "supervisor/server/batch_request.h"
#include "supervisor/server/problem.h"
#include "supervisor/server/run_queue.h"
#include "supervisor/server/service_policies.h"

namespace wardcase::supervisor {

// A batch that was asked for, settled by the configuration of this host as it is now.
struct BatchPlan {
  BatchRequest request;
  std::unique_ptr<PreparedProgram> program;
  std::unique_ptr<PreparedProgram> checker;  // nullptr: there is none
  std::optional<std::uint64_t> memory;       // what a case is promised; nullopt: all there is
  RunQueue::OwnersMost most = {};            // of who asked
  std::uint64_t bytes = 0;                   // that it may hold until its end
  std::optional<RunRecord> refusal;          // nothing can be run, and this is the record
};
// `most_memory`: of all that run at a time.
[[nodiscard]] tl::expected<BatchPlan, Problem> settle_batch(
    BatchRequest request, const ServicePolicies& policies, const Host& host,
    const std::optional<std::uint64_t>& most_memory);

// What is kept of all records of a batch with their output; beyond it they have none.
inline constexpr std::uint64_t kMostRecordBytes = 16 << 20;

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/batch_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "policies/units.h"
#include "supervisor/languages/box_names.h"
#include "supervisor/server/request_field.h"
#include "supervisor/server/request_spec.h"

namespace wardcase::supervisor {

namespace {

using policies::LimitId;
using Settled = tl::expected<void, Problem>;

// Of each stream of a case, unless the request says otherwise: there may be thousands.
constexpr std::uint64_t kUsualCapture = 16 << 10;
// What a checker is given is held in memory.
constexpr std::uint64_t kUsualCheckedOutput = 16 << 20;
constexpr std::uint64_t kMostCheckedOutput = 64 << 20;
// A record with output, as a rule, and one without.
constexpr std::uint64_t kRecordBytes = 64 << 10;
constexpr std::uint64_t kShortRecordBytes = 4 << 10;

tl::unexpected<Problem> limit_refused(const std::string& field, const std::string& what) {
  return tl::unexpected(Problem{422, "limit_refused", field + ": " + what, field});
}

void lower_default(LimitId id, std::uint64_t most, policies::Limits& limits) {
  if (limits.is_required(id)) return;
  limits.set_default(id, std::min(limits.get(id).value_or(most), most));
}

Settled bound_checked_output(policies::Limits& limits) {
  lower_default(LimitId::output, kUsualCheckedOutput, limits);
  if (limits.get(LimitId::output).value_or(kMostCheckedOutput + 1) <= kMostCheckedOutput) return {};
  return limit_refused("program.limits.output_bytes",
                       "with a checker it may be " + std::to_string(kMostCheckedOutput));
}

Settled settle_memory(const std::optional<std::uint64_t>& most, BatchPlan& plan) {
  auto memory = plan.program->spec().limits.get(LimitId::memory);
  std::string field = "program.limits.memory_bytes";
  if (plan.checker != nullptr) {
    const auto own = plan.checker->spec().limits.get(LimitId::memory);
    memory = memory && own ? std::optional(*memory + *own) : std::nullopt;
    field = "checker.limits.memory_bytes";  // either can be asked for less
  }
  plan.memory = memory;
  if (!most || !memory || *memory <= *most) return {};
  return limit_refused(field, "this service has " + policies::format_size(*most) +
                                  " for all runs, and a case " +
                                  (plan.checker != nullptr ? "with its checker " : "") + "needs " +
                                  policies::format_size(*memory) + "; ask for less");
}

// What a case brings comes to lie beside what the program has.
Settled check_files(const BatchPlan& plan) {
  const RunSpec& spec = plan.program->spec();
  const bool has_box = find_workspace(spec) == nullptr;
  for (std::size_t i = 0; i < plan.request.cases.size(); ++i) {
    for (const RunRequest::File& file : plan.request.cases[i].files) {
      const std::string field = "cases[" + std::to_string(i) + "].files";
      if (!has_box) {
        return tl::unexpected(Problem{
            422, "policy_refused",
            field + ": the policy '" + spec.policy + "' mounts a directory of the host at /box",
            field});
      }
      for (const PlacedFile& other : spec.files) {
        if (!other.path.starts_with("/box/")) continue;
        if (!clash_in_box(file.name, std::string_view(other.path).substr(5))) continue;
        return invalid(field, shown(file.name) + " is in the way of the program's '" +
                                  other.path.substr(5) + "'");
      }
    }
  }
  return {};
}

// nullptr: it was refused, and `plan` has the record.
tl::expected<std::unique_ptr<PreparedProgram>, Problem> settle_part(const std::string& name,
                                                                    const RunRequest& request,
                                                                    const ServicePolicies& policies,
                                                                    const Host& host,
                                                                    BatchPlan& plan) {
  auto settled = settle_request(request, policies, host);
  if (!settled) return tl::unexpected(within(name, std::move(settled).error()));
  if (settled->refusal) {
    plan.refusal = std::move(settled->refusal);
    plan.refusal->error.insert(0, name + ": ");
    return nullptr;
  }
  auto prepared = std::make_unique<PreparedProgram>(std::move(settled->job));
  lower_default(LimitId::capture, kUsualCapture, prepared->limits());
  return prepared;
}

}  // namespace

tl::expected<BatchPlan, Problem> settle_batch(BatchRequest request, const ServicePolicies& policies,
                                              const Host& host,
                                              const std::optional<std::uint64_t>& most_memory) {
  BatchPlan plan;
  plan.request = std::move(request);
  const std::uint64_t count = plan.request.cases.size();
  plan.bytes = held_bytes(plan.request) + std::min(count * kRecordBytes, kMostRecordBytes) +
               count * kShortRecordBytes;
  auto program = settle_part("program", plan.request.program, policies, host, plan);
  if (!program) return tl::unexpected(std::move(program).error());
  plan.program = *std::move(program);
  if (plan.request.checker && !plan.refusal) {
    auto checker = settle_part("checker", *plan.request.checker, policies, host, plan);
    if (!checker) return tl::unexpected(std::move(checker).error());
    plan.checker = *std::move(checker);
  }
  if (plan.refusal) return plan;
  auto settled = check_files(plan).and_then([&] { return settle_memory(most_memory, plan); });
  if (settled && plan.checker != nullptr) settled = bound_checked_output(plan.program->limits());
  if (!settled) return tl::unexpected(std::move(settled).error());
  return plan;
}

}  // namespace wardcase::supervisor

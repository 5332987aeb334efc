// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <cerrno>

#include "sandbox/setup_report.h"
#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

// Each step of a launch fails once: the record names it, nothing of the program
// runs, and nothing is left. The control is the same run without a fault.
namespace wardcase::test {
namespace {

using sandbox::SetupStep;
using supervisor::RunStatus;

using policies::Confinement;

// The steps that a box without namespaces does not take, and those that only such a one takes.
constexpr SetupStep kOfNamespaces[] = {
    SetupStep::hide_cgroups,       SetupStep::private_mounts, SetupStep::loopback_up,
    SetupStep::make_root,          SetupStep::make_scratch,   SetupStep::place_binds,
    SetupStep::place_scratch,      SetupStep::mount_proc,     SetupStep::protect_proc,
    SetupStep::make_terminal,      SetupStep::send_box,       SetupStep::enter_root,
    SetupStep::verify_root,        SetupStep::seal_root,      SetupStep::name_host,
    SetupStep::die_with_supervisor};
constexpr SetupStep kWithoutNamespaces[] = {SetupStep::use_directory, SetupStep::confine_signals,
                                            SetupStep::adopt_orphans, SetupStep::verify_signals};

bool is_among(SetupStep step, std::span<const SetupStep> steps) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

bool is_taken(SetupStep step, Confinement confinement) {
  return !is_among(step, confinement == Confinement::landlock
                             ? std::span<const SetupStep>(kOfNamespaces)
                             : std::span<const SetupStep>(kWithoutNamespaces));
}

InProcessRun run_with_fault(SetupStep step, int error,
                            Confinement confinement = Confinement::namespaces) {
  supervisor::RunSpec spec = spec_of({"/bin/echo", "ran"});
  spec.confinement = confinement;
  spec.fault_step = step;
  spec.fault_error = error;
  return run_in_process(std::move(spec));
}

std::string judge(SetupStep step, Confinement confinement) {
  const InProcessRun told = run_with_fault(step, ENOMEM, confinement);
  const RunStatus wanted =
      step == SetupStep::exec ? RunStatus::cannot_execute : RunStatus::setup_failed;
  const std::string name(sandbox::step_name(step));
  if (told.record.status != wanted) {
    return name + ": status is " + std::string(status_name(told.record.status)) + ", " +
           told.record.error;
  }
  if (step != SetupStep::exec &&
      told.record.error.find(sandbox::step_words(step)) == std::string::npos) {
    return name + ": not named in '" + told.record.error + "'";
  }
  if (told.record.error.find("ENOMEM") == std::string::npos) {
    return name + ": no reason in '" + told.record.error + "'";
  }
  if (!told.output.empty()) return name + ": the program ran";
  return {};
}

class SetupSteps : public WithCaller {};

TEST_P(SetupSteps, EachFailureIsToldByTheNameOfItsStep) {
  const std::string found = check_as(caller(), [] {
    std::string all;
    for (std::size_t i = 1; i < sandbox::kSetupStepCount; ++i) {
      // They have no failure of their own: what is asked of init after the fork
      // is told as the step of the message.
      const auto step = static_cast<SetupStep>(i);
      if (step == SetupStep::announce_program) continue;
      for (const Confinement kind : {Confinement::namespaces, Confinement::landlock}) {
        if (!is_taken(step, kind) || (kind == Confinement::landlock && !has_landlock())) continue;
        if (const std::string one = judge(step, kind); !one.empty()) all += one + "\n";
      }
    }
    return all;
  });
  EXPECT_EQ(found, "");
}

TEST_P(SetupSteps, WithoutAFaultTheProgramRuns) {
  const std::string found = check_as(caller(), [] {
    const InProcessRun told = run_with_fault(SetupStep::none, 0);
    if (told.record.status != RunStatus::exited) return "status: " + told.record.error;
    return told.output == "ran\n" ? std::string() : "output: '" + told.output + "'";
  });
  EXPECT_EQ(found, "");
}

WARDCASE_AS_ROOT_AND_USER(SetupSteps);

}  // namespace
}  // namespace wardcase::test

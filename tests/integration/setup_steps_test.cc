// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/setup_report.h"
#include "supervisor/run/event_loop.h"
#include "supervisor/run/run.h"
#include "tests/support/leak_check.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

// Each step of a launch fails once: the record names it, nothing of the program
// runs, and nothing is left. The control is the same run without a fault.
namespace wardcase::test {
namespace {

using sandbox::SetupStep;
using supervisor::RunRecord;
using supervisor::RunStatus;

struct Told {
  RunRecord record;
  std::string output;
};

Told run_with_fault(SetupStep step, int error) {
  auto loop = supervisor::EventLoop::create();
  if (!loop) return {};
  Remembered told([&] { loop->stop(); });
  supervisor::Host host;
  supervisor::Run run(*loop, host);
  supervisor::RunSpec spec = spec_of({"/bin/echo", "ran"});
  spec.fault_step = step;
  spec.fault_error = error;
  run.start(std::move(spec), told);
  if (!loop->run()) return {};
  return {told.record, told.output};
}

// Runs the check in a child that is the caller: as the library is used here, and
// not the command, ids have to change in a process of their own. Returns what it found wrong.
std::string check_as(Caller caller, const std::function<std::string()>& check) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return "pipe2 failed";
  const pid_t pid = ::fork();
  if (pid < 0) return "fork failed";
  if (pid == 0) {
    std::string found;
    if (caller == Caller::user && ::geteuid() == 0 &&
        (::setresgid(65531, 65531, 65531) < 0 || ::setresuid(65531, 65531, 65531) < 0)) {
      found = "ids could not be changed";
    }
    // A change of ids makes /proc/self root's; a command started by a user has its own.
    (void)::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (found.empty()) found = check();
    (void)!::write(ends[1], found.data(), found.size());
    ::_exit(0);
  }
  (void)::close(ends[1]);
  std::string found;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], chunk, sizeof chunk)) > 0;) {
    found.append(chunk, static_cast<std::size_t>(got));
  }
  (void)::close(ends[0]);
  int status = 0;
  (void)::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? found : found + "; the check crashed";
}

std::string judge(SetupStep step) {
  const Told told = run_with_fault(step, ENOMEM);
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
  if (step < SetupStep::announce_program && !told.output.empty()) return name + ": the program ran";
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
      if (const std::string one = judge(step); !one.empty()) all += one + "\n";
    }
    return all;
  });
  EXPECT_EQ(found, "");
}

TEST_P(SetupSteps, WithoutAFaultTheProgramRuns) {
  const std::string found = check_as(caller(), [] {
    const Told told = run_with_fault(SetupStep::none, 0);
    if (told.record.status != RunStatus::exited) return "status: " + told.record.error;
    return told.output == "ran\n" ? std::string() : "output: '" + told.output + "'";
  });
  EXPECT_EQ(found, "");
}

WARDCASE_AS_ROOT_AND_USER(SetupSteps);

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/in_process_run.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "supervisor/run/event_loop.h"
#include "supervisor/run/run.h"
#include "tests/support/observed_run.h"

namespace wardcase::test {
InProcessRun run_in_process(supervisor::RunSpec spec, const supervisor::HostOverrides& overrides) {
  auto loop = supervisor::EventLoop::create();
  if (!loop) return {};
  Remembered told([&] { loop->stop(); });
  supervisor::Host host(overrides);
  supervisor::Run run(*loop, host);
  run.start(std::move(spec), told);
  if (!loop->run()) return {};
  return {told.record, told.output};
}

std::string check_as(Caller caller, const std::function<std::string()>& check) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return "pipe2 failed";
  const pid_t pid = ::fork();
  if (pid < 0) return "fork failed";
  if (pid == 0) {
    std::string found;
    // A caller mostly has some group besides its own.
    const gid_t group = kOrdinaryUid + 1;
    if (::geteuid() == 0) (void)::setgroups(1, &group);
    if (caller == Caller::user && ::geteuid() == 0 &&
        (::setresgid(kOrdinaryUid, kOrdinaryUid, kOrdinaryUid) < 0 ||
         ::setresuid(kOrdinaryUid, kOrdinaryUid, kOrdinaryUid) < 0)) {
      found = "ids could not be changed";
    }
    // A change of ids makes /proc/self root's; a command started by a user has its own.
    (void)::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const Workplace& place = Workplace::get();
    (void)::setenv("HOME", place.home(caller).c_str(), 1);
    (void)::setenv("XDG_RUNTIME_DIR", place.runtime(caller).c_str(), 1);
    (void)::setenv("TMPDIR", place.temporary(caller).c_str(), 1);
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

}  // namespace wardcase::test

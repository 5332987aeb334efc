// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/process_start.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

// A caller may have closed stdin, stdout or stderr. What we open next would
// take its number, and the program's output would go there.
bool fill_standard_descriptors() {
  int fd = -1;
  do {
    fd = sys::retry_eintr([] { return ::open("/dev/null", O_RDWR); });
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd < 0) return false;
  (void)::close(fd);
  return true;
}

// Dispositions and an ignored SIGCHLD are inherited, and would hide the end of
// children; writing to a reader who has gone is to give EPIPE.
bool reset_signals() {
  // SIGXFSZ: a caller's file size limit is told by EFBIG then, and not by our death.
  return ::signal(SIGPIPE, SIG_IGN) != SIG_ERR && ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR &&
         ::signal(SIGCHLD, SIG_DFL) != SIG_ERR;
}

}  // namespace

sys::Status settle_what_was_inherited() {
  if (!fill_standard_descriptors()) return tl::unexpected(sys::errno_error("open '/dev/null'"));
  if (!reset_signals()) return tl::unexpected(sys::errno_error("reset the signals"));
  return {};
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <span>

#include "sandbox/notified_answers.h"
#include "sandbox/seccomp_filter.h"

// The filters in the kernel, each in a process of its own.

namespace wardcase::sandbox {
namespace {

void load(std::vector<sock_filter>& filter) {
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    std::perror("load the filter");
    ::_exit(99);
  }
}

void load_default(const policies::SyscallOptions& options) {
  auto filter = compile_filter(policies::default_syscall_policy(options));
  if (!filter) ::_exit(98);
  answer_unasked(*filter);  // nobody listens here
  load(*filter);
}

struct Call {
  const char* text;
  int error;  // 0: succeeds
  long number;
  std::array<long, 4> arguments;
};

// Makes the calls; ends the process with 0 if each came out as expected.
[[noreturn]] void make_calls(std::span<const Call> calls) {
  int wrong = 0;
  for (const auto& [text, error, number, arguments] : calls) {
    const long result = ::syscall(number, arguments[0], arguments[1], arguments[2], arguments[3]);
    const int got = result == -1 ? errno : 0;
    if (got == error) continue;
    (void)std::fprintf(stderr, "%s: errno %d, not %d\n", text, got, error);
    wrong = 1;
  }
  ::_exit(wrong);
}

long address(const void* object) { return static_cast<long>(reinterpret_cast<intptr_t>(object)); }

constexpr long kHighBit = 1L << 32;

TEST(LoadedFilter, AnswersInTheKernel) {
  rlimit limit = {};
  const Call calls[] = {
      {"clone3", ENOSYS, SYS_clone3, {}},
      {"io_uring_setup", ENOSYS, SYS_io_uring_setup, {1}},
      {"a call of the future", ENOSYS, 470, {}},
      {"call -1", ENOSYS, -1, {}},
      {"ptrace", EPERM, SYS_ptrace, {}},
      {"open_tree_attr", EPERM, 467, {}},
      {"unshare user", EPERM, SYS_unshare, {CLONE_NEWUSER}},
      {"unshare files", 0, SYS_unshare, {CLONE_FILES}},
      {"socket vsock", EAFNOSUPPORT, SYS_socket, {AF_VSOCK, SOCK_STREAM}},
      {"socket alg", EAFNOSUPPORT, SYS_socket, {AF_ALG, SOCK_SEQPACKET}},
      {"socket netfilter", EAFNOSUPPORT, SYS_socket, {AF_NETLINK, SOCK_RAW, 12}},
      {"socket route", 0, SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
      {"socket unix", 0, SYS_socket, {AF_UNIX, SOCK_STREAM}},
      {"TIOCSTI", EPERM, SYS_ioctl, {0, TIOCSTI}},
      {"TIOCSTI with a high bit", EPERM, SYS_ioctl, {0, kHighBit | TIOCSTI}},
      {"prlimit of init", EPERM, SYS_prlimit64, {1, RLIMIT_CORE, 0, address(&limit)}},
      {"prlimit of itself", 0, SYS_prlimit64, {0, RLIMIT_CORE, 0, address(&limit)}},
      {"a second listener",
       EPERM,
       SYS_seccomp,
       {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER}},
      {"another filter", EFAULT, SYS_seccomp, {SECCOMP_SET_MODE_FILTER, 0}},
      {"query of the personality", 0, SYS_personality, {0xffff'ffff}},
      {"umask", 0, SYS_umask, {022}},
  };
  EXPECT_EXIT(
      {
        load_default({});
        make_calls(calls);
      },
      testing::ExitedWithCode(0), "");
}

TEST(LoadedFilter, RefusesSetidFilesAndTheAffinityWhenTold) {
  char path[] = "/tmp/wardcase-filter-XXXXXX";
  const int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  cpu_set_t set = {};
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  const long tmp = address("/tmp");
  const Call calls[] = {
      {"fchmod setuid", EPERM, SYS_fchmod, {fd, 04755}},
      {"fchmod", 0, SYS_fchmod, {fd, 0755}},
      {"fchmodat setgid", EPERM, SYS_fchmodat, {AT_FDCWD, address(path), 02755}},
      {"fchmodat2 setgid", EPERM, 452, {AT_FDCWD, address(path), 02755}},
      {"openat tmpfile setuid", EPERM, SYS_openat, {AT_FDCWD, tmp, O_TMPFILE | O_RDWR, 04700}},
      {"openat tmpfile", 0, SYS_openat, {AT_FDCWD, tmp, O_TMPFILE | O_RDWR, 0700}},
      {"openat directory", 0, SYS_openat, {AT_FDCWD, tmp, O_DIRECTORY, 04700}},
      {"openat2", ENOSYS, SYS_openat2, {}},
      {"mknodat setuid", EPERM, SYS_mknodat, {AT_FDCWD, address("/tmp/x"), S_IFREG | 04755}},
      {"affinity", EPERM, SYS_sched_setaffinity, {0, sizeof set, address(&set)}},
  };
  EXPECT_EXIT(
      {
        load_default({.refuse_setid_modes = true, .pin_affinity = true});
        make_calls(calls);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(::close(fd), 0);
  EXPECT_EQ(::unlink(path), 0);
}

#if defined(__x86_64__)
TEST(LoadedFilter, KillsX32Calls) {
  EXPECT_EXIT(
      {
        load_default({});
        (void)::syscall(0x4000'0000 | SYS_getpid);
        ::_exit(0);
      },
      testing::KilledBySignal(SIGSYS), "");
}

void call_i386() {
  (void)std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn it into an exit
  long result = 20;                     // getpid
  asm volatile("int $0x80" : "+a"(result) : : "memory");
}

// A kernel without i386 calls has no gate for them: SIGSEGV, filter or not.
TEST(LoadedFilter, KillsI386Calls) {
  int unfiltered = 0;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    call_i386();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, &unfiltered, 0), child);
  EXPECT_EXIT(
      {
        load_default({});
        call_i386();
        ::_exit(0);
      },
      testing::KilledBySignal(WIFSIGNALED(unfiltered) ? WTERMSIG(unfiltered) : SIGSYS), "");
}
#endif

TEST(LoadedFilter, LetsInitWaitAndEnd) {
  EXPECT_EXIT(
      {
        auto filter = init_filter();
        load(filter);
        const timespec now = {};
        (void)::syscall(SYS_ppoll, nullptr, 0, &now, nullptr, 0);
        (void)::syscall(SYS_exit_group, 7);  // a sanitizer has work to do in _exit()
      },
      testing::ExitedWithCode(7), "");
}

TEST(LoadedFilter, KillsInitThatOpensAFile) {
  EXPECT_EXIT(
      {
        auto filter = init_filter();
        load(filter);
        (void)::syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY);
        ::_exit(0);
      },
      testing::KilledBySignal(SIGSYS), "");
}

}  // namespace
}  // namespace wardcase::sandbox

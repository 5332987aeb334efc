// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// System calls that no program in a box may make, and what answers them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using HostileSystemCalls = WithCaller;
WARDCASE_AS_ROOT_AND_USER(HostileSystemCalls);

// Whether the attempt is made outside a box, too, where the kernel must answer
// otherwise than the policy does: that shows that it was the policy's answer.
enum class Control : std::uint8_t { none, as_root };

struct Attempt {
  std::string name;
  std::string answers;  // one errno, or several with blanks between them
  Control control = Control::as_root;
};

const std::vector<Attempt>& attempts() {
  static const std::vector<Attempt> all = {
      {"ptrace_traceme", "EPERM"},
      {"ptrace_init", "EPERM", Control::none},
      {"process_vm_readv", "EPERM"},
      {"process_vm_writev", "EPERM"},
      {"pidfd_getfd", "EPERM"},
      {"kcmp", "EPERM"},
      {"prlimit_init", "EPERM"},
      {"affinity_init", "EPERM"},
      {"scheduler_init", "EPERM"},
      {"priority_init", "EPERM", Control::none},
      {"setns", "EPERM"},
      {"unshare_user", "EPERM"},
      {"unshare_mounts", "EPERM"},
      {"clone_user", "EPERM"},
      {"clone_user_high_bits", "EPERM"},
      {"clone3", "ENOSYS"},
      {"mount", "EPERM"},
      {"umount2", "EPERM"},
      {"pivot_root", "EPERM"},
      {"chroot", "EPERM"},
      {"fsopen", "EPERM"},
      {"fsconfig", "EPERM"},
      {"fsmount", "EPERM"},
      {"fspick", "EPERM"},
      {"open_tree", "EPERM"},
      {"move_mount", "EPERM"},
      {"mount_setattr", "EPERM"},
      {"keyctl", "EPERM"},
      {"add_key", "EPERM"},
      {"request_key", "EPERM"},
      {"bpf", "EPERM"},
      {"perf_event_open", "EPERM"},
      {"userfaultfd", "EPERM"},
      {"io_uring_setup", "ENOSYS"},
      {"io_uring_enter", "ENOSYS"},
      {"io_uring_register", "ENOSYS"},
      {"unknown_number", "ENOSYS", Control::none},
      {"number_minus_one", "ENOSYS", Control::none},
      {"seccomp_listener", "EPERM"},
      {"open_by_handle_at", "EPERM"},
      {"kexec_load", "EPERM", Control::none},
      {"init_module", "EPERM", Control::none},
      {"finit_module", "EPERM", Control::none},
      {"delete_module", "EPERM", Control::none},
      {"swapon", "EPERM"},
      {"swapoff", "EPERM"},
      {"reboot", "EPERM"},
      {"quotactl", "EPERM", Control::none},
      {"acct", "EPERM", Control::none},
      {"syslog", "EPERM"},
      {"settimeofday", "EPERM"},
      {"sethostname", "EPERM"},
      {"fanotify_init", "EPERM"},
      {"personality", "EPERM"},
      {"tiocsti", "EPERM"},
      {"tiocsti_high_bits", "EPERM"},
      {"tioclinux", "EPERM"},
      {"tioclinux_high_bits", "EPERM"},
      {"socket_vsock", "EAFNOSUPPORT", Control::none},
      {"socket_packet", "EAFNOSUPPORT"},
      {"socket_alg", "EAFNOSUPPORT", Control::none},
      {"socket_bluetooth", "EAFNOSUPPORT", Control::none},
      {"socket_audit", "EAFNOSUPPORT", Control::none},
      {"socket_raw", "EPERM"},
      {"setuid", "EPERM EINVAL", Control::none},
      {"setgid", "EPERM EINVAL", Control::none},
      {"setgroups", "EPERM", Control::none},
      {"chmod_dev_null", "EPERM EROFS", Control::none},
      {"chown_dev_null", "EPERM EROFS EINVAL EOVERFLOW", Control::none},
      {"make_device", "EPERM", Control::none},
      {"write_usr", "EROFS EACCES", Control::none},
      {"write_root", "EROFS EACCES", Control::none},
      {"write_sysctl", "EROFS EACCES", Control::none},
      {"sysrq", "EROFS EACCES ENOENT", Control::none},
  };
  return all;
}

std::map<std::string, std::string> answers_in(const std::string& output) {
  std::map<std::string, std::string> answers;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos) answers[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return answers;
}

bool is_among(const std::string& answer, const std::string& allowed) {
  std::istringstream words(allowed);
  const std::istream_iterator<std::string> begin(words);
  return std::find(begin, std::istream_iterator<std::string>(), answer) !=
         std::istream_iterator<std::string>();
}

TEST_P(HostileSystemCalls, EachRefusedCallGetsItsErrno) {
  const Record record = hostile("attempt");
  ASSERT_EQ(record.out().find("armed\n"), 0U) << record;
  const auto answers = answers_in(record.out());
  EXPECT_EQ(answers.size(), attempts().size());
  for (const Attempt& attempt : attempts()) {
    const auto found = answers.find(attempt.name);
    const std::string answer = found != answers.end() ? found->second : "nothing";
    EXPECT_TRUE(is_among(answer, attempt.answers))
        << attempt.name << ": " << answer << " instead of " << attempt.answers;
  }
}

TEST_P(HostileSystemCalls, OutsideABoxTheKernelAnswersOtherwise) {
  if (!is_root()) return;  // what an ordinary user may not do is EPERM for him anyway
  std::vector<std::string> argv = {Workplace::get().program("attempt").string()};
  for (const Attempt& attempt : attempts()) {
    if (attempt.control == Control::as_root) argv.push_back(attempt.name);
  }
  const auto answers = answers_in(Command::other(caller(), std::move(argv)).finish().out());
  for (const Attempt& attempt : attempts()) {
    if (attempt.control != Control::as_root) continue;
    const auto found = answers.find(attempt.name);
    ASSERT_NE(found, answers.end()) << attempt.name;
    EXPECT_NE(found->second, attempt.answers) << attempt.name;
  }
}

TEST_P(HostileSystemCalls, The32BitGateAnswersNothing) {
  const std::string program = Workplace::get().program("i386_call").string();
  const Outcome control = Command::other(caller(), {program}).finish();
  if (control.out() == "armed\nanother answer\n") GTEST_SKIP() << "this kernel has no such gate";
  const Record record = hostile("i386_call");
  EXPECT_EQ(record.out(), "armed\n");
  EXPECT_EQ(record.status(), "signaled") << record;
  // Some virtual machines have no such gate; outside, too, it is a bad instruction then.
  if (control.signal == SIGSEGV) {
    EXPECT_EQ(record.text("signal"), "SIGSEGV");
  } else {
    EXPECT_EQ(control.out(), "armed\ngot the pid\n");
    EXPECT_EQ(record.text("signal"), "SIGSYS");
  }
}

TEST_P(HostileSystemCalls, TheX32NumbersEndTheProgramWithSigsys) {
  const std::string program = Workplace::get().program("x32_call").string();
  EXPECT_EQ(Command::other(caller(), {program}).finish().exit_code, 0);
  EXPECT_EQ(run({program}).exit_code, 159);
  const Record record = hostile("x32_call");
  EXPECT_EQ(record.out(), "armed\n");
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_EQ(record.text("signal"), "SIGSYS");
}

}  // namespace
}  // namespace wardcase::test

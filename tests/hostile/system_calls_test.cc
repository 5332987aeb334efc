// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// System calls that no program in a box may make, and what answers them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <vector>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

// Whether the attempt is made outside a box, too, where the kernel must answer
// otherwise than the policy does: that shows that it was the policy's answer.
enum class Control : std::uint8_t { none, as_root };

struct Attempt {
  std::string name;     // as the program says it
  std::string answers;  // one errno, or several with blanks between them
  Control control = Control::as_root;
};

std::ostream& operator<<(std::ostream& out, const Attempt& attempt) { return out << attempt.name; }

const std::vector<Attempt>& attempts() {
  static const std::vector<Attempt> all = {
      {"ptrace_traceme", "EPERM"},
      {"ptrace_init", "EPERM", Control::none},
      {"process_madvise", "EPERM"},
      {"process_vm_readv", "EPERM"},
      {"process_vm_writev", "EPERM"},
      {"pidfd_getfd", "EPERM"},
      {"kcmp", "EPERM"},
      {"prlimit_init", "EPERM"},
      {"affinity_init", "EPERM"},
      {"scheduler_init", "EPERM"},
      {"priority_init", "EPERM", Control::none},
      {"priority_user", "EPERM", Control::none},
      {"io_priority_init", "EPERM", Control::none},
      {"setns", "EPERM"},
      {"unshare_user", "EPERM"},
      {"unshare_mounts", "EPERM"},
      {"unshare_network", "EPERM"},
      {"unshare_processes", "EPERM"},
      {"unshare_time", "EPERM"},
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
      {"open_tree_attr", "EPERM"},
      {"keyctl", "EPERM"},
      {"add_key", "EPERM"},
      {"request_key", "EPERM"},
      {"bpf", "EPERM"},
      {"perf_event_open", "EPERM"},
      {"userfaultfd", "EPERM"},
      {"io_uring_setup", "ENOSYS"},
      {"io_uring_enter", "ENOSYS"},
      {"io_uring_register", "ENOSYS"},
      {"io_setup", "ENOSYS"},
      {"unknown_number", "ENOSYS", Control::none},
      {"number_minus_one", "ENOSYS", Control::none},
      {"seccomp_listener", "EPERM"},
      {"open_by_handle_at", "EPERM"},
      {"name_to_handle_at", "EPERM"},
      {"kexec_load", "EPERM", Control::none},
      {"kexec_file_load", "EPERM", Control::none},
      {"init_module", "EPERM", Control::none},
      {"finit_module", "EPERM", Control::none},
      {"delete_module", "EPERM", Control::none},
      {"iopl", "EPERM"},
      {"ioperm", "EPERM"},
      {"modify_ldt", "EPERM"},
      {"huge_pages", "EPERM"},
      {"huge_memory_file", "EPERM ENOSYS", Control::none},
      {"memfd_secret", "EPERM"},
      {"vmsplice", "EPERM"},
      {"mbind", "ENOSYS"},
      {"migrate_pages", "ENOSYS"},
      {"lease", "EPERM"},
      {"swapon", "EPERM"},
      {"swapoff", "EPERM"},
      {"reboot", "EPERM"},
      {"quotactl", "EPERM", Control::none},
      {"acct", "EPERM", Control::none},
      {"syslog", "EPERM"},
      {"settimeofday", "EPERM"},
      {"clock_settime", "EPERM"},
      {"adjtimex", "EPERM"},
      {"sethostname", "EPERM"},
      {"setdomainname", "EPERM"},
      {"fanotify_init", "EPERM"},
      {"personality", "EPERM"},
      {"tiocsti", "EPERM"},
      {"tiocsti_high_bits", "EPERM"},
      {"tioclinux", "EPERM"},
      {"tioclinux_high_bits", "EPERM"},
      {"line_discipline", "EPERM"},
      {"console_takeover", "EPERM"},
      {"socket_vsock", "EAFNOSUPPORT", Control::none},
      {"socket_packet", "EAFNOSUPPORT"},
      {"socket_alg", "EAFNOSUPPORT", Control::none},
      {"socket_bluetooth", "EAFNOSUPPORT", Control::none},
      {"socket_audit", "EAFNOSUPPORT", Control::none},
      {"socket_netfilter", "EAFNOSUPPORT", Control::none},
      {"socket_mptcp", "EAFNOSUPPORT", Control::none},
      {"socket_sctp", "EAFNOSUPPORT"},
      {"socket_smc", "EAFNOSUPPORT"},
      {"socketpair_vsock", "EAFNOSUPPORT", Control::none},
      {"socket_raw", "EPERM"},
      {"setuid", "EPERM EINVAL", Control::none},
      {"setgid", "EPERM EINVAL", Control::none},
      {"setgroups", "EPERM", Control::none},
      {"chmod_dev_null", "EPERM EROFS", Control::none},
      {"chown_dev_null", "EPERM EROFS EINVAL EOVERFLOW", Control::none},
      {"remove_dev_null", "EPERM EROFS EACCES EBUSY", Control::none},
      {"make_device", "EPERM", Control::none},
      {"write_usr", "EROFS EACCES", Control::none},
      {"write_root", "EROFS EACCES", Control::none},
      {"write_sysctl", "EROFS EACCES", Control::none},
      {"write_pressure", "EROFS EACCES ENOENT", Control::none},
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

std::string said_of(const std::map<std::string, std::string>& answers, const std::string& name) {
  const auto found = answers.find(name);
  return found != answers.end() ? found->second : "nothing";
}

// All are made in one box; each is told of by a test of its own.
class HostileCall : public testing::TestWithParam<std::tuple<Attempt, Caller>> {
 protected:
  void SetUp() override { skip_unless_can_be(caller()); }
  [[nodiscard]] static const Attempt& attempt() { return std::get<0>(GetParam()); }
  [[nodiscard]] static Caller caller() { return std::get<1>(GetParam()); }

  [[nodiscard]] static std::string answer_inside() {
    static std::map<Caller, std::map<std::string, std::string>> made;
    auto& answers = made[caller()];
    if (answers.empty()) {
      const std::string program = Workplace::get().program("attempt").string();
      const Outcome outcome = Command(caller(), {"run", program}).finish();
      EXPECT_TRUE(has_text(outcome.out(), "armed\n")) << outcome;
      answers = answers_in(outcome.out());
    }
    return said_of(answers, attempt().name);
  }

  // As root: what an ordinary user may not do is EPERM for him anyway.
  [[nodiscard]] static std::string answer_outside() {
    static std::map<std::string, std::string> answers;
    if (answers.empty()) {
      std::vector<std::string> argv = {Workplace::get().program("attempt").string()};
      for (const Attempt& one : attempts()) {
        if (one.control == Control::as_root) argv.push_back(one.name);
      }
      answers = answers_in(Command::other(Caller::root, std::move(argv)).finish().out());
    }
    return said_of(answers, attempt().name);
  }
};
[[maybe_unused]] const bool kHostileCallLeavesNothing = install_leak_check();
INSTANTIATE_TEST_SUITE_P(As, HostileCall,
                         testing::Combine(testing::ValuesIn(attempts()),
                                          testing::Values(Caller::root, Caller::user)),
                         [](const auto& row) {
                           return std::get<0>(row.param).name + "_" +
                                  testing::PrintToString(std::get<1>(row.param));
                         });

TEST_P(HostileCall, GetsItsErrno) {
  declare_attack("the call " + attempt().name, "refused: " + attempt().answers);
  const std::string answer = answer_inside();
  EXPECT_TRUE(is_among(answer, attempt().answers)) << answer;
  if (attempt().control == Control::none) return no_control("it is refused outside, or does harm");
  if (!can_be(Caller::root)) return no_control("only root is allowed it outside");
  const std::string outside = answer_outside();
  EXPECT_NE(outside, "nothing");
  if (outside == "ENOSYS" && attempt().answers == "ENOSYS") {
    return no_control("this kernel does not have it either");
  }
  EXPECT_TRUE(control_works(outside != attempt().answers)) << outside;
}

using HostileGate = HostileTest;
WARDCASE_AS_ROOT_AND_USER(HostileGate);

TEST_P(HostileGate, The32BitGateAnswersNothing) {
  declare_attack("system calls by the 32-bit gate", "other architectures are killed");
  const Outcome control = outside("i386_call");
  if (control.out() == "armed\nanother answer\n") GTEST_SKIP() << "this kernel has no such gate";
  const Record record = hostile("i386_call");
  EXPECT_EQ(record.out(), "armed\n");
  EXPECT_EQ(record.status(), "signaled") << record;
  // Some virtual machines have no such gate; outside, too, it is a bad instruction then.
  if (control.signal == SIGSEGV) {
    EXPECT_EQ(record.text("signal"), "SIGSEGV");
    return no_control("this kernel has no such gate");
  }
  EXPECT_TRUE(control_works(control.out() == "armed\ngot the pid\n"));
  EXPECT_EQ(record.text("signal"), "SIGSYS");
}

TEST_P(HostileGate, TheX32NumbersEndTheProgramWithSigsys) {
  declare_attack("system calls by their x32 numbers", "x32 is killed");
  EXPECT_TRUE(control_works(outside("x32_call").exit_code == 0));
  EXPECT_EQ(run({Workplace::get().program("x32_call")}).exit_code, 159);
  const Record record = hostile("x32_call");
  EXPECT_EQ(record.out(), "armed\n");
  EXPECT_EQ(record.status(), "signaled") << record;
  EXPECT_EQ(record.text("signal"), "SIGSYS");
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// What namespaces keep out of reach elsewhere, and Landlock knows nothing of: sockets but
// those of TCP, System V and POSIX message objects, other processes of the same user, and
// what can be changed of a file without opening it.
#include "policies/rule_list.h"

namespace wardcase::policies {
namespace {

// Values of the kernel's interface (AF_*, SOCK_*); the tests compare them with the headers.
constexpr std::uint32_t kUnix = 1, kInet = 2, kInet6 = 10;
constexpr std::uint32_t kStream = 1, kSeqPacket = 5;
constexpr std::uint32_t kNonBlocking = 04000, kCloseOnExec = 02'000'000;
constexpr std::uint32_t kUsualProtocols[] = {0, 1, 6, 17, 58, 136};
constexpr std::uint32_t kAnyBit = 0xffff'ffff;

// A pair of datagram sockets can send to any socket of the host by its name, which lies behind a
// pointer; pairs of the other kinds are connected once and for all.
void restrict_sockets(RuleList& rules, bool own_network) {
  if (own_network) {
    rules.refuse_all("socket", Answer::eafnosupport,
                     "without a network namespace any socket is one of the host");
  } else {
    const std::vector<std::uint32_t> protocols(std::begin(kUsualProtocols),
                                               std::end(kUsualProtocols));
    rules.add("socket",
              {{{equals_any(0, {kInet, kInet6}), equals_any(2, protocols)}, Answer::allow}},
              Answer::eafnosupport, "without a network namespace it would be one of the host's");
  }
  std::vector<std::uint32_t> types;
  for (const std::uint32_t type : {kStream, kSeqPacket}) {
    for (const std::uint32_t flags :
         {0U, kNonBlocking, kCloseOnExec, kNonBlocking | kCloseOnExec}) {
      types.push_back(type | flags);
    }
  }
  rules.add("socketpair", {{{equals_any(0, {kUnix}), equals_any(1, types)}, Answer::allow}},
            Answer::eafnosupport, "a pair of datagram sockets reaches the sockets of the host");
}

void refuse_host_objects(RuleList& rules) {
  for (const char* name : {"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl",
                           "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"}) {
    rules.refuse_all(name, Answer::enosys, "without an IPC namespace these are the host's objects");
  }
}

// Of one's own, 0 stands for the caller. Any other number may be one of the host's.
void protect_processes(RuleList& rules, const SyscallOptions& options) {
  constexpr std::string_view kWhy = "other processes of the same user are in reach";
  for (const char* name : {"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"}) {
    rules.refuse_when(name, {has_bits(0, kAnyBit)}, kWhy);
  }
  if (options.pin_affinity) {
    rules.refuse_all("sched_setaffinity", Answer::eperm, "the affinity holds the cpus limit");
  } else {
    rules.refuse_when("sched_setaffinity", {has_bits(0, kAnyBit)}, kWhy);
  }
  // `which` first: 0 is one process (PRIO_PROCESS), 1 that of IOPRIO_WHO_PROCESS.
  rules.add("setpriority",
            {{{has_bits(0, kAnyBit)}, Answer::eperm}, {{has_bits(1, kAnyBit)}, Answer::eperm}},
            Answer::allow, kWhy);
  rules.add("ioprio_set",
            {{{equals_any(0, {2, 3})}, Answer::eperm}, {{has_bits(1, kAnyBit)}, Answer::eperm}},
            Answer::allow, kWhy);
}

// Neither needs the file to be open, and Landlock does not look: a program with the caller's own id
// could take the mode or owner from any of his files.
void protect_metadata(RuleList& rules, const SyscallOptions& options) {
  constexpr std::string_view kWhy = "by path it reaches all files of the same user";
  for (const char* name : {"chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime",
                           "utimes", "futimesat", "setxattr", "lsetxattr", "setxattrat",
                           "removexattr", "lremovexattr", "removexattrat", "file_setattr"}) {
    rules.refuse_all(name, Answer::eperm, kWhy);
  }
  if (options.keeps_attributes) {
    constexpr std::string_view kWhyOpen = "it changes what was mounted to be read";
    for (const char* name : {"fchmod", "fchown", "fsetxattr", "fremovexattr", "utimensat"}) {
      rules.refuse_all(name, Answer::eperm, kWhyOpen);
    }
    return;
  }
  // Without a path it is futimens(3), which takes an open file.
  rules.add("utimensat", {{{{1, ArgTest::Kind::is_null, {}}}, Answer::allow}}, Answer::eperm, kWhy);
}

}  // namespace

void add_rules_without_namespaces(RuleList& rules, const SyscallOptions& options) {
  restrict_sockets(rules, options.own_network);
  refuse_host_objects(rules);
  protect_processes(rules, options);
  if (!options.own_user) protect_metadata(rules, options);
  if (!options.truncate_is_held) {
    rules.refuse_all("truncate", Answer::eperm, "this kernel's Landlock does not hold it");
  }
}

}  // namespace wardcase::policies

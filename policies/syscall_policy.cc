// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/syscall_policy.h"

#include <algorithm>
#include <utility>

#include "policies/rule_list.h"

// A deny list: what interpreters, compilers and their test suites never call is
// refused, the rest stays. It is one wall of several (namespaces, no
// capabilities, no new privileges stand beside it) and closes what these leave:
// kernel code with a long record of holes, calls that reach init, objects that
// no namespace holds, and files that would outlive the box with a setuid mode.

namespace wardcase::policies {
namespace {

using Names = std::string_view[];

constexpr Names kHiddenFlags = {"clone3"};
constexpr Names kIoUring = {"io_uring_setup", "io_uring_enter", "io_uring_register"};
constexpr Names kOldAio = {"io_setup"};
constexpr Names kMounts = {"mount",  "umount2",        "pivot_root",   "chroot", "open_tree",
                           "fsopen", "fsconfig",       "fsmount",      "fspick", "move_mount",
                           "setns",  "open_tree_attr", "mount_setattr"};
constexpr Names kKeyrings = {"keyctl", "add_key", "request_key"};
constexpr Names kKernelPrograms = {"bpf", "perf_event_open", "userfaultfd"};
constexpr Names kFileHandles = {"open_by_handle_at", "name_to_handle_at", "fanotify_init"};
constexpr Names kOtherProcesses = {"ptrace",      "process_vm_readv", "process_vm_writev",
                                   "pidfd_getfd", "process_madvise",  "kcmp"};
constexpr Names kMemoryPlaces = {"mbind",         "set_mempolicy", "set_mempolicy_home_node",
                                 "get_mempolicy", "move_pages",    "migrate_pages"};
constexpr Names kHiddenMemory = {"memfd_secret", "vmsplice"};
constexpr Names kKernelCode = {"kexec_load",   "kexec_file_load", "init_module",
                               "finit_module", "delete_module",   "iopl",
                               "ioperm",       "modify_ldt"};
constexpr Names kHostAdministration = {"swapon",      "swapoff",      "reboot", "quotactl",
                                       "quotactl_fd", "acct",         "syslog", "sethostname",
                                       "vhangup",     "setdomainname"};
constexpr Names kClocks = {"settimeofday", "clock_settime", "clock_adjtime", "adjtimex"};
constexpr Names kRelics = {"lookup_dcookie", "nfsservctl", "uselib"};

constexpr SyscallGroup kGroups[] = {
    {"hidden-flags", kHiddenFlags, Answer::enosys,
     "its flags are behind a pointer that no filter can read"},
    {"io-uring", kIoUring, Answer::enosys, "does I/O that no filter sees"},
    {"kernel-aio", kOldAio, Answer::enosys, "its contexts are counted for the whole host"},
    {"mount", kMounts, Answer::eperm, "would change what the box can see"},
    {"keyring", kKeyrings, Answer::eperm, "keyrings are shared beyond the box"},
    {"kernel-programs", kKernelPrograms, Answer::eperm, "gives a hold on the kernel's own work"},
    {"file-handles", kFileHandles, Answer::eperm, "reaches files without a path"},
    {"other-processes", kOtherProcesses, Answer::eperm, "reads or changes another process"},
    {"memory-places", kMemoryPlaces, Answer::enosys,
     "the box is a machine with one place for memory: libraries ask, and do without"},
    {"hidden-memory", kHiddenMemory, Answer::eperm, "hides memory behind the accounting"},
    {"kernel-code", kKernelCode, Answer::eperm, "puts code or descriptors into the kernel"},
    {"host-administration", kHostAdministration, Answer::eperm, "administers the host"},
    {"set-clock", kClocks, Answer::eperm, "the clock is the host's"},
    {"obsolete", kRelics, Answer::eperm, "old kernel code that no program needs"},
};

// Values of the kernel's interface, written out because no kernel header is
// included here; the tests compare them with the headers.
constexpr std::uint32_t kCloneNewTime = 0x80;
constexpr std::uint32_t kCloneNewOthers = 0x7e02'0000;  // NS CGROUP UTS IPC USER PID NET
constexpr std::uint32_t kUnix = 1, kInet = 2, kInet6 = 10, kNetlink = 16;  // AF_*
constexpr std::uint32_t kNetlinkRoute = 0;
constexpr std::uint32_t kTiocCons = 0x541d, kTiocLinux = 0x541c;
constexpr std::uint32_t kTiocSetDiscipline = 0x5423, kTiocTypeInput = 0x5412;  // TIOCSETD, TIOCSTI
constexpr std::uint32_t kFilterFlagNewListener = 8;
constexpr std::uint32_t kPriorityOfUser = 2, kIoPriorityOfUser = 3;  // PRIO_USER, IOPRIO_WHO_USER
constexpr std::uint32_t kMapShared = 1, kMapAnonymous = 0x20;
// MAP_HUGETLB, MFD_HUGETLB, SHM_HUGETLB
constexpr std::uint32_t kMapHuge = 0x4'0000, kMemoryFileHuge = 4, kSharedHuge = 04000;
constexpr std::uint32_t kSetLease = 1024, kSetDelegation = 1040;  // F_SETLEASE, F_SETDELEG
// IPPROTO_: none, ICMP, TCP, UDP, ICMPV6, UDPLITE, RAW (of which the kernel lets root alone have
// one)
constexpr std::uint32_t kUsualProtocols[] = {0, 1, 6, 17, 58, 136, 255};
constexpr std::uint32_t kSetidModes = 06000;
// O_CREAT, and O_TMPFILE without its O_DIRECTORY, which alone makes no file.
constexpr std::uint32_t kCreates = 0100 | 020'000'000;
constexpr std::uint32_t kPersonalityLinux = 0, kPersonalityQuery = 0xffff'ffff;
// FS_IOC_SETFLAGS and the like (<linux/fs.h>, <linux/fsverity.h>).
constexpr std::uint32_t kFsSetFlags = 0x4008'6602, kFsSetVersion = 0x4008'7602;
constexpr std::uint32_t kFsSetAttributes = 0x401c'5820, kFsEnableVerity = 0x4080'6685;
constexpr std::uint32_t kInit = 1;  // its pid inside the box

void refuse_namespaces(RuleList& rules) {
  constexpr std::string_view kWhy = "a new namespace brings capabilities back";
  rules.refuse_when("unshare", {has_bits(0, kCloneNewOthers | kCloneNewTime)}, kWhy);
  // CLONE_NEWTIME is part of the exit signal in clone()'s flags.
  rules.refuse_when("clone", {has_bits(0, kCloneNewOthers)}, kWhy);
}

void restrict_sockets(RuleList& rules) {
  const std::vector<std::uint32_t> protocols(std::begin(kUsualProtocols),
                                             std::end(kUsualProtocols));
  rules.add("socket",
            {{{equals_any(0, {kUnix})}, Answer::allow},
             {{equals_any(0, {kInet, kInet6}), equals_any(2, protocols)}, Answer::allow},
             {{equals_any(0, {kNetlink}), equals_any(2, {kNetlinkRoute})}, Answer::allow}},
            Answer::eafnosupport,
            "other families and protocols reach the host or rarely used kernel code");
  rules.add("socketpair", {{{equals_any(0, {kUnix})}, Answer::allow}}, Answer::eafnosupport,
            "only this family has pairs that programs use");
}

void restrict_arguments(RuleList& rules, const SyscallOptions& options) {
  std::vector<SyscallCase> commands = {
      {{equals_any(1, {kTiocTypeInput, kTiocLinux, kTiocSetDiscipline, kTiocCons})},
       Answer::eperm}};
  std::string_view why = "types into the caller's terminal or takes it over";
  if (!options.own_namespaces && !options.own_user && options.keeps_attributes) {
    commands.push_back(
        {{equals_any(1, {kFsSetFlags, kFsSetVersion, kFsSetAttributes, kFsEnableVerity})},
         Answer::eperm});
    why = "takes the caller's terminal over, or changes what was mounted to be read";
  }
  rules.add("ioctl", std::move(commands), Answer::allow, why);
  rules.refuse_when("fcntl", {equals_any(1, {kSetLease, kSetDelegation})},
                    "a lease makes others on the host wait for the program");
  rules.refuse_when("seccomp", {has_bits(1, kFilterFlagNewListener)},
                    "a second listener would answer in the place of the first");
  rules.add("personality",
            {{{equals_any(0, {kPersonalityLinux, kPersonalityQuery})}, Answer::allow}},
            Answer::eperm, "other personalities weaken the address space; queries are allowed");
}

// Huge pages are the host's own reserve, which no memory limit counts. A watcher sees
// no pages that are unmapped and stay, nor what the kernel keeps in System V objects.
void refuse_uncounted_memory(RuleList& rules, const SyscallOptions& options) {
  const bool is_watched = options.refuse_uncounted_memory;
  constexpr std::string_view kWhy = "the memory limit does not count it";
  std::vector<SyscallCase> mappings = {{{has_bits(3, kMapHuge)}, Answer::eperm}};
  if (is_watched) {
    mappings.push_back({{has_bits(3, kMapShared), has_bits(3, kMapAnonymous)}, Answer::eperm});
    rules.refuse_all("memfd_create", Answer::enosys, kWhy);
  } else {
    rules.refuse_when("memfd_create", {has_bits(1, kMemoryFileHuge)}, kWhy);
  }
  if (options.own_namespaces && is_watched) {
    for (const char* name : {"shmget", "semget", "msgget"}) {
      rules.refuse_all(name, Answer::enosys, kWhy);
    }
  } else if (options.own_namespaces) {
    rules.refuse_when("shmget", {has_bits(2, kSharedHuge)}, kWhy);
  }
  rules.add("mmap", std::move(mappings), Answer::allow, kWhy);
}

// Init runs with the same user id as the program, which could otherwise starve
// the one process that reports its end.
void protect_init(RuleList& rules, const SyscallOptions& options) {
  constexpr std::string_view kWhy = "init is not the program's to change";
  for (const std::string_view name :
       {"prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"}) {
    rules.refuse_when(name, {equals_any(0, {kInit})}, kWhy);
  }
  if (options.pin_affinity) {
    rules.refuse_all("sched_setaffinity", Answer::eperm, "the affinity holds the cpus limit");
  } else {
    rules.refuse_when("sched_setaffinity", {equals_any(0, {kInit})}, kWhy);
  }
  // `which` first, then `who`: a user's processes include init, and 1 is init
  // both as a process and as a group.
  rules.add("setpriority",
            {{{equals_any(0, {kPriorityOfUser})}, Answer::eperm},
             {{equals_any(1, {kInit})}, Answer::eperm}},
            Answer::allow, kWhy);
  rules.add("ioprio_set",
            {{{equals_any(0, {kIoPriorityOfUser})}, Answer::eperm},
             {{equals_any(1, {kInit})}, Answer::eperm}},
            Answer::allow, kWhy);
}

// Wherever a mode is given, not only in chmod: open(O_CREAT, 04755) makes a
// setuid file just as well.
void refuse_setid_modes(RuleList& rules) {
  constexpr std::string_view kWhy = "a setuid or setgid file would outlive the box";
  struct ModeArgument {
    std::string_view name;
    std::uint8_t argument;
  };
  for (const auto& [name, argument] :
       {ModeArgument{"chmod", 1}, ModeArgument{"fchmod", 1}, ModeArgument{"fchmodat", 2},
        ModeArgument{"fchmodat2", 2}, ModeArgument{"creat", 1}, ModeArgument{"mknod", 1},
        ModeArgument{"mknodat", 2}}) {
    if (rules.has(name)) continue;  // refused altogether
    rules.refuse_when(name, {has_bits(argument, kSetidModes)}, kWhy);
  }
  // Without a creating flag the mode argument may be any leftover of a register.
  rules.refuse_when("open", {has_bits(1, kCreates), has_bits(2, kSetidModes)}, kWhy);
  rules.refuse_when("openat", {has_bits(2, kCreates), has_bits(3, kSetidModes)}, kWhy);
  rules.refuse_all("openat2", Answer::enosys,
                   "its mode is behind a pointer that no filter can read");
}

}  // namespace

SyscallPolicy default_syscall_policy(const SyscallOptions& options) {
  RuleList rules;
  for (const SyscallGroup& group : kGroups) {
    for (const std::string_view name : group.calls) {
      rules.refuse_all(name, group.answer, group.why);
    }
  }
  refuse_namespaces(rules);
  if (options.own_namespaces) {
    restrict_sockets(rules);
    protect_init(rules, options);
  } else {
    add_rules_without_namespaces(rules, options);
  }
  restrict_arguments(rules, options);
  refuse_uncounted_memory(rules, options);
  if (options.refuse_setid_modes) refuse_setid_modes(rules);
  return {Answer::allow, std::move(rules).take()};
}

std::span<const SyscallGroup> built_in_groups() { return kGroups; }

const SyscallRule* rule_of(const SyscallPolicy& policy, std::string_view name) {
  const auto found = std::ranges::find(policy.rules, name, &SyscallRule::name);
  return found == policy.rules.end() ? nullptr : &*found;
}

Answer answer_to(const SyscallPolicy& policy, const SyscallRule* rule,
                 const SyscallArguments& arguments) {
  if (rule == nullptr) return policy.standard;
  const auto holds = [&](const ArgTest& test) {
    if (test.kind == ArgTest::Kind::is_null) return arguments[test.argument] == 0;
    const auto low = static_cast<std::uint32_t>(arguments[test.argument]);
    return std::ranges::any_of(test.values, [&](std::uint32_t value) {
      return test.kind == ArgTest::Kind::any_of ? low == value : (low & value) != 0;
    });
  };
  const auto found = std::ranges::find_if(rule->cases, [&](const SyscallCase& one_case) {
    return std::ranges::all_of(one_case.when, holds);
  });
  return found == rule->cases.end() ? rule->otherwise : found->answer;
}

}  // namespace wardcase::policies

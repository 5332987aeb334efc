// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Attack: one system call each, that no program in a box may make. Every
// attempt runs in a child of its own and prints "NAME ERRNO" ("NAME OK" if allowed).
// The arguments of those with a control are such that they do no harm where they are
// allowed: outside a box the kernel finds fault with the arguments instead.
// Expected: the policy's errno.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIGH_BITS (1UL << 32)
#define CALL(name, ...)                \
  {                                    \
#name, SYS_##name, { __VA_ARGS__ } \
  }
#define NAMED(name, number, ...)  \
  {                               \
    name, number, { __VA_ARGS__ } \
  }

struct attempt {
  const char* name;
  long number;
  unsigned long arguments[6];
};

static const struct attempt kAttempts[] = {
    // other processes
    NAMED("ptrace_traceme", SYS_ptrace, PTRACE_TRACEME),
    NAMED("ptrace_init", SYS_ptrace, PTRACE_SEIZE, 1),
    CALL(process_madvise, 1000000, 1, 1, 0xff, 0xff),
    CALL(process_vm_readv, 0, 1, 1, 1, 1, 0xff),
    CALL(process_vm_writev, 0, 1, 1, 1, 1, 0xff),
    CALL(pidfd_getfd, 1000000, 0, 0xff),
    CALL(kcmp, 0, 0, 0xff),
    NAMED("prlimit_init", SYS_prlimit64, 1, 0xff, 0, 0),
    NAMED("affinity_init", SYS_sched_setaffinity, 1, 8, 1),
    NAMED("scheduler_init", SYS_sched_setscheduler, 1, 0xff, 1),
    NAMED("priority_init", SYS_setpriority, PRIO_PROCESS, 1, 19),
    NAMED("priority_user", SYS_setpriority, PRIO_USER, 0, 0),
    NAMED("io_priority_init", SYS_ioprio_set, 1, 1, 0),
    // namespaces and mounts
    CALL(setns, 1000000, 0),
    NAMED("unshare_user", SYS_unshare, CLONE_NEWUSER),
    NAMED("unshare_mounts", SYS_unshare, CLONE_NEWNS),
    NAMED("unshare_network", SYS_unshare, CLONE_NEWNET),
    NAMED("unshare_processes", SYS_unshare, CLONE_NEWPID),
    NAMED("unshare_time", SYS_unshare, 0x80),
    NAMED("clone_user", SYS_clone, CLONE_NEWUSER | CLONE_SIGHAND, 0, 0, 0, 0),
    NAMED("clone_user_high_bits", SYS_clone, HIGH_BITS | CLONE_NEWUSER | CLONE_SIGHAND),
    CALL(clone3, 0, 0),
    CALL(mount, 1, 1, 1, 0, 0),
    CALL(umount2, 1, 0),
    CALL(pivot_root, 1, 1),
    CALL(chroot, 1),
    CALL(fsopen, 1, 0),
    CALL(fsconfig, 1000000, 0xff),
    CALL(fsmount, 1000000, 0),
    CALL(fspick, 1000000, 1, 0),
    CALL(open_tree, 1000000, 1, 0),
    CALL(move_mount, 1000000, 1, 1000000, 1, 0),
    CALL(mount_setattr, 1000000, 1, 0, 1, 32),
    NAMED("open_tree_attr", 467, 1000000, 1, 0, 1, 32),
    // the kernel's rarely used halves
    CALL(keyctl, 0xffff),
    CALL(add_key, 1, 1, 0, 0, 0),
    CALL(request_key, 1, 1, 0, 0),
    CALL(bpf, 0xffff, 1, 8),
    CALL(perf_event_open, 1, 0, 0, 0, 0xffff),
    CALL(userfaultfd, 0xffff),
    CALL(io_uring_setup, 1, 1),
    CALL(io_uring_enter, 1000000, 0),
    CALL(io_uring_register, 1000000, 0),
    CALL(io_setup, 0, 1),
    NAMED("unknown_number", 1500),
    NAMED("number_minus_one", -1),
    NAMED("seccomp_listener", SYS_seccomp, SECCOMP_SET_MODE_FILTER,
          SECCOMP_FILTER_FLAG_NEW_LISTENER, 1),
    CALL(open_by_handle_at, 1000000, 1, 0),
    CALL(name_to_handle_at, 1000000, 1, 1, 1, 0),
    CALL(kexec_file_load, 1000000, 1000000, 0, 0, 0xffff),
    CALL(kexec_load, 0, 0, 0, 0xffff),
    CALL(init_module, 1, 1, 1),
    CALL(finit_module, 1000000, 1, 0),
    CALL(delete_module, 1, 0),
    CALL(iopl, 4),
    CALL(ioperm, 0xffff, 0xffff, 0),
    CALL(modify_ldt, 0xff, 0, 0),
    NAMED("huge_pages", SYS_mmap, 0, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB),
    NAMED("huge_memory_file", SYS_memfd_create, (unsigned long)"huge", 4),
    NAMED("memfd_secret", SYS_memfd_secret, 0xffff),
    CALL(vmsplice, 1000000, 1, 1, 0),
    CALL(mbind, 1, 1, 0xffff, 0, 0, 0),
    CALL(migrate_pages, 1000000, 0, 0, 0),
    NAMED("lease", SYS_fcntl, 0, F_SETLEASE, 0xff),
    CALL(swapon, 1, 0),
    CALL(swapoff, 1),
    CALL(reboot, 0, 0, 0),
    CALL(quotactl, 0xffff, 1, 0, 1),
    CALL(acct, 1),
    CALL(syslog, 100, 0, 0),
    CALL(settimeofday, 1, 0),
    CALL(clock_settime, CLOCK_MONOTONIC, 1),
    CALL(adjtimex, 1),
    CALL(sethostname, 1, 5000),
    CALL(setdomainname, 1, 5000),
    CALL(fanotify_init, 0xffffff, 0),
    NAMED("personality", SYS_personality, 0x0040000),
    // input for the caller's terminal
    NAMED("tiocsti", SYS_ioctl, 0, TIOCSTI, 1),
    NAMED("tiocsti_high_bits", SYS_ioctl, 0, HIGH_BITS | TIOCSTI, 1),
    NAMED("tioclinux", SYS_ioctl, 0, TIOCLINUX, 1),
    NAMED("tioclinux_high_bits", SYS_ioctl, 0, HIGH_BITS | TIOCLINUX, 1),
    NAMED("line_discipline", SYS_ioctl, 0, TIOCSETD, 1),
    NAMED("console_takeover", SYS_ioctl, 0, TIOCCONS, 1),
    // ways out by the network
    NAMED("socket_vsock", SYS_socket, AF_VSOCK, SOCK_STREAM, 0),
    NAMED("socket_packet", SYS_socket, AF_PACKET, SOCK_RAW, 0),
    NAMED("socket_alg", SYS_socket, AF_ALG, SOCK_SEQPACKET, 0),
    NAMED("socket_bluetooth", SYS_socket, AF_BLUETOOTH, SOCK_RAW, 0),
    NAMED("socket_audit", SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT),
    NAMED("socket_netfilter", SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER),
    NAMED("socket_mptcp", SYS_socket, AF_INET, SOCK_STREAM, 262),
    NAMED("socket_sctp", SYS_socket, AF_INET, SOCK_STREAM, 132),
    NAMED("socket_smc", SYS_socket, AF_INET, SOCK_STREAM, 256),
    NAMED("socketpair_vsock", SYS_socketpair, AF_VSOCK, SOCK_STREAM, 0, 1),
    NAMED("socket_raw", SYS_socket, AF_INET, SOCK_RAW, 1),
    // other people
    CALL(setuid, 0),
    CALL(setgid, 0),
    CALL(setgroups, 1, 1),
    NAMED("chmod_dev_null", SYS_chmod, (unsigned long)"/dev/null", 0666),
    NAMED("chown_dev_null", SYS_chown, (unsigned long)"/dev/null", 0, 0),
    NAMED("remove_dev_null", SYS_unlink, (unsigned long)"/dev/null"),
    NAMED("make_device", SYS_mknod, (unsigned long)"/tmp/kmem", S_IFCHR | 0600, 0x102),
    NAMED("write_usr", SYS_open, (unsigned long)"/usr/attack", O_CREAT | O_WRONLY, 0644),
    NAMED("write_root", SYS_open, (unsigned long)"/attack", O_CREAT | O_WRONLY, 0644),
    NAMED("write_sysctl", SYS_open, (unsigned long)"/proc/sys/kernel/hostname", O_WRONLY),
    NAMED("write_pressure", SYS_open, (unsigned long)"/proc/pressure/memory", O_WRONLY),
    NAMED("sysrq", SYS_open, (unsigned long)"/proc/sysrq-trigger", O_WRONLY),
};

static void make(const struct attempt* attempt) {
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    const unsigned long* a = attempt->arguments;
    errno = 0;
    const long result = syscall(attempt->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    printf("%s %s\n", attempt->name, result >= 0 ? "OK" : strerrorname_np(errno));
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) printf("%s signal %d\n", attempt->name, WTERMSIG(status));
}

// With names, only those. All of them are for a box, where the program is process 2:
// some do harm elsewhere.
int main(int argc, char** argv) {
  if (argc < 2 && getpid() != 2) {
    fputs("outside a box name the attempts that may be made\n", stderr);
    return 2;
  }
  puts("armed");
  for (unsigned i = 0; i < sizeof kAttempts / sizeof *kAttempts; ++i) {
    int wanted = argc < 2;
    for (int n = 1; n < argc; ++n) wanted |= strcmp(argv[n], kAttempts[i].name) == 0;
    if (wanted) make(&kAttempts[i]);
  }
  return 0;
}

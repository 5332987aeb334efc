// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// lint: table (of names)
#include "supervisor/run/call_detail.h"

#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

namespace wardcase::supervisor {
namespace {

struct Named {
  std::uint32_t value;
  std::string_view name;
};
using Names = std::span<const Named>;

constexpr Named kNamespaces[] = {
    {CLONE_NEWNS, "CLONE_NEWNS"},     {CLONE_NEWCGROUP, "CLONE_NEWCGROUP"},
    {CLONE_NEWUTS, "CLONE_NEWUTS"},   {CLONE_NEWIPC, "CLONE_NEWIPC"},
    {CLONE_NEWUSER, "CLONE_NEWUSER"}, {CLONE_NEWPID, "CLONE_NEWPID"},
    {CLONE_NEWNET, "CLONE_NEWNET"},   {CLONE_NEWTIME, "CLONE_NEWTIME"},
};
constexpr Named kFamilies[] = {
    {AF_UNIX, "AF_UNIX"},       {AF_INET, "AF_INET"},           {AF_INET6, "AF_INET6"},
    {AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"},       {AF_ALG, "AF_ALG"},
    {AF_VSOCK, "AF_VSOCK"},     {AF_BLUETOOTH, "AF_BLUETOOTH"}, {AF_CAN, "AF_CAN"},
};
constexpr Named kMappings[] = {{MAP_SHARED, "MAP_SHARED"}, {MAP_ANONYMOUS, "MAP_ANONYMOUS"}};
constexpr Named kTerminalCommands[] = {
    {TIOCSTI, "TIOCSTI"}, {TIOCLINUX, "TIOCLINUX"}, {TIOCSETD, "TIOCSETD"}, {TIOCCONS, "TIOCCONS"}};
constexpr Named kTraces[] = {
    {PTRACE_TRACEME, "PTRACE_TRACEME"},   {PTRACE_PEEKTEXT, "PTRACE_PEEKTEXT"},
    {PTRACE_PEEKDATA, "PTRACE_PEEKDATA"}, {PTRACE_POKETEXT, "PTRACE_POKETEXT"},
    {PTRACE_POKEDATA, "PTRACE_POKEDATA"}, {PTRACE_CONT, "PTRACE_CONT"},
    {PTRACE_ATTACH, "PTRACE_ATTACH"},     {PTRACE_SEIZE, "PTRACE_SEIZE"},
};
constexpr Named kSeccompFlags[] = {{SECCOMP_FILTER_FLAG_NEW_LISTENER, "NEW_LISTENER"}};
constexpr Named kPriorityOwners[] = {
    {PRIO_PROCESS, "PRIO_PROCESS"}, {PRIO_PGRP, "PRIO_PGRP"}, {PRIO_USER, "PRIO_USER"}};
// By number, ioprio_set(2): <linux/ioprio.h> is not C++ in each version.
constexpr Named kIoPriorityOwners[] = {
    {1, "IOPRIO_WHO_PROCESS"}, {2, "IOPRIO_WHO_PGRP"}, {3, "IOPRIO_WHO_USER"}};

enum class Form : std::uint8_t { one_of, flags, mode, process };

struct Row {
  std::string_view call;
  std::uint8_t argument;
  Form form;
  Names names;
};
constexpr Row kRows[] = {
    {"unshare", 0, Form::flags, kNamespaces},
    {"clone", 0, Form::flags, kNamespaces},
    {"setns", 1, Form::flags, kNamespaces},
    {"socket", 0, Form::one_of, kFamilies},
    {"socketpair", 0, Form::one_of, kFamilies},
    {"ioctl", 1, Form::one_of, kTerminalCommands},
    {"mmap", 3, Form::flags, kMappings},
    {"ptrace", 0, Form::one_of, kTraces},
    {"seccomp", 1, Form::flags, kSeccompFlags},
    {"setpriority", 0, Form::one_of, kPriorityOwners},
    {"ioprio_set", 0, Form::one_of, kIoPriorityOwners},
    {"personality", 0, Form::one_of, {}},
    {"bpf", 0, Form::one_of, {}},
    {"keyctl", 0, Form::one_of, {}},
    {"prlimit64", 0, Form::process, {}},
    {"sched_setaffinity", 0, Form::process, {}},
    {"sched_setscheduler", 0, Form::process, {}},
    {"sched_setparam", 0, Form::process, {}},
    {"sched_setattr", 0, Form::process, {}},
    {"chmod", 1, Form::mode, {}},
    {"fchmod", 1, Form::mode, {}},
    {"fchmodat", 2, Form::mode, {}},
    {"fchmodat2", 2, Form::mode, {}},
    {"creat", 1, Form::mode, {}},
    {"mknod", 1, Form::mode, {}},
    {"mknodat", 2, Form::mode, {}},
    {"open", 2, Form::mode, {}},
    {"openat", 3, Form::mode, {}},
};

std::string number(const char* format, std::uint32_t value) {
  std::array<char, 32> text;
  (void)std::snprintf(text.data(), text.size(), format, value);  // fits
  return text.data();
}

std::string one_of(Names names, std::uint32_t value) {
  const auto found = std::ranges::find(names, value, &Named::value);
  return found == names.end() ? number("%#x", value) : std::string(found->name);
}

// Bits without a name here are not what it was refused for.
std::string flags(Names names, std::uint32_t value) {
  std::string text;
  for (const Named& flag : names) {
    if ((value & flag.value) == 0) continue;
    text += (text.empty() ? "" : "|") + std::string(flag.name);
  }
  return text;
}

}  // namespace

std::string describe_arguments(std::string_view call, const policies::SyscallArguments& arguments) {
  const auto* const row = std::ranges::find(kRows, call, &Row::call);
  if (row == std::end(kRows)) return "";
  const auto value = static_cast<std::uint32_t>(arguments[row->argument]);
  switch (row->form) {
    case Form::one_of:
      return one_of(row->names, value);
    case Form::flags:
      return flags(row->names, value);
    case Form::mode:
      return "mode " + number("%#o", value & 07777U);
    case Form::process:
      return "process " + number("%u", value);
  }
  return "";  // not reached: the list is closed
}

}  // namespace wardcase::supervisor

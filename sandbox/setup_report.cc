// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/setup_report.h"

#include <array>

namespace wardcase::sandbox {
namespace {

struct StepText {
  std::string_view name;
  std::string_view words;
};

constexpr std::array<StepText, kSetupStepCount> kTexts = {{
    {"none", "start"},
    {"close_parent_ends", "close the supervisor's ends"},
    {"raise_open_files", "raise the soft limit of open files"},
    {"join_cgroups", "join the control groups"},
    {"hide_cgroups", "enter an own cgroup namespace"},
    {"keep_capabilities", "keep capabilities over the change of ids"},
    {"private_mounts", "make all mounts private"},
    {"loopback_up", "bring the loopback device up"},
    {"await_go", "wait for the id maps"},
    {"change_ids", "change to the box's user"},
    {"make_root", "make the root file system"},
    {"make_scratch", "make the writable file system"},
    {"make_skeleton", "make the directories of the box"},
    {"place_files", "put a file in the box"},
    {"place_binds", "bind a host path"},
    {"place_scratch", "place the writable directories"},
    {"mount_proc", "mount /proc"},
    {"protect_proc", "protect /proc"},
    {"make_terminal", "make a terminal"},
    {"send_box", "hand out the /box directory"},
    {"enter_root", "enter the root file system"},
    {"verify_root", "verify that the host's root is gone"},
    {"seal_root", "make the root file system read-only"},
    {"name_host", "set the host name"},
    {"enter_directory", "enter the working directory"},
    {"place_stdio", "place stdin, stdout and stderr"},
    {"pin_cpus", "set the processor affinity"},
    {"use_directory", "open the private directory"},
    {"confine_signals", "keep signals inside by Landlock"},
    {"adopt_orphans", "become the parent of orphans"},
    {"fork_program", "fork the program"},
    {"start_session", "start a session"},
    {"take_terminal", "take the terminal as its own"},
    {"drop_capabilities", "drop capabilities"},
    {"verify_capabilities", "verify that no capability is left"},
    {"die_with_init", "arrange to die with init"},
    {"offer_to_oom_killer", "offer the program to the kernel's out-of-memory killer"},
    {"forbid_new_privileges", "forbid new privileges"},
    {"restrict_paths", "restrict paths by Landlock"},
    {"set_rlimits", "set the resource limits"},
    {"reset_signals", "reset signals"},
    {"await_init", "wait for init"},
    {"place_channel", "give the program its channel"},
    {"hold_at_exec", "arrange to be held at its start"},
    {"install_filter", "install the system call filter"},
    {"limit_files", "limit the open files"},
    {"exec", "execute the program"},
    {"announce_program", "hand out the program's pidfd"},
    {"hide_init", "hide init's memory"},
    {"drop_init_capabilities", "drop init's capabilities"},
    {"die_with_supervisor", "arrange to die with the supervisor"},
    {"forbid_init_privileges", "forbid new privileges to init"},
    {"keep_descriptors", "close init's descriptors"},
    {"verify_signals", "verify that signals stay inside"},
    {"install_init_filter", "install init's system call filter"},
    {"release_program", "let the program begin"},
}};

const StepText& text_of(SetupStep step) {
  const auto index = static_cast<std::size_t>(step);
  return kTexts[index < kTexts.size() ? index : 0];
}

}  // namespace

std::string_view step_words(SetupStep step) { return text_of(step).words; }
std::string_view step_name(SetupStep step) { return text_of(step).name; }

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/setup_failure.h"

#include <algorithm>
#include <cerrno>

#include "sandbox/restrictions.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {
namespace {

using sandbox::SetupStep;

constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

std::string told(const sandbox::Explanation& why, const sandbox::Restrictions& around) {
  std::string text = why.cause;
  if (!why.fix.empty()) text += (text.empty() ? "" : "; ") + ("fix: " + why.fix);
  if (const std::string weaker = sandbox::weaker_way(around); !weaker.empty()) {
    text += "; without that, " + weaker;
  }
  return text;
}

// What helps where no process with own namespaces can be made.
std::string namespace_fix(int error) {
  if (error != EPERM && error != EACCES && error != ENOSPC && error != EUSERS) return {};
  const sandbox::Restrictions around = sandbox::observe_restrictions();
  return told(sandbox::explain_namespaces(around, error), around);
}

std::string setup_fix(SetupStep step, int error) {
  const bool is_forbidden = error == EPERM || error == EACCES;
  if (step == SetupStep::mount_proc && is_forbidden) {
    const sandbox::Restrictions around = sandbox::observe_restrictions();
    return told(sandbox::explain_proc(around), around);
  }
  if ((step == SetupStep::private_mounts || step == SetupStep::make_root) && is_forbidden) {
    return namespace_fix(error);
  }
  if (step == SetupStep::place_binds && error == ENOENT) {
    return "what is mounted inside another mount, as below /usr, needs its place there already";
  }
  if ((step == SetupStep::place_binds || step == SetupStep::place_scratch) && error == EINVAL) {
    return "a directory can't be mounted on a file, nor a file on a directory";
  }
  if (step == SetupStep::place_files && error == ENOSPC) return "raise --disk";
  if (step == SetupStep::make_terminal && error == ENOSPC) {
    return "the host's pseudo-terminals are all in use; see /proc/sys/kernel/pty/max";
  }
  if (step == SetupStep::enter_directory && error == ENOENT) {
    return "-w names a directory that is not in the box";
  }
  if (step == SetupStep::hold_at_exec && error == EPERM) {
    return "a dry run needs ptrace, which kernel.yama.ptrace_scope or a filter around us forbids";
  }
  if (step == SetupStep::fork_program && error == EAGAIN) return "raise --pids";
  return {};
}

std::string directories_of(const std::vector<std::string>& paths) {
  std::string list;
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    const std::string directory = path.substr(0, path.rfind('/'));
    if (std::find(seen.begin(), seen.end(), directory) != seen.end()) continue;
    seen.push_back(directory);
    list += (list.empty() ? "" : ", ") + directory;
  }
  return list;
}

}  // namespace

std::string describe_setup_failure(SetupStep step, int error, std::string_view object) {
  std::string what = "set up the box: " + std::string(sandbox::step_words(step));
  if (!object.empty()) what += " '" + std::string(object) + "'";
  std::string text = sys::Error{error, what}.message();
  if (const std::string fix = setup_fix(step, error); !fix.empty()) text += "; " + fix;
  return text;
}

ExecFailure describe_exec_failure(int error, std::string_view name,
                                  const std::vector<std::string>& tried) {
  const std::string quoted = "'" + std::string(name) + "'";
  if (tried.empty()) {
    return {kNotFound, quoted +
                           " was not looked for: PATH is empty; write its whole path, or "
                           "directories into PATH"};
  }
  if (error == ENOENT || error == ENOTDIR) {
    const bool is_path = name.find('/') != std::string_view::npos;
    return {kNotFound,
            is_path ? quoted +
                          " is not in the box, or the interpreter in its first "
                          "line is not"
                    : quoted + " was not found in the box; looked in " + directories_of(tried)};
  }
  std::string text = sys::Error{error, "execute " + quoted}.message();
  if (error == ENOEXEC) text += "; scripts need a #! line or -l LANGUAGE";
  return {kCannotExecute, text};
}

std::string describe_launch_failure(const sys::Error& error) {
  // Binds are prepared there, too, and may be refused for reasons of their own.
  const bool is_about_namespaces = error.what.find("namespace") != std::string::npos;
  const std::string fix = is_about_namespaces ? namespace_fix(error.code) : "";
  return "set up the box: " + error.message() + (fix.empty() ? "" : "; " + fix);
}

}  // namespace wardcase::supervisor

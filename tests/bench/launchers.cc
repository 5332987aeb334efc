// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/bench/launchers.h"

#include <unistd.h>

namespace wardcase::bench {
namespace {

constexpr const char* kBubblewrap = "/usr/bin/bwrap";

// The same namespaces, the same view of the host and no capabilities. What wardcase
// has beyond that (control groups, a system call filter, Landlock, its own init's report,
// limits, relayed output) bubblewrap leaves to whoever calls it.
std::vector<std::string> bubblewrap_prefix() {
  return {kBubblewrap,
          "--unshare-all",
          "--die-with-parent",
          "--new-session",
          "--as-pid-1",
          "--hostname",
          "box",
          "--uid",
          "1000",
          "--gid",
          "1000",
          "--cap-drop",
          "ALL",
          "--ro-bind",
          "/usr",
          "/usr",
          "--symlink",
          "usr/bin",
          "/bin",
          "--symlink",
          "usr/sbin",
          "/sbin",
          "--symlink",
          "usr/lib",
          "/lib",
          "--symlink",
          "usr/lib64",
          "/lib64",
          "--ro-bind-try",
          "/etc/ld.so.cache",
          "/etc/ld.so.cache",
          "--ro-bind-try",
          "/etc/alternatives",
          "/etc/alternatives",
          "--ro-bind-try",
          "/etc/ssl/certs",
          "/etc/ssl/certs",
          "--proc",
          "/proc",
          "--dev",
          "/dev",
          "--tmpfs",
          "/tmp",
          "--tmpfs",
          "/box",
          "--chdir",
          "/box",
          "--clearenv",
          "--setenv",
          "PATH",
          "/usr/local/bin:/usr/bin:/bin",
          "--setenv",
          "HOME",
          "/box",
          "--"};
}

}  // namespace

std::vector<Program> installed_programs() {
  const std::vector<Program> known = {
      {"true", {"/bin/true"}},
      {"bash", {"/bin/bash", "-c", "echo 1"}},
      {"python3", {"/usr/bin/python3", "-I", "-c", "print(1)"}},
      {"node", {"/usr/bin/node", "-e", "console.log(1)"}},
  };
  std::vector<Program> installed;
  for (const Program& program : known) {
    if (::access(program.argv.front().c_str(), X_OK) == 0) installed.push_back(program);
  }
  return installed;
}

Command Launcher::command(const Program& program) const {
  Command command;
  command.argv = prefix;
  command.argv.insert(command.argv.end(), program.argv.begin(), program.argv.end());
  command.user = user;
  return command;
}

std::vector<Launcher> launchers(const std::string& wardcase, std::optional<uid_t> user) {
  std::vector<Launcher> own = {{"bare", {}, {}}};
  if (::access(kBubblewrap, X_OK) == 0) own.push_back({"bwrap", bubblewrap_prefix(), {}});
  own.push_back({"wardcase", {wardcase, "run", "--"}, {}, true});
  std::vector<Launcher> all = own;
  for (Launcher launcher : own) {
    if (!user) break;
    launcher.name += ", user";
    launcher.user = user;
    all.push_back(launcher);
  }
  return all;
}

}  // namespace wardcase::bench

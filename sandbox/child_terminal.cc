// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <asm/termbits.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "sandbox/child.h"
#include "sandbox/sys/kernel.h"

// A terminal for the program. It comes from a devpts instance that only this box
// has: no terminal of the host has a name in there, and those that the program
// makes itself are counted apart. The master goes to the supervisor, which copies
// between it and the caller's terminal; the program never gets hold of that one.
namespace wardcase::sandbox {
namespace {

// The host's pool of pseudo-terminals is for all: one box may take this many.
constexpr const char* kMostTerminals = "64";

int mount_terminals(Child& child, int* mount) noexcept {
  const int fs = sys::fsopen("devpts");  // always a new instance
  if (fs < 0) return errno;
  if (sys::fsconfig_string(fs, "ptmxmode", "0666") < 0) return errno;
  if (sys::fsconfig_string(fs, "mode", "0600") < 0) return errno;
  if (sys::fsconfig_string(fs, "max", kMostTerminals) < 0) return errno;
  if (sys::fsconfig_create(fs) < 0) return errno;
  *mount = sys::fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  if (*mount < 0) return errno;
  (void)::close(fs);
  return sys::move_mount(*mount, child.root, "dev/pts") < 0 ? errno : 0;
}

// The kernel's own beginning, with UTF-8: erasing takes back whole characters then.
int set_terminal(int terminal, const winsize& size) noexcept {
  termios settings = {};
  if (sys::call(SYS_ioctl, terminal, TCGETS, &settings) < 0) return errno;
  settings.c_iflag |= IUTF8;
  if (sys::call(SYS_ioctl, terminal, TCSETS, &settings) < 0) return errno;
  return sys::call(SYS_ioctl, terminal, TIOCSWINSZ, &size) < 0 ? errno : 0;
}

}  // namespace

int make_terminal(Child& child) noexcept {
  if (!child.plan.own_terminal) return 0;
  int mount = -1;
  if (const int error = mount_terminals(child, &mount); error != 0) return error;
  const auto master = static_cast<int>(
      sys::call(SYS_openat, mount, "ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0));
  if (master < 0) return errno;
  const int unlocked = 0;
  if (sys::call(SYS_ioctl, master, TIOCSPTLCK, &unlocked) < 0) return errno;
  child.terminal =
      static_cast<int>(sys::call(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (child.terminal < 0) return errno;
  int error = set_terminal(child.terminal, child.plan.terminal_size);
  if (error == 0) error = send_report(child, SetupMessage::Kind::terminal, master);
  (void)::close(master);
  (void)::close(mount);
  return error;
}

// Stdin is the terminal by now; Ctrl-C and a hang-up reach the program from here on.
int take_terminal(Child& child) noexcept {
  if (!child.plan.own_terminal) return 0;
  return sys::call(SYS_ioctl, 0, TIOCSCTTY, 0) < 0 ? errno : 0;
}

}  // namespace wardcase::sandbox

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace wardcase::test {
namespace {

// The command is the shell's child, as in life: when the leader of a session ends, the
// kernel itself puts the settings back.
constexpr const char* kShell =
    "echo \"before $(stty -g)\"\n"
    "bash -c 'echo \"pid $$\"; exec \"$@\"' - \"$@\"\n"
    "echo \"code $?\"\n"
    "echo \"after $(stty -g)\"\n";

std::vector<std::string> in_shell(std::vector<std::string> command) {
  std::vector<std::string> argv = {"/bin/bash", "-c", kShell, "-"};
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

}  // namespace

Terminal::Terminal(Caller owner) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  std::array<char, 64> name = {};
  if (::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0 ||
      ::ptsname_r(master_.get(), name.data(), name.size()) != 0) {
    ADD_FAILURE() << "no terminal could be made, errno " << errno;
  }
  device_.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_TRUE(device_.is_open());
  if (::geteuid() == 0) (void)!::fchown(device_.get(), uid_of(owner), 0);
  (void)::fcntl(master_.get(), F_SETFL, O_NONBLOCK);
  resize(24, 80);
}

void Terminal::type(std::string_view text) const {
  EXPECT_EQ(::write(master_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

bool Terminal::wait_for(std::string_view wanted, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (const std::size_t at = shown_.find(wanted); at != std::string::npos) {
      passed_ = shown_.substr(0, at);
      shown_.erase(0, at + wanted.size());
      return true;
    }
    if (std::chrono::steady_clock::now() > end) break;
    pollfd entry{master_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 50) <= 0) continue;
    std::array<char, 64UL * 1024> chunk;
    const ssize_t n = ::read(master_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno != EAGAIN) break;
    if (n > 0) shown_.append(chunk.data(), static_cast<std::size_t>(n));
  }
  ADD_FAILURE() << "not shown: [" << wanted << "] but [" << shown_ << "]";
  return false;
}

std::string Terminal::line_after(std::string_view wanted) {
  return wait_for(wanted) && wait_for("\r\n") ? passed_ : std::string();
}

void Terminal::resize(unsigned short rows, unsigned short columns) const {
  const winsize size = {rows, columns, 0, 0};
  EXPECT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0);
}

bool Terminal::is_raw() const {
  termios settings = {};
  EXPECT_EQ(::tcgetattr(master_.get(), &settings), 0);
  return (settings.c_lflag & (ICANON | ISIG | ECHO)) == 0;
}

TerminalSession::TerminalSession(Caller caller, std::vector<std::string> command, Caller owner)
    : terminal_(owner),
      shell_(Command::other(caller, in_shell(std::move(command)))
                 .environment("TERM=vt100")
                 .terminal(terminal_.device())
                 .status_channel()
                 .start()) {
  settings_before_ = terminal_.line_after("before ");
  pid_ = std::atoi(terminal_.line_after("pid ").c_str());
  EXPECT_GT(pid_, 1);
}

TerminalSession::End TerminalSession::finish() {
  End end;
  if (!terminal_.wait_for("code ")) return end;
  end.shown = terminal_.passed();
  end.exit_code = std::atoi(terminal_.line_after("").c_str());
  end.is_restored = terminal_.line_after("after ") == settings_before_;
  end.status = shell_.finish().status();
  return end;
}

std::ostream& operator<<(std::ostream& out, const TerminalSession::End& end) {
  return out << "exit code " << end.exit_code << (end.is_restored ? "" : ", settings not restored")
             << "\n[" << end.shown << "]\n";
}

}  // namespace wardcase::test

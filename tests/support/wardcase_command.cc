// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/wardcase_command.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>

#include "sandbox/sys/retry.h"

namespace wardcase::test {
using namespace std::chrono_literals;
namespace {

constexpr auto kHangs = 60s;
// After the command's end its pipes must end, too: somebody who still holds one is a leak.
constexpr auto kPipesEnd = 10s;

struct Pipe {
  sys::UniqueFd reader;
  sys::UniqueFd writer;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe2 failed, errno " << errno;
    return {};
  }
  return {sys::UniqueFd(ends[0]), sys::UniqueFd(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// What the child needs, ready before fork.
struct Start {
  int stdio[3];      // -1: closed
  int status;        // -1: none
  bool on_terminal;  // all of stdio is one, which becomes the session's
  bool is_traced;
  uid_t uid;
  char* const* argv;
  char* const* envp;
};

[[noreturn]] void become_command(const Start& start) {
  ::signal(SIGPIPE, SIG_DFL);
  for (int fd = 0; fd < 3; ++fd) {
    if (start.stdio[fd] < 0) {
      ::close(fd);
    } else if (::dup2(start.stdio[fd], fd) < 0) {
      ::_exit(121);
    }
  }
  if (start.on_terminal && (::setsid() < 0 || ::ioctl(0, TIOCSCTTY, 0) < 0)) ::_exit(124);
  if (start.status >= 0 && ::dup2(start.status, kStatusFd) < 0) ::_exit(122);
  if (::geteuid() == 0 && start.uid != 0) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(start.uid, start.uid, start.uid) != 0 ||
        ::setresuid(start.uid, start.uid, start.uid) != 0) {
      ::_exit(123);
    }
  }
  // If the test program itself is killed; after the change of ids, which would clear it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (start.is_traced && ::ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) ::_exit(119);
  ::execve(start.argv[0], start.argv, start.envp);
  ::_exit(120);
}

void set_nonblocking(const sys::UniqueFd& fd) {
  if (fd.is_open()) (void)::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
}

bool is_over(int pidfd, std::chrono::milliseconds wait) {
  pollfd entry{pidfd, POLLIN, 0};
  return sys::retry_eintr([&] { return ::poll(&entry, 1, static_cast<int>(wait.count())); }) > 0;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  constexpr std::size_t kEnough = 2000;
  out << "exit code " << outcome.exit_code << ", signal " << outcome.signal << ", "
      << outcome.elapsed.count() << " ms\n";
  for (const std::string& text : outcome.text) {
    out << "[" << std::string_view(text).substr(0, kEnough) << "]\n";
  }
  return out;
}

Running::~Running() {
  if (pid_ < 0 || !pidfd_.is_open()) return;
  ::kill(pid_, SIGKILL);
  (void)::waitpid(pid_, nullptr, 0);
}

void Running::signal(int number) const { EXPECT_EQ(::kill(pid_, number), 0); }

bool Running::is_reading() const {
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [](const sys::UniqueFd& fd) { return fd.is_open(); });
}

void Running::read_channel(std::size_t index) {
  std::array<char, 64 * 1024> chunk;
  const ssize_t n =
      sys::retry_eintr([&] { return ::read(outputs_[index].get(), chunk.data(), chunk.size()); });
  if (n > 0) {
    outcome_.text[index].append(chunk.data(), static_cast<std::size_t>(n));
  } else if (n == 0 || errno != EAGAIN) {
    outputs_[index].reset();
  }
}

void Running::feed_input() {
  const ssize_t n = ::write(input_fd_.get(), input_.data(), input_.size());
  if (n > 0) input_.erase(0, static_cast<std::size_t>(n));
  if (input_.empty() || (n < 0 && errno != EAGAIN)) input_fd_.reset();
}

// One wait for any channel; false if nothing came.
bool Running::read_some(std::chrono::milliseconds wait) {
  if (input_.empty()) input_fd_.reset();
  std::array<pollfd, kChannelCount + 1> entries;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    entries[i] = {outputs_[i].is_open() ? outputs_[i].get() : -1, POLLIN, 0};
  }
  entries[kChannelCount] = {input_fd_.is_open() ? input_fd_.get() : -1, POLLOUT, 0};
  if (::poll(entries.data(), entries.size(), static_cast<int>(wait.count())) <= 0) return false;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    if (entries[i].revents != 0) read_channel(i);
  }
  if (entries[kChannelCount].revents != 0) feed_input();
  return true;
}

bool Running::wait_for(Channel channel, std::string_view wanted, std::chrono::seconds limit) {
  const auto index = static_cast<std::size_t>(channel);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (outcome_.text[index].find(wanted) == std::string::npos) {
    if (!outputs_[index].is_open() || std::chrono::steady_clock::now() > end) return false;
    (void)read_some(50ms);
  }
  return true;
}

bool Running::ends_unread(std::chrono::milliseconds limit) const {
  return is_over(pidfd_.get(), limit);
}

Outcome Running::finish() {
  const auto hangs = started_ + kHangs;
  while (!is_over(pidfd_.get(), 0ms)) {
    if (!is_reading() && !input_fd_.is_open()) {
      (void)is_over(pidfd_.get(), 50ms);
    } else {
      (void)read_some(20ms);
    }
    if (std::chrono::steady_clock::now() > hangs) {
      ADD_FAILURE() << "the command hangs; killed";
      ::kill(pid_, SIGKILL);
      (void)is_over(pidfd_.get(), 10s);
      break;
    }
  }
  outcome_.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - started_);
  int status = reaped_status_.value_or(0);
  if (!reaped_status_) (void)sys::retry_eintr([&] { return ::waitpid(pid_, &status, 0); });
  pidfd_.reset();
  const auto end = std::chrono::steady_clock::now() + kPipesEnd;
  while (is_reading() && std::chrono::steady_clock::now() < end) (void)read_some(50ms);
  EXPECT_FALSE(is_reading()) << "somebody still holds a pipe of the command that ended";
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  return std::move(outcome_);
}

Command::Command(Caller caller, std::vector<std::string> arguments)
    : Command(other(caller, {Workplace::get().command().string()})) {
  argv_.insert(argv_.end(), std::make_move_iterator(arguments.begin()),
               std::make_move_iterator(arguments.end()));
}

Command Command::other(Caller caller, std::vector<std::string> argv) {
  const Workplace& workplace = Workplace::get();
  Command command;
  command.caller_ = caller;
  command.argv_ = std::move(argv);
  command.environment_ = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "LANG=C.UTF-8",
      "HOME=" + workplace.home(caller).string(),
      "XDG_RUNTIME_DIR=" + workplace.runtime(caller).string(),
      "TMPDIR=" + workplace.temporary(caller).string(),
      "CALLERS_SECRET=hunter2",
  };
  return command;
}

Command& Command::environment(std::string assignment) {
  environment_.push_back(std::move(assignment));
  return *this;
}

Command& Command::input(std::string text) {
  has_input_ = true;
  input_ = std::move(text);
  return *this;
}

Command& Command::output_to(int fd) {
  output_fd_ = fd;
  return *this;
}

Command& Command::terminal(int device) {
  terminal_ = device;
  return *this;
}

Command& Command::closed_stdio() {
  closed_stdio_ = true;
  return *this;
}

Command& Command::status_channel() {
  has_status_ = true;
  return *this;
}

Command& Command::traced() {
  is_traced_ = true;
  return *this;
}

Running Command::start() const {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  Pipe status = make_pipe();
  const sys::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<char*> argv = pointers(argv_);
  const std::vector<char*> envp = pointers(environment_);
  Start start{{has_input_ ? in.reader.get() : null.get(),
               output_fd_ >= 0 ? output_fd_ : out.writer.get(), err.writer.get()},
              has_status_ ? status.writer.get() : -1,
              terminal_ >= 0,
              is_traced_,
              uid_of(caller_),
              argv.data(),
              envp.data()};
  if (closed_stdio_) std::fill(std::begin(start.stdio), std::end(start.stdio), -1);
  if (terminal_ >= 0) std::fill(std::begin(start.stdio), std::end(start.stdio), terminal_);

  Running running;
  running.started_ = std::chrono::steady_clock::now();
  running.pid_ = ::fork();
  if (running.pid_ == 0) become_command(start);
  EXPECT_GT(running.pid_, 0);
  running.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, running.pid_, 0)));
  if (has_input_) {
    running.input_ = input_;
    running.input_fd_ = std::move(in.writer);
    set_nonblocking(running.input_fd_);
  }
  running.outputs_ = {std::move(out.reader), std::move(err.reader), std::move(status.reader)};
  for (const sys::UniqueFd& fd : running.outputs_) set_nonblocking(fd);
  return running;
}

}  // namespace wardcase::test

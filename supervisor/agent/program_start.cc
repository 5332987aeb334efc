// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/agent/program_start.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::agent {

namespace {

constexpr std::string_view kUsualPath = "/usr/local/bin:/usr/bin:/bin";

std::array<char*, kMaxStrings + 2> strings;  // argv, its end, envp, its end

std::string_view path_of(char** envp) noexcept {
  constexpr std::string_view kName = "PATH=";
  for (; *envp != nullptr; ++envp) {
    const std::string_view variable = *envp;
    if (variable.starts_with(kName)) return variable.substr(kName.size());
  }
  return kUsualPath;
}

// What stands before the next `end`, which goes with it.
std::string_view take_until(std::string_view& rest, char end) noexcept {
  const std::size_t size = rest.find(end);
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(size == std::string_view::npos ? rest.size() : size + 1);
  return taken;
}

// The program learns where it was found: interpreters look for their files from there.
int execute_at(std::string_view directory, std::string_view name, char** argv,
               char** envp) noexcept {
  char path[PATH_MAX];
  if (directory.size() + 1 + name.size() >= sizeof path) return ENAMETOOLONG;
  std::size_t at = 0;
  if (!directory.empty()) {
    std::memcpy(path, directory.data(), directory.size());
    at = directory.size();
    path[at++] = '/';
  }
  std::memcpy(path + at, name.data(), name.size());
  path[at + name.size()] = '\0';
  argv[0] = path;
  (void)::execve(path, argv, envp);
  return errno;
}

// That it may not be executed says more than that it is not in other places.
int worse(int so_far, int error) noexcept {
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  return is_missing && so_far != 0 ? so_far : error;
}

int execute_candidate(std::string_view name, char** argv, char** envp) noexcept {
  if (name.empty()) return ENOENT;
  if (name.find('/') != std::string_view::npos) return execute_at({}, name, argv, envp);
  int error = 0;
  for (std::string_view path = path_of(envp); !path.empty();) {
    const std::string_view directory = take_until(path, ':');
    if (!directory.empty()) error = worse(error, execute_at(directory, name, argv, envp));
  }
  return error == 0 ? ENOENT : error;
}

int become(const ProgramStart& start, std::span<const int, kStartDescriptors> fds) noexcept {
  if (::setsid() < 0) return errno;
  reset_signals();
  // 0 to 3 are taken in the agent, so that none of the four is below.
  for (int i = 0; i < static_cast<int>(kStartDescriptors); ++i) {
    if (::dup2(fds[static_cast<std::size_t>(i)], i) < 0) return errno;
  }
  if (sys::close_range(kStartDescriptors, ~0U, CLOSE_RANGE_CLOEXEC) < 0) return errno;
  if (::chdir(start.directory) < 0) return errno;
  return execute(start.argv, start.envp);
}

}  // namespace

bool parse_start(std::span<char> message, ProgramStart& start) noexcept {
  StartHead head = {};
  if (message.size() <= sizeof head || message.back() != '\0') return false;
  std::memcpy(&head, message.data(), sizeof head);
  if (head.kind != Kind::start || head.argc == 0 || head.argc > kMaxStrings ||
      head.envc > kMaxStrings - head.argc) {
    return false;
  }
  char* at = message.data() + sizeof head;
  char* const end = message.data() + message.size();
  const auto next = [&]() noexcept {
    char* const text = at;
    if (at != end) at += std::strlen(at) + 1;
    return text == end ? nullptr : text;
  };
  start.id = head.id;
  start.directory = next();
  start.argv = strings.data();
  start.envp = strings.data() + head.argc + 1;
  for (std::uint32_t i = 0; i < head.argc; ++i) start.argv[i] = next();
  for (std::uint32_t i = 0; i < head.envc; ++i) start.envp[i] = next();
  const bool is_whole = at == end && (head.envc == 0 ? start.argv[head.argc - 1] != nullptr
                                                     : start.envp[head.envc - 1] != nullptr);
  start.argv[head.argc] = nullptr;
  start.envp[head.envc] = nullptr;
  return is_whole;
}

void reset_signals() noexcept {
  // By the kernel's structure: the C library keeps two signals for itself.
  struct KernelAction {
    std::uint64_t handler, flags, restorer, mask;
  };
  const KernelAction standard = {};
  for (int signo = 1; signo < NSIG; ++signo) {
    if (signo == SIGKILL || signo == SIGSTOP) continue;
    (void)::syscall(SYS_rt_sigaction, signo, &standard, nullptr, sizeof standard.mask);
  }
  sigset_t none;
  (void)::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int execute(char** argv, char** envp) noexcept {
  int error = 0;
  for (std::string_view candidates = argv[0]; !candidates.empty();) {
    error = worse(error, execute_candidate(take_until(candidates, '\n'), argv, envp));
  }
  return error == 0 ? ENOENT : error;
}

StartedProgram start_program(const ProgramStart& start,
                             std::span<const int, kStartDescriptors> fds) noexcept {
  int report[2];  // closes at the exec, and says before that why there is none
  if (::pipe2(report, O_CLOEXEC) < 0) return {-1, errno};
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int error = become(start, fds);
    (void)!::write(report[1], &error, sizeof error);
    ::_exit(127);
  }
  int error = pid < 0 ? errno : 0;
  (void)::close(report[1]);
  if (pid > 0) {
    (void)!sys::retry_eintr([&]() noexcept { return ::read(report[0], &error, sizeof error); });
  }
  (void)::close(report[0]);
  if (error == 0) return {pid, 0};
  if (pid > 0) (void)sys::retry_eintr([&]() noexcept { return ::waitpid(pid, nullptr, 0); });
  return {-1, error};
}

}  // namespace wardcase::agent

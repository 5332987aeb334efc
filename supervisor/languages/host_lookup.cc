// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/host_lookup.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/config/installed.h"

namespace wardcase::supervisor {
namespace {

constexpr std::chrono::seconds kPatience{15};
constexpr std::size_t kLongestAnswer = 4096;
constexpr std::size_t kMostAddresses = 8;

std::vector<std::string> addresses_in(std::string_view text) {
  std::vector<std::string> addresses;
  while (!text.empty() && addresses.size() < kMostAddresses) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!numeric_address(line, 1).empty()) addresses.push_back(std::move(line));
  }
  return addresses;
}

}  // namespace

std::vector<SocketAddress> numeric_address(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  sockaddr_in four = {};
  sockaddr_in6 six = {};
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&address.storage, &four, sizeof four);
    address.size = sizeof four;
  } else if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&address.storage, &six, sizeof six);
    address.size = sizeof six;
  } else {
    return {};
  }
  return {address};
}

HostLookup::~HostLookup() {
  for (auto& [host, question] : questions_) forget(*question);
}

void HostLookup::find(const std::string& host, Done done) {
  if (!numeric_address(host, 1).empty()) return done(std::vector<std::string>{host});
  auto& question = questions_[host];
  if (question != nullptr && question->is_over) return done(question->addresses);
  if (question == nullptr) {
    question = std::make_unique<Question>();
    if (auto asked = ask(host, *question); !asked) {
      const sys::Error error = asked.error();
      questions_.erase(host);
      return done(tl::unexpected(error));
    }
  }
  question->waiting.push_back(std::move(done));
}

sys::Status HostLookup::ask(const std::string& host, Question& question) {
  const auto companion = find_installed(kCompanion);
  if (!companion) return tl::unexpected(companion.error());
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) < 0) {
    return tl::unexpected(sys::errno_error("make a pipe"));
  }
  question.answer.reset(ends[0]);
  const sys::UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) {
    return tl::unexpected(sys::Error{ENOMEM, "start the look-up"});
  }
  std::string program = *companion;
  std::string verb = "resolve";
  std::string name = host;
  std::array<char*, 4> argv = {program.data(), verb.data(), name.data(), nullptr};
  std::string language = "LANG=C.UTF-8";
  std::array<char*, 2> environment = {language.data(), nullptr};
  int error = ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  if (error == 0) {
    error = ::posix_spawn(&question.pid, program.c_str(), &actions, nullptr, argv.data(),
                          environment.data());
  }
  (void)::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    question.pid = -1;
    return tl::unexpected(sys::Error{error, "execute '" + program + "'"});
  }
  question.timer = loop_.at(Clock::now() + kPatience, [this, host] { finish(host); });
  auto watched = loop_.watch(question.answer.get(), EPOLLIN,
                             [this, host](std::uint32_t) { on_readable(host); });
  if (!watched) forget(question);
  return watched;
}

void HostLookup::on_readable(const std::string& host) {
  Question& question = *questions_[host];
  std::array<char, 1024> chunk;
  const ssize_t got =
      sys::retry_eintr([&] { return ::read(question.answer.get(), chunk.data(), chunk.size()); });
  if (got < 0 && errno == EAGAIN) return;
  if (got > 0) question.text.append(chunk.data(), static_cast<std::size_t>(got));
  if (got <= 0 || question.text.size() > kLongestAnswer) finish(host);
}

void HostLookup::finish(const std::string& host) {
  Question& question = *questions_[host];
  forget(question);
  question.is_over = true;
  question.addresses = addresses_in(question.text);
  if (question.addresses->empty()) {
    question.addresses = tl::unexpected(sys::plain_error("'" + host + "' has no address"));
  }
  // Who hears of it may ask again, which is answered at once.
  const std::vector<Done> waiting = std::exchange(question.waiting, {});
  const auto addresses = question.addresses;
  for (const Done& done : waiting) done(addresses);
}

// It has nothing left to do once it closed its output, or was too slow.
void HostLookup::forget(Question& question) {
  loop_.cancel(std::exchange(question.timer, 0));
  if (question.answer.is_open()) loop_.forget(question.answer.get());
  question.answer.reset();
  const pid_t pid = std::exchange(question.pid, -1);
  if (pid < 0) return;
  (void)::kill(pid, SIGKILL);  // not reaped yet, so the number is still its own
  int status = 0;
  (void)sys::retry_eintr([&] { return ::waitpid(pid, &status, 0); });
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/own_report.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

constexpr std::chrono::seconds kFresh{10};
constexpr std::chrono::seconds kPatience{60};
constexpr std::size_t kMostBytes = 4 << 20;
constexpr const char* kOurselves = "/proc/self/exe";

}  // namespace

OwnReport::OwnReport(EventLoop& loop, std::string verb) : loop_(loop), verb_(std::move(verb)) {}

OwnReport::~OwnReport() {
  loop_.cancel(deadline_);
  end_process();
}

std::uint64_t OwnReport::ask(Told told) {
  if (!report_.empty() && Clock::now() < made_at_ + kFresh) {
    told(report_);
    return 0;
  }
  const std::uint64_t asker = next_++;
  askers_.emplace(asker, std::move(told));
  if (process_ > 0) return asker;
  if (auto started = start(); !started) conclude(tl::unexpected(std::move(started).error()));
  return asker;
}

sys::Status OwnReport::start() {
  const std::string what = "start '" + verb_ + "'";
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error(what));
  output_.reset(ends[0]);
  const sys::UniqueFd to(ends[1]);
  posix_spawn_file_actions_t actions;
  if (const int error = ::posix_spawn_file_actions_init(&actions); error != 0) {
    return tl::unexpected(sys::Error{error, what});
  }
  std::string program = "wardcase-server";
  std::string form = "--json";
  const std::array<char*, 4> argv = {program.data(), verb_.data(), form.data(), nullptr};
  int error = ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  if (error == 0) {
    error = ::posix_spawn(&process_, kOurselves, &actions, nullptr, argv.data(), environ);
  }
  (void)::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    process_ = -1;
    return tl::unexpected(sys::Error{error, what});
  }
  deadline_ = loop_.at(Clock::now() + kPatience, [this] {
    deadline_ = 0;
    conclude(tl::unexpected(sys::plain_error("'" + verb_ + "' did not end in time")));
  });
  return loop_.watch(output_.get(), EPOLLIN, [this](std::uint32_t) { on_readable(); });
}

void OwnReport::on_readable() {
  std::array<char, 64 << 10> chunk;
  const ssize_t got =
      sys::retry_eintr([&] { return ::read(output_.get(), chunk.data(), chunk.size()); });
  if (got > 0 && text_.size() < kMostBytes) {
    text_.append(chunk.data(), static_cast<std::size_t>(got));
    return;
  }
  if (got != 0 || text_.empty()) {
    return conclude(tl::unexpected(sys::plain_error("'" + verb_ + "' told nothing of use")));
  }
  report_ = text_;
  made_at_ = Clock::now();
  conclude(report_);
}

// It has closed its output, or is not waited for any longer; either way it does nothing more.
void OwnReport::end_process() {
  if (output_.is_open()) loop_.forget(output_.get());
  output_.reset();
  if (process_ <= 0) return;
  (void)::kill(process_, SIGKILL);  // not reaped yet, so the number is still its own
  (void)sys::retry_eintr([this] { return ::waitpid(process_, nullptr, 0); });
  process_ = -1;
}

void OwnReport::conclude(const sys::Result<std::string>& report) {
  loop_.cancel(std::exchange(deadline_, 0));
  end_process();
  text_.clear();
  const auto askers = std::exchange(askers_, {});
  for (const auto& [asker, told] : askers) told(report);
}

}  // namespace wardcase::supervisor

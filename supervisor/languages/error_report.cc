// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/error_report.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/languages/hook_setup.h"

namespace wardcase::supervisor {
namespace {

// Takes all that is told at once, as a rule.
constexpr std::size_t kChunk = 16 * 1024;

}  // namespace

ErrorReport::~ErrorReport() { close_channel(); }

void ErrorReport::before(EventLoop& loop, Host& /*host*/, RunSpec& program, StageNotes& /*notes*/,
                         Done done) {
  scene_.has_stdin = program.stdin_source.is_open() || program.terminal.has_value();
  if (prelude_) scene_.prelude = prelude_->name;
  if (auto prepared = prepare(loop, program); !prepared) {
    return done(PartFailure{
        RunStatus::setup_failed,
        std::move(prepared).error().while_doing("hook into the interpreter").message()});
  }
  done(std::nullopt);
}

sys::Status ErrorReport::prepare(EventLoop& loop, RunSpec& program) {
  if (hook_ == nullptr || (!hook_->tells_errors && !prelude_)) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  channel_.reset(ends[0]);
  program.channel.reset(ends[1]);
  // Node.js opens it once more, by /proc, as whoever it is in the box; nobody is to read it.
  if (::fcntl(channel_.get(), F_SETFL, O_NONBLOCK) < 0 || ::fchmod(ends[1], 0222) < 0) {
    return tl::unexpected(sys::errno_error("set up a pipe"));
  }
  if (auto watched = loop.watch(channel_.get(), EPOLLIN, [this](std::uint32_t) { read_some(); });
      !watched) {
    return watched;
  }
  loop_ = &loop;
  if (auto set_up = set_up_hook(*hook_, program); !set_up) return set_up;
  return prelude_ ? set_up_prelude(*hook_, *std::move(prelude_), program) : sys::Status();
}

sys::Result<std::unique_ptr<JobPart>> ErrorReport::another() const {
  std::optional<Prelude> prelude;
  if (prelude_) {
    sys::UniqueFd content(::fcntl(prelude_->content.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!content.is_open()) return tl::unexpected(sys::errno_error("share the prelude"));
    prelude = {prelude_->name, std::move(content)};
  }
  return std::make_unique<ErrorReport>(hook_, std::move(prelude));
}

// A chunk a wake-up. Who tells more than could be meant for us is not listened to: he may wait or
// be killed by his own write, as by any pipe that nobody reads.
void ErrorReport::read_some() {
  std::array<char, kChunk> chunk;
  const ssize_t got =
      sys::retry_eintr([&] { return ::read(channel_.get(), chunk.data(), chunk.size()); });
  if (got < 0 && errno == EAGAIN) return;
  if (got > 0) told_.append(chunk.data(), static_cast<std::size_t>(got));
  if (got <= 0 || told_.size() >= kMostTold) close_channel();
}

void ErrorReport::close_channel() {
  if (loop_ != nullptr) loop_->forget(channel_.get());
  loop_ = nullptr;
  channel_.reset();
}

void ErrorReport::after(EventLoop& /*loop*/, int /*box_directory*/, RunRecord& record,
                        std::function<void()> resume) {
  // What is still in the pipe. Its other end may live on in the queue of a socket.
  for (std::size_t before = told_.size() + 1; channel_.is_open() && before != told_.size();) {
    before = told_.size();
    read_some();
  }
  close_channel();
  describe_error(parse_told(told_), scene_, record);
  resume();
}

}  // namespace wardcase::supervisor

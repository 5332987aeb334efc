// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/worker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace wardcase::supervisor {

namespace {

// Else opening /dev/stdin and the like inside would be refused.
sys::Status give(int fd, const BoxUser& owner) {
  if (owner.uid == ::geteuid()) return {};
  if (::fchown(fd, owner.uid, owner.gid) == 0) return {};
  // To an id of a pool an ordinary user can give nothing. Only who has the pipe can open it again.
  if (errno == EPERM && ::fchmod(fd, 0666) == 0) return {};
  return tl::unexpected(sys::errno_error("give a pipe to the box's user"));
}

}  // namespace

// What can't be read any more has ended for us; the end of the process tells the rest.
Worker::Worker(EventLoop& loop, std::uint32_t id, Events events)
    : id_(id),
      events_(std::move(events)),
      input_(loop),
      out_(
          loop, [this](std::string_view bytes) { events_.on_output(Stream::out, bytes); },
          [](int) {}),
      err_(
          loop, [this](std::string_view bytes) { events_.on_output(Stream::err, bytes); },
          [](int) {}),
      channel_(loop, {.frame = kMostWorkerFrame, .waiting = 2 * kMostWorkerFrame},
               {.on_frame = [this](std::string_view frame) { on_frame(frame); },
                .on_closed = [this](const std::string&) { events_.on_broken(""); }}) {}

sys::Status Worker::start(AgentLink& agent, const LiveInterpreter& interpreter,
                          const std::vector<std::string>& environment, const BoxUser& owner) {
  auto input = input_.make();
  if (!input) return tl::unexpected(std::move(input).error());
  if (auto given = give(input->get(), owner); !given) return given;
  auto out = make_output(Stream::out, owner);
  if (!out) return tl::unexpected(std::move(out).error());
  auto err = make_output(Stream::err, owner);
  if (!err) return tl::unexpected(std::move(err).error());
  auto channel = make_channel();
  if (!channel) return tl::unexpected(std::move(channel).error());
  dialect_ = interpreter.dialect;
  std::vector<std::string> arguments = {interpreter.programs};
  arguments.insert(arguments.end(), interpreter.arguments.begin(), interpreter.arguments.end());
  return agent.start(
      {.id = id_, .directory = "/box", .arguments = arguments, .environment = environment},
      {input->get(), out->get(), err->get(), channel->get()});
}

sys::Result<sys::UniqueFd> Worker::make_output(Stream stream, const BoxUser& owner) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  sys::UniqueFd ours(ends[0]);
  sys::UniqueFd theirs(ends[1]);
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) < 0) {
    return tl::unexpected(sys::errno_error("make a pipe non-blocking"));
  }
  if (auto given = give(theirs.get(), owner); !given) return tl::unexpected(given.error());
  OutputPump& pump = stream == Stream::out ? out_ : err_;
  if (auto opened = pump.open(std::move(ours)); !opened) return tl::unexpected(opened.error());
  return theirs;
}

sys::Result<sys::UniqueFd> Worker::make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
    return tl::unexpected(sys::errno_error("make a socket pair"));
  }
  sys::UniqueFd theirs(ends[1]);
  auto opened = channel_.open(sys::UniqueFd(ends[0]));
  if (!opened) return tl::unexpected(std::move(opened).error());
  return theirs;
}

void Worker::execute(Handling handling, std::string_view id, std::string_view name,
                     std::string_view code, std::string_view nonce) {
  if (dialect_ == Dialect::lines) {
    return channel_.send_bytes(exec_lines(handling, id, name, code, nonce));
  }
  channel_.send(exec_message(handling, id, name, code));
  channel_.send(nonce_message(nonce));
}

void Worker::pause_output(bool paused) {
  for (OutputPump* pump : {&out_, &err_}) {
    if (paused) {
      pump->pause();
    } else {
      pump->resume();
    }
  }
}

void Worker::drain() {
  out_.drain();
  err_.drain();
}

void Worker::on_frame(std::string_view frame) {
  auto message = parse_worker_message(frame);
  if (!message) {
    channel_.close();
    return events_.on_broken("what its interpreter said " + message.error().message());
  }
  switch (message->kind) {
    case WorkerMessage::Kind::ready:
      if (std::exchange(is_ready_, true)) return;
      version_ = std::move(message->version);
      return events_.on_ready();
    case WorkerMessage::Kind::begun:
      return events_.on_begun(message->begun);
    case WorkerMessage::Kind::done:
      return events_.on_done(std::move(message->done));
    case WorkerMessage::Kind::ok:
      return events_.on_added();
  }
}

}  // namespace wardcase::supervisor

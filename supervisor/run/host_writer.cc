// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A writer tries at once and keeps what does not go. While something is kept it
// waits for room; it watches nothing otherwise, so that a reader that goes away
// is noticed when there is something to tell it, as with any other program.
// With a relay it writes to the relay's pipe in the same way, and the end of the
// relay tells what became of it all.
#include <sys/epoll.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/run/host_descriptor.h"
#include "supervisor/run/host_relay.h"
#include "supervisor/run/host_stream.h"

namespace wardcase::supervisor {
namespace {

class BufferedWriter final : public HostWriter {
 public:
  BufferedWriter(EventLoop& loop, HostDescriptor descriptor, Events events)
      : loop_(loop), descriptor_(std::move(descriptor)), events_(std::move(events)) {}
  BufferedWriter(const BufferedWriter&) = delete;
  BufferedWriter& operator=(const BufferedWriter&) = delete;
  ~BufferedWriter() override;

  // Puts a relay between: its pipe takes the place of the descriptor.
  [[nodiscard]] sys::Status start_relay();

  void write(std::string_view bytes) override;
  [[nodiscard]] bool is_blocked() const override { return !kept_.empty(); }
  void finish() override;

 private:
  [[nodiscard]] std::size_t write_some(std::string_view bytes);
  void wait_for_room();
  void on_room();
  void forget_room();
  void complete();
  void on_relay_end();
  void break_off(int error);
  void stop_writing();

  EventLoop& loop_;
  HostDescriptor descriptor_;
  Events events_;
  std::optional<Relay> relay_;  // until it has ended
  std::string kept_;
  std::size_t sent_ = 0;  // of kept_, from its start
  EventLoop::TimerId drained_timer_ = 0;
  int error_before_relay_ = 0;
  bool is_writable_ = true;  // false: nothing more goes out
  bool is_finishing_ = false;
};

BufferedWriter::~BufferedWriter() {
  loop_.cancel(drained_timer_);
  forget_room();
  if (relay_) loop_.forget(relay_->pidfd());
}

sys::Status BufferedWriter::start_relay() {
  auto relayed = Relay::start(descriptor_.fd.get(), HostAccess::writing);
  if (!relayed) return tl::unexpected(std::move(relayed).error());
  auto watched =
      loop_.watch(relayed->relay.pidfd(), EPOLLIN, [this](std::uint32_t) { on_relay_end(); });
  if (!watched) return watched;
  relay_.emplace(std::move(relayed->relay));
  descriptor_ = std::move(relayed->pipe);
  return {};
}

void BufferedWriter::write(std::string_view bytes) {
  if (!is_writable_) return;
  if (is_blocked()) {
    kept_ += bytes;
    return;
  }
  bytes.remove_prefix(write_some(bytes));
  if (bytes.empty() || !is_writable_) return;
  kept_ = bytes;
  sent_ = 0;
  wait_for_room();
}

// Returns how much went out, short only where it would wait or all is over.
std::size_t BufferedWriter::write_some(std::string_view bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = write_now(descriptor_, bytes.substr(written));
    if (n < 0) {
      if (errno != EAGAIN) break_off(errno);
      break;
    }
    written += static_cast<std::size_t>(n);
  }
  return written;
}

void BufferedWriter::wait_for_room() {
  auto watched = loop_.watch(descriptor_.fd.get(), EPOLLOUT, [this](std::uint32_t) { on_room(); });
  if (!watched) return break_off(watched.error().code);
  if (events_.on_blocked) events_.on_blocked();
}

void BufferedWriter::on_room() {
  sent_ += write_some(std::string_view(kept_).substr(sent_));
  // Moved up now and then only: each time would cost the square of its size.
  if (sent_ >= kept_.size() / 2) kept_.erase(0, std::exchange(sent_, 0));
  if (is_blocked() || !is_writable_) return;
  forget_room();
  if (is_finishing_) {
    complete();
  } else if (events_.on_drained) {
    events_.on_drained();
  }
}

void BufferedWriter::forget_room() {
  if (descriptor_.fd.is_open()) loop_.forget(descriptor_.fd.get());
}

void BufferedWriter::finish() {
  if (std::exchange(is_finishing_, true)) return;
  if (!is_blocked()) complete();
}

// In a later turn, so that nobody is called back from within finish().
void BufferedWriter::complete() {
  stop_writing();
  if (relay_) return;  // the end of file is on its way to it
  drained_timer_ = loop_.at(Clock::now(), [this] {
    if (events_.on_drained) events_.on_drained();
  });
}

void BufferedWriter::on_relay_end() {
  loop_.forget(relay_->pidfd());
  const int told = relay_->reap();
  const int error = error_before_relay_ != 0 ? error_before_relay_ : told;
  relay_.reset();
  stop_writing();
  if (error == 0 && is_finishing_) {
    if (events_.on_drained) events_.on_drained();
  } else if (events_.on_broken) {
    events_.on_broken(error != 0 ? error : EPIPE);
  }
}

void BufferedWriter::break_off(int error) {
  stop_writing();
  if (relay_) {  // it ends now; why its reader went it knows, but not why we could not write to it
    if (error != EPIPE) error_before_relay_ = error;
    return;
  }
  if (events_.on_broken) events_.on_broken(error);
}

void BufferedWriter::stop_writing() {
  is_writable_ = false;
  kept_.clear();
  sent_ = 0;
  forget_room();
  descriptor_.fd.reset();
}

}  // namespace

sys::Result<std::unique_ptr<HostWriter>> HostWriter::open(EventLoop& loop, int fd, Events events) {
  auto descriptor = open_host_descriptor(fd, HostAccess::writing);
  if (!descriptor) return tl::unexpected(std::move(descriptor).error());
  const bool needs_relay = descriptor->use == HostUse::relay;
  auto writer = std::make_unique<BufferedWriter>(loop, *std::move(descriptor), std::move(events));
  if (needs_relay) {
    if (auto started = writer->start_relay(); !started) {
      return tl::unexpected(std::move(started).error());
    }
  }
  return writer;
}

}  // namespace wardcase::supervisor

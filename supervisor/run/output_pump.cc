// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/output_pump.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kChunkBytes = 64UL * 1024;
// From so many bytes on a stream is long: it gets the largest pipe that an ordinary user may
// have (pipe(7)). Not before, as a user's pipes are few. Larger chunks would not help: what
// reads us has an ordinary pipe.
constexpr std::size_t kLongStream = 1024UL * 1024;
constexpr int kLargestPipe = 1024 * 1024;
constexpr std::size_t kLargestPty = 1024UL * 1024;

// What can be in `fd` at most. Asked late, since the program may have resized its pipe.
std::size_t capacity_of(int fd) {
  const int bytes = ::fcntl(fd, F_GETPIPE_SZ);
  return bytes < 0 ? kLargestPty : static_cast<std::size_t>(bytes);
}

}  // namespace

OutputPump::OutputPump(EventLoop& loop, Sink sink, OnBroken on_broken)
    : loop_(loop), sink_(std::move(sink)), on_broken_(std::move(on_broken)) {}

OutputPump::~OutputPump() { close(); }

sys::Status OutputPump::open(sys::UniqueFd source) {
  auto watched = loop_.watch(source.get(), paused_ ? EPOLLET : EPOLLIN,
                             [this](std::uint32_t) { on_readable(); });
  if (watched) source_ = std::move(source);
  return watched;
}

// Edge-triggered without events: a hang-up, which can't be masked, is then told
// once and does not turn the loop. Changing a watch needs no memory, unlike
// forgetting it and watching anew.
void OutputPump::pause() {
  paused_ = true;
  if (source_.is_open()) (void)loop_.change(source_.get(), EPOLLET);
}

void OutputPump::resume() {
  paused_ = false;
  if (!source_.is_open()) return;
  if (auto changed = loop_.change(source_.get(), EPOLLIN); !changed) {
    close();
    on_broken_(changed.error().code);
  }
}

void OutputPump::on_readable() {
  if (!paused_) (void)read_chunk();
}

void OutputPump::drain() {
  if (!source_.is_open()) return;
  std::size_t left = capacity_of(source_.get());
  while (source_.is_open()) {
    const std::size_t bytes = read_chunk();
    if (bytes == 0 || bytes >= left) return;
    left -= bytes;
  }
}

void OutputPump::close() {
  if (!source_.is_open()) return;
  loop_.forget(source_.get());
  source_.reset();
}

// Returns how many bytes came; closes at the end. On the heap no page
// of the chunk is touched but those that were read into; a stack is probed and cleared.
std::size_t OutputPump::read_chunk() {
  const auto chunk = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  const ssize_t n =
      sys::retry_eintr([&] { return ::read(source_.get(), chunk.get(), kChunkBytes); });
  if (n > 0) {
    count(static_cast<std::size_t>(n));
    sink_({chunk.get(), static_cast<std::size_t>(n)});
    return static_cast<std::size_t>(n);
  }
  if (n < 0 && errno == EAGAIN) return 0;
  const int error = n < 0 ? errno : 0;
  close();
  if (error != 0) on_broken_(error);
  return 0;
}

void OutputPump::count(std::size_t bytes) {
  const bool was_short = total_ < kLongStream;
  total_ += bytes;
  if (was_short && total_ >= kLongStream) {
    (void)::fcntl(source_.get(), F_SETPIPE_SZ, kLargestPipe);  // it goes on without as well
  }
}

}  // namespace wardcase::supervisor

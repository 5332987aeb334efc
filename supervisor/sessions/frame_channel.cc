// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/frame_channel.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kHead = 4;
constexpr std::size_t kChunk = 64UL * 1024;

std::size_t size_in(std::string_view head) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kHead; ++i) size = size << 8 | static_cast<unsigned char>(head[i]);
  return size;
}

std::string frame_head(std::size_t size) {
  std::string head;
  for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(size >> shift & 0xff);
  return head;
}

}  // namespace

sys::Status FrameChannel::open(sys::UniqueFd socket) {
  auto watched =
      loop_.watch(socket.get(), EPOLLIN, [this](std::uint32_t events) { on_event(events); });
  if (watched) socket_ = std::move(socket);
  return watched;
}

void FrameChannel::send(std::string_view frame) {
  if (!is_open()) return;
  out_ += frame_head(frame.size());
  send_bytes(frame);
}

void FrameChannel::send_bytes(std::string_view bytes) {
  if (!is_open()) return;
  out_ += bytes;
  if (!is_writing_) return write_some();
  if (out_.size() > bounds_.waiting) give_up();
}

void FrameChannel::close() {
  if (!is_open()) return;
  loop_.forget(socket_.get());
  socket_.reset();
  in_.clear();
  out_.clear();
}

void FrameChannel::on_event(std::uint32_t events) {
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some();
  if (is_open() && (events & EPOLLOUT) != 0) write_some();
}

// One chunk a wake-up: a peer that sends without pause must not hold the loop.
void FrameChannel::read_some() {
  const auto chunk = std::make_unique_for_overwrite<char[]>(kChunk);
  const ssize_t n =
      sys::retry_eintr([&] { return ::recv(socket_.get(), chunk.get(), kChunk, MSG_DONTWAIT); });
  if (n < 0 && errno == EAGAIN) return;
  if (n < 0) return fail(sys::errno_error("receive").message());
  if (n == 0) return fail("it has gone");
  in_.append(chunk.get(), static_cast<std::size_t>(n));
  take_frames();
}

void FrameChannel::take_frames() {
  std::size_t at = 0;
  while (is_open() && in_.size() - at >= kHead) {
    const std::size_t size = size_in(std::string_view(in_).substr(at, kHead));
    if (size > bounds_.frame) return fail("it sent a frame of " + std::to_string(size) + " bytes");
    if (in_.size() - at - kHead < size) break;
    const std::string frame = in_.substr(at + kHead, size);  // the handler may close us
    at += kHead + size;
    events_.on_frame(frame);
  }
  if (is_open()) in_.erase(0, at);
}

void FrameChannel::write_some() {
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t n = sys::retry_eintr([&] {
      return ::send(socket_.get(), out_.data() + sent, out_.size() - sent,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
    });
    if (n < 0 && errno == EAGAIN) break;
    // Told in a turn of its own, when it is read: whoever sends is not called back.
    if (n < 0) {
      out_.clear();
      return watch_for(/*writing=*/false);
    }
    sent += static_cast<std::size_t>(n);
  }
  out_.erase(0, sent);
  if (out_.size() > bounds_.waiting) give_up();
  const bool was_writing = is_writing_;
  watch_for(!out_.empty());
  if (was_writing && out_.empty() && events_.on_drained) events_.on_drained();
}

// A peer that takes nothing. It is told as gone when that is read, so that nobody is called back
// from within send().
void FrameChannel::give_up() {
  out_.clear();
  (void)::shutdown(socket_.get(), SHUT_RDWR);
}

void FrameChannel::watch_for(bool writing) {
  if (writing == is_writing_) return;
  is_writing_ = writing;
  settle_events();
}

void FrameChannel::set_paused(bool is_paused) {
  if (is_paused == is_paused_ || !is_open()) return;
  is_paused_ = is_paused;
  settle_events();
}

void FrameChannel::settle_events() {
  const std::uint32_t reading = is_paused_ ? 0U : std::uint32_t{EPOLLIN};
  (void)loop_.change(socket_.get(), is_writing_ ? reading | EPOLLOUT : reading);  // needs no memory
}

void FrameChannel::fail(const std::string& why) {
  close();
  events_.on_closed(why);
}

}  // namespace wardcase::supervisor

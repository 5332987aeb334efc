// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/stdin_gate.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

sys::Result<sys::UniqueFd> StdinGate::make() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return tl::unexpected(sys::errno_error("make a pipe"));
  sys::UniqueFd theirs(ends[0]);
  write_.reset(ends[1]);
  // A description of our own: theirs has to block, and ours not.
  const std::string path = "/proc/self/fd/" + std::to_string(theirs.get());
  read_.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!read_.is_open()) return tl::unexpected(sys::errno_error("open a pipe's reading end"));
  write_.reset();
  return theirs;
}

sys::Status StdinGate::let_in() {
  const std::string path = "/proc/self/fd/" + std::to_string(read_.get());
  write_.reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!write_.is_open()) return tl::unexpected(sys::errno_error("open a pipe's writing end"));
  is_finishing_ = false;
  return {};
}

sys::Status StdinGate::write(std::string_view bytes, std::function<void()> taken) {
  if (!write_.is_open() || is_finishing_) {
    return tl::unexpected(sys::plain_error("its stdin is not open"));
  }
  if (waiting_.size() + bytes.size() > kMostWaiting) {
    return tl::unexpected(sys::Error{EAGAIN, "pass it on: too much waits to be read"});
  }
  waiting_ += bytes;
  if (taken) taken_ = std::move(taken);
  write_some();
  return {};
}

void StdinGate::finish() {
  is_finishing_ = true;
  if (waiting_.empty()) close_write();
}

void StdinGate::shut() {
  close_write();
  waiting_.clear();
  taken_ = nullptr;
  if (!read_.is_open()) return;
  std::array<char, 4096> rest;
  while (sys::retry_eintr([&] { return ::read(read_.get(), rest.data(), rest.size()); }) > 0) {
  }
}

bool StdinGate::is_empty() const {
  int bytes = 0;
  return waiting_.empty() && ::ioctl(read_.get(), FIONREAD, &bytes) == 0 && bytes == 0;
}

void StdinGate::write_some() {
  while (!waiting_.empty()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::write(write_.get(), waiting_.data(), waiting_.size()); });
    if (n < 0) break;  // EAGAIN: our own reading end keeps it from being anything else
    waiting_.erase(0, static_cast<std::size_t>(n));
  }
  if (waiting_.empty()) {
    if (const auto taken = std::exchange(taken_, nullptr)) taken();
    if (is_finishing_) return close_write();
  }
  const bool has_to_wait = !waiting_.empty();
  if (has_to_wait == is_watched_) return;
  if (has_to_wait) {
    is_watched_ =
        loop_.watch(write_.get(), EPOLLOUT, [this](std::uint32_t) { write_some(); }).has_value();
  } else {
    loop_.forget(write_.get());
    is_watched_ = false;
  }
}

void StdinGate::close_write() {
  if (!write_.is_open()) return;
  loop_.forget(write_.get());
  is_watched_ = false;
  write_.reset();
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// One chunk a turn of the loop: read, then written; nothing is read while bytes of
// the last chunk still wait for room in the program's pipe.
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/run/host_descriptor.h"
#include "supervisor/run/host_relay.h"
#include "supervisor/run/host_stream.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kChunkBytes = 64UL * 1024;
constexpr std::uint32_t kOnceReadable = EPOLLIN | EPOLLONESHOT;

class ChunkPump final : public StdinPump {
 public:
  ChunkPump(EventLoop& loop, HostDescriptor source, std::optional<Relay> relay, sys::UniqueFd sink,
            std::function<void(int)> on_broken)
      : loop_(loop),
        source_(std::move(source)),
        relay_(std::move(relay)),
        sink_(std::move(sink)),
        on_broken_(std::move(on_broken)) {}
  ChunkPump(const ChunkPump&) = delete;
  ChunkPump& operator=(const ChunkPump&) = delete;
  ~ChunkPump() override { close(); }

  [[nodiscard]] sys::Status start();
  [[nodiscard]] int idle_sink() const override;
  [[nodiscard]] std::uint64_t passed() const override { return passed_; }

 private:
  void read_chunk();
  void write_kept();
  void read_on();
  void on_sink(std::uint32_t events);
  void await(int fd, std::uint32_t events);
  void break_off(int error);
  void close();

  EventLoop& loop_;
  HostDescriptor source_;
  std::optional<Relay> relay_;
  sys::UniqueFd sink_;
  std::function<void(int)> on_broken_;
  std::string kept_;  // of the last chunk, not yet written
  std::uint64_t passed_ = 0;
  EventLoop::TimerId next_read_ = 0;
};

// The sink is watched all the time, if only for EPOLLERR: the program has closed
// its stdin, and nothing more may be taken from ours.
sys::Status ChunkPump::start() {
  auto sink_watched =
      loop_.watch(sink_.get(), 0, [this](std::uint32_t events) { on_sink(events); });
  if (!sink_watched) return sink_watched;
  if (source_.use != HostUse::direct) {
    auto source_watched =
        loop_.watch(source_.fd.get(), kOnceReadable, [this](std::uint32_t) { read_chunk(); });
    if (!source_watched) return source_watched;
  }
  read_on();
  return {};
}

// Tries before it waits: a named pipe whose writers were all gone before we
// reopened it never reports its end, it only reads as ended. A terminal, though,
// would stop a background job that tries.
void ChunkPump::read_on() {
  if (source_.is_terminal) {
    await(source_.fd.get(), kOnceReadable);
    return;
  }
  loop_.cancel(next_read_);
  next_read_ = loop_.at(Clock::now(), [this] { read_chunk(); });
}

int ChunkPump::idle_sink() const {
  pollfd source = {source_.fd.get(), POLLIN, 0};
  const bool has_more = !kept_.empty() || ::poll(&source, 1, 0) != 0;
  return sink_.is_open() && !has_more ? sink_.get() : -1;
}

void ChunkPump::read_chunk() {
  if (!kept_.empty()) return;  // goes on when that is written
  std::array<char, kChunkBytes> chunk;
  const ssize_t n = read_now(source_, chunk);
  if (n > 0) {
    kept_.assign(chunk.data(), static_cast<std::size_t>(n));
    write_kept();
  } else if (n < 0 && errno == EAGAIN) {
    await(source_.fd.get(), kOnceReadable);
  } else if (n < 0 && !(source_.is_terminal && errno == EIO)) {
    break_off(errno);
  } else {
    close();
  }
}

void ChunkPump::write_kept() {
  while (!kept_.empty()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::write(sink_.get(), kept_.data(), kept_.size()); });
    if (n < 0) {
      if (errno == EAGAIN) return await(sink_.get(), EPOLLOUT);
      return errno == EPIPE ? close() : break_off(errno);
    }
    kept_.erase(0, static_cast<std::size_t>(n));
    passed_ += static_cast<std::size_t>(n);
  }
  read_on();
}

void ChunkPump::on_sink(std::uint32_t events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return close();
  await(sink_.get(), 0);
  if (!kept_.empty()) write_kept();
}

void ChunkPump::await(int fd, std::uint32_t events) {
  const auto changed = loop_.change(fd, events);
  if (!changed) break_off(changed.error().code);
}

void ChunkPump::break_off(int error) {
  close();
  on_broken_(error);
}

void ChunkPump::close() {
  if (!sink_.is_open()) return;
  kept_.clear();
  loop_.cancel(next_read_);
  loop_.forget(sink_.get());
  loop_.forget(source_.fd.get());
  relay_.reset();
  source_.fd.reset();
  sink_.reset();
}

}  // namespace

sys::Result<std::unique_ptr<StdinPump>> StdinPump::open(EventLoop& loop, sys::UniqueFd source,
                                                        sys::UniqueFd sink,
                                                        std::function<void(int)> on_broken) {
  auto descriptor = open_host_descriptor(source.get(), HostAccess::reading);
  if (!descriptor) return tl::unexpected(std::move(descriptor).error());
  std::optional<Relay> relay;
  if (descriptor->use == HostUse::relay) {
    auto relayed = Relay::start(descriptor->fd.get(), HostAccess::reading);
    if (!relayed) return tl::unexpected(std::move(relayed).error());
    relay.emplace(std::move(relayed->relay));
    descriptor = std::move(relayed->pipe);
  }
  auto pump = std::make_unique<ChunkPump>(loop, *std::move(descriptor), std::move(relay),
                                          std::move(sink), std::move(on_broken));
  if (auto started = pump->start(); !started) return tl::unexpected(std::move(started).error());
  return pump;
}

}  // namespace wardcase::supervisor

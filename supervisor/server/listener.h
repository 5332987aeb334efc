// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/server/connection.h"

namespace wardcase::supervisor {

// From where a port may be reached.
enum class Reach : bool { this_host, anywhere };

// A socket that takes clients. One of our own is removed with it.
class Listener {
 public:
  // `unix:PATH` or `tcp:HOST:PORT`. A Unix socket is the caller's alone (0600); one that a
  // dead server left is replaced, one that somebody listens on is not. Where whoever reaches
  // it is asked for no token, TCP is for this host alone.
  static sys::Result<Listener> open(std::string_view address, Reach reach = Reach::this_host);
  // One that the service manager opened: what it allows is the administrator's to say,
  // but for TCP beyond this host.
  static sys::Result<Listener> adopt(sys::UniqueFd socket, Reach reach);

  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  // Another process listens on it: it is not removed with this one.
  void disown() { path_.clear(); }
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] Transport transport() const { return transport_; }
  [[nodiscard]] bool is_handed() const { return path_.empty() && is_handed_; }
  // As --listen has it, with the port that was chosen.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  Listener(sys::UniqueFd socket, Transport transport)
      : socket_(std::move(socket)), transport_(transport) {}
  static sys::Result<Listener> open_unix(const std::string& path);
  static sys::Result<Listener> open_tcp(const std::string& host_and_port, Reach reach);
  [[nodiscard]] sys::Status learn_address(Reach reach);

  sys::UniqueFd socket_;
  Transport transport_;
  bool is_handed_ = false;
  std::string address_;
  std::string path_;  // of a Unix socket of our own
  dev_t device_ = 0;  // which file that was
  ino_t inode_ = 0;
};

}  // namespace wardcase::supervisor

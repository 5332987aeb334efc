// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

constexpr int kBacklog = 1024;
constexpr mode_t kOwnersAlone = 0177;
constexpr std::string_view kOnlyThisHost =
    "is reached from other hosts, and whoever reaches it may run programs: give --tokens, which "
    "`wardcase token create` makes, or write tcp:127.0.0.1:PORT";

tl::unexpected<sys::Error> wrong(const std::string& what) {
  return tl::unexpected(sys::plain_error(what));
}

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_un local;
  sockaddr_storage storage;
};

bool is_loopback(const Address& address) {
  constexpr std::uint32_t kLoopbackNet = 127;
  if (address.any.sa_family == AF_INET) {
    return ::ntohl(address.v4.sin_addr.s_addr) >> 24 == kLoopbackNet;
  }
  return address.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
}

sys::Result<sys::UniqueFd> make_socket(int family) {
  sys::UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return tl::unexpected(sys::errno_error("make a socket"));
  return socket;
}

// Whether somebody listens there. Errors: it can't be told.
sys::Result<bool> is_alive(const Address& address) {
  auto probe = make_socket(AF_UNIX);
  if (!probe) return tl::unexpected(std::move(probe).error());
  if (::connect(probe->get(), &address.any, sizeof address.local) == 0) return true;
  if (errno == EAGAIN) return true;  // its queue is full
  if (errno == ECONNREFUSED || errno == ENOENT) return false;
  return tl::unexpected(sys::errno_error("look who listens there"));
}

// Removes what a dead server left.
sys::Status clear_place(const std::string& path, const Address& address) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) < 0) {
    if (errno == ENOENT) return {};
    return tl::unexpected(sys::errno_error("look at it"));
  }
  if (!S_ISSOCK(info.st_mode)) return wrong("something else is there already");
  const auto alive = is_alive(address);
  if (!alive) return tl::unexpected(alive.error());
  if (*alive) return wrong("another server listens there");
  if (::unlink(path.c_str()) < 0) return tl::unexpected(sys::errno_error("remove a dead socket"));
  return {};
}

// Held while a place is looked at and taken: two servers that start at once would each
// remove what the other has just made.
sys::Result<sys::UniqueFd> lock_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "."
                                : slash == 0               ? "/"
                                                           : path.substr(0, slash);
  auto opened = sys::open_at(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!opened) return opened;
  if (sys::retry_eintr([&] { return ::flock(opened->get(), LOCK_EX); }) < 0) {
    return tl::unexpected(sys::errno_error("lock '" + directory + "'"));
  }
  return opened;
}

sys::Result<Address> parse_tcp(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) {
    return wrong("write tcp:HOST:PORT, as in tcp:127.0.0.1:7878");
  }
  Address address = {};
  if (host == "localhost" || ::inet_pton(AF_INET, host.c_str(), &address.v4.sin_addr) == 1) {
    if (host == "localhost") address.v4.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = ::htons(number);
    return address;
  }
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets &&
      ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = ::htons(number);
    return address;
  }
  return wrong("'" + host + "' is no address; write one as 127.0.0.1 or [::1]");
}

}  // namespace

Listener::~Listener() {
  if (path_.empty() || !socket_.is_open()) return;
  struct stat info = {};
  const bool is_ours =
      ::lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  if (is_ours) (void)::unlink(path_.c_str());  // one that stays is dead, and will be replaced
}

sys::Result<Listener> Listener::open(std::string_view address, Reach reach) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kTcp = "tcp:";
  const auto opened = [&](const std::string& rest, auto open_it) -> sys::Result<Listener> {
    auto listener = open_it(rest);
    if (listener) return listener;
    return tl::unexpected(
        std::move(listener).error().while_doing("listen on '" + std::string(address) + "'"));
  };
  if (address.starts_with(kUnix)) return opened(std::string(address.substr(5)), open_unix);
  if (address.starts_with(kTcp)) {
    return opened(std::string(address.substr(4)),
                  [&](const std::string& rest) { return open_tcp(rest, reach); });
  }
  return wrong("--listen " + std::string(address) + ": write unix:PATH or tcp:HOST:PORT");
}

sys::Result<Listener> Listener::open_unix(const std::string& path) {
  Address address = {};
  address.local.sun_family = AF_UNIX;
  if (path.empty()) return wrong("write unix:PATH");
  if (path.size() >= sizeof address.local.sun_path) {
    return wrong("the path is too long for a socket, " +
                 std::to_string(sizeof address.local.sun_path - 1) + " bytes at most");
  }
  path.copy(address.local.sun_path, path.size());
  const auto lock = lock_directory(path);
  if (!lock) return tl::unexpected(lock.error());
  if (auto cleared = clear_place(path, address); !cleared) return tl::unexpected(cleared.error());
  auto socket = make_socket(AF_UNIX);
  if (!socket) return tl::unexpected(std::move(socket).error());
  const mode_t mask = ::umask(kOwnersAlone);
  const int bound = ::bind(socket->get(), &address.any, sizeof address.local);
  const int bind_error = errno;
  (void)::umask(mask);
  if (bound < 0) return tl::unexpected(sys::Error{bind_error, "bind"});
  struct stat info = {};
  if (::lstat(path.c_str(), &info) < 0) return tl::unexpected(sys::errno_error("look at it"));
  Listener listener(*std::move(socket), Transport::unix_socket);
  listener.path_ = path;
  listener.device_ = info.st_dev;
  listener.inode_ = info.st_ino;
  if (::listen(listener.fd(), kBacklog) < 0) return tl::unexpected(sys::errno_error("listen"));
  if (auto known = listener.learn_address(Reach::this_host); !known) {
    return tl::unexpected(known.error());
  }
  return listener;
}

sys::Result<Listener> Listener::open_tcp(const std::string& host_and_port, Reach reach) {
  const auto address = parse_tcp(host_and_port);
  if (!address) return tl::unexpected(address.error());
  if (reach == Reach::this_host && !is_loopback(*address)) return wrong(std::string(kOnlyThisHost));
  auto socket = make_socket(address->any.sa_family);
  if (!socket) return tl::unexpected(std::move(socket).error());
  const int on = 1;  // a port that was ours a moment ago is not held against us
  if (::setsockopt(socket->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) {
    return tl::unexpected(sys::errno_error("set SO_REUSEADDR"));
  }
  const socklen_t size =
      address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
  if (::bind(socket->get(), &address->any, size) < 0) {
    return tl::unexpected(sys::errno_error("bind"));
  }
  if (::listen(socket->get(), kBacklog) < 0) return tl::unexpected(sys::errno_error("listen"));
  Listener listener(*std::move(socket), Transport::tcp);
  if (auto known = listener.learn_address(reach); !known) return tl::unexpected(known.error());
  return listener;
}

sys::Result<Listener> Listener::adopt(sys::UniqueFd socket, Reach reach) {
  Listener listener(std::move(socket), Transport::unix_socket);
  listener.is_handed_ = true;
  const auto complain = [&](const std::string& what) {
    return wrong("the socket of the service manager, descriptor " + std::to_string(listener.fd()) +
                 ": " + what);
  };
  int is_listening = 0;
  socklen_t size = sizeof is_listening;
  if (::getsockopt(listener.fd(), SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) < 0 ||
      is_listening == 0) {
    return complain("does not listen for connections");
  }
  const int flags = ::fcntl(listener.fd(), F_GETFL);
  if (flags < 0 || ::fcntl(listener.fd(), F_SETFL, flags | O_NONBLOCK) < 0 ||
      ::fcntl(listener.fd(), F_SETFD, FD_CLOEXEC) < 0) {
    return tl::unexpected(sys::errno_error("prepare the socket of the service manager"));
  }
  if (auto known = listener.learn_address(reach); !known) return complain(known.error().message());
  return listener;
}

sys::Status Listener::learn_address(Reach reach) {
  Address address = {};
  socklen_t size = sizeof address;
  if (::getsockname(fd(), &address.any, &size) < 0) {
    return tl::unexpected(sys::errno_error("ask for its address"));
  }
  if (address.any.sa_family == AF_UNIX) {
    address_ = "unix:" + std::string(address.local.sun_path);
    return {};
  }
  transport_ = Transport::tcp;
  if (reach == Reach::this_host && !is_loopback(address)) return wrong(std::string(kOnlyThisHost));
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (address.any.sa_family == AF_INET) {
    (void)::inet_ntop(AF_INET, &address.v4.sin_addr, text.data(), text.size());
    address_ =
        "tcp:" + std::string(text.data()) + ":" + std::to_string(::ntohs(address.v4.sin_port));
  } else {
    (void)::inet_ntop(AF_INET6, &address.v6.sin6_addr, text.data(), text.size());
    address_ =
        "tcp:[" + std::string(text.data()) + "]:" + std::to_string(::ntohs(address.v6.sin6_port));
  }
  return {};
}

}  // namespace wardcase::supervisor

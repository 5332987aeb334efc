// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ostream>

#include "sandbox/sys/retry.h"
#include "supervisor/run/json_text.h"

namespace wardcase::test {

std::string HttpAnswer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (::strcasecmp(key.c_str(), std::string(name).c_str()) == 0) return value;
  }
  return "";
}

std::ostream& operator<<(std::ostream& out, const HttpAnswer& answer) {
  return out << answer.status << " " << answer.body.substr(0, 2000);
}

HttpClient HttpClient::to_unix(const std::string& path) {
  HttpClient client;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  EXPECT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  client.socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // sockaddr_un stands for sockaddr, as in all of connect(2)'s uses.
  if (::connect(client.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) <
      0) {
    client.hang_up();
  }
  return client;
}

HttpClient HttpClient::to_port(std::uint16_t port) {
  HttpClient client;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  address.sin_port = ::htons(port);
  client.socket_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(client.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) <
      0) {
    client.hang_up();
  }
  return client;
}

bool HttpClient::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t sent = sys::retry_eintr(
        [&] { return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); });
    if (sent < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool HttpClient::send_with(std::string_view text, std::span<const int> descriptors) const {
  std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
  std::string first(text.substr(0, 1));
  iovec place = {first.data(), first.size()};
  msghdr message = {};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  return ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) == 1 && send(text.substr(1));
}

bool HttpClient::read_some(std::chrono::milliseconds patience) {
  pollfd waiting = {socket_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return false;
  std::array<char, 65536> chunk;
  const ssize_t got =
      sys::retry_eintr([&] { return ::recv(socket_.get(), chunk.data(), chunk.size(), 0); });
  if (got <= 0) return false;
  input_.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

HttpAnswer HttpClient::receive_head() {
  HttpAnswer answer;
  std::size_t end = std::string::npos;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_some(kPatience)) return answer;
  }
  std::string head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  answer.status = std::atoi(head.c_str() + head.find(' '));
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t line_end = head.find("\r\n", at);
    const std::string line = head.substr(at, line_end - at);
    const std::size_t colon = line.find(": ");
    answer.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    at = line_end + 2;
  }
  return answer;
}

HttpAnswer HttpClient::receive(std::chrono::milliseconds patience) {
  if (input_.empty() && !read_some(patience)) return {};
  HttpAnswer answer = receive_head();
  if (answer.header("Transfer-Encoding") == "chunked") {
    while (read_chunk(kPatience)) {
    }
    answer.body = std::exchange(of_chunks_, {});
    return answer;
  }
  const auto length = static_cast<std::size_t>(std::atol(answer.header("Content-Length").c_str()));
  while (input_.size() < length && read_some(kPatience)) {
  }
  answer.body = input_.substr(0, length);
  input_.erase(0, length);
  return answer;
}

// False: it was the last one, or none came.
bool HttpClient::read_chunk(std::chrono::milliseconds patience) {
  std::size_t end = std::string::npos;
  while ((end = input_.find("\r\n")) == std::string::npos) {
    if (!read_some(patience)) return false;
  }
  const std::size_t size = std::strtoul(input_.c_str(), nullptr, 16);
  while (input_.size() < end + 2 + size + 2) {
    if (!read_some(patience)) return false;
  }
  of_chunks_ += input_.substr(end + 2, size);
  input_.erase(0, end + 2 + size + 2);
  return size > 0;
}

std::string HttpClient::next_line(std::chrono::milliseconds patience) {
  std::size_t end = std::string::npos;
  while ((end = of_chunks_.find('\n')) == std::string::npos) {
    if (!read_chunk(patience)) return "";
  }
  std::string line = of_chunks_.substr(0, end + 1);
  of_chunks_.erase(0, end + 1);
  return line;
}

HttpAnswer HttpClient::get(std::string_view path, std::string_view more_headers) {
  (void)send("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
             std::string(more_headers) + "\r\n");
  return receive();
}

HttpAnswer HttpClient::remove(std::string_view path, std::string_view more_headers) {
  (void)send("DELETE " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
             std::string(more_headers) + "\r\n");
  return receive();
}

HttpAnswer HttpClient::post(std::string_view path, std::string_view body,
                            std::string_view more_headers) {
  (void)send("POST " + std::string(path) +
             " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n" + std::string(more_headers) + "\r\n" +
             std::string(body));
  return receive(2 * kPatience);
}

bool HttpClient::is_hung_up_on(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    pollfd waiting = {socket_.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(1, left.count()))) <= 0) break;
    if (!read_some(std::chrono::milliseconds(1))) return true;
  }
  return false;
}

void HttpClient::finish_sending() const { (void)::shutdown(socket_.get(), SHUT_WR); }

std::string code_body(std::string_view language, std::string_view code, std::string_view more) {
  return R"({"language": ")" + std::string(language) + R"(", "code": )" +
         supervisor::json_string(code) + (more.empty() ? "" : ", ") + std::string(more) + "}";
}

std::string run_request(std::string_view body, std::string_view more_headers) {
  return "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(more_headers) + "\r\n" +
         std::string(body);
}

}  // namespace wardcase::test

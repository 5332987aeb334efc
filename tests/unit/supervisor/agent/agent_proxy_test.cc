// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "sandbox/sys/unique_fd.h"
#include "tests/support/live_agent.h"

namespace wardcase::test {
namespace {

// The next descriptor that the proxy hands over.
sys::UniqueFd take_connection(int control) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  if (::recvmsg(control, &message, MSG_CMSG_CLOEXEC) != 1) return sys::UniqueFd();
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  int fd = -1;
  if (head != nullptr && head->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  }
  return sys::UniqueFd(fd);
}

std::vector<std::string> proxied(const std::string& script) {
  return {"proxy", "--", "bash", "-c", script};
}

int exit_code(LiveAgent& agent) {
  const auto status = agent.wait();
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

TEST(AgentProxy, HandsEachConnectionOver) {
  LiveAgent agent(proxied(
      "for name in HTTP_PROXY HTTPS_PROXY http_proxy https_proxy npm_config_proxy "
      "npm_config_https_proxy; do [[ ${!name} == http://127.0.0.1:* ]] || exit 9; done\n"
      "[[ -z ${NO_PROXY+x}${no_proxy+x} ]] || exit 8\n"
      "for i in 1 2; do exec 5<>/dev/tcp/127.0.0.1/${http_proxy##*:}; echo hello >&5; read -u 5 x; "
      "[[ $x == answer ]] || exit 7; done; exit 5"));
  for (int i = 0; i < 2; ++i) {
    const sys::UniqueFd connection = take_connection(agent.control());
    ASSERT_TRUE(connection.is_open());
    std::array<char, 16> text = {};
    ssize_t n = -1;
    for (int tries = 0; tries < 3000 && n < 0; ++tries) {  // it does not block
      n = ::recv(connection.get(), text.data(), text.size(), 0);
      if (n < 0) (void)::usleep(10'000);
    }
    EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(n)), "hello\n");
    EXPECT_EQ(::send(connection.get(), "answer\n", 7, MSG_NOSIGNAL), 7);
  }
  EXPECT_EQ(exit_code(agent), 5);
}

TEST(AgentProxy, TellsHowItsCommandEnded) {
  LiveAgent killed(proxied("kill -KILL $$"));
  EXPECT_EQ(exit_code(killed), 128 + SIGKILL);
  LiveAgent missing({"proxy", "--", "/no/such/program"});
  EXPECT_EQ(exit_code(missing), 127);
  LiveAgent refused({"proxy", "--", "/etc/passwd"});
  EXPECT_EQ(exit_code(refused), 126);
}

TEST(AgentProxy, GivesItsCommandNoWayToTheSupervisor) {
  LiveAgent agent(proxied("[[ ! -e /proc/self/fd/3 ]] && ! ls -l /proc/self/fd | grep -q socket"));
  EXPECT_EQ(exit_code(agent), 0);
}

TEST(AgentProxy, EndsWithItsSocket) {
  LiveAgent agent(proxied("sleep 1"));
  agent.hang_up();
  EXPECT_EQ(exit_code(agent), 125);
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/setup_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace wardcase::supervisor {
namespace {

class SetupChannel : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ours.reset(ends[0]);
    childs.reset(ends[1]);
  }

  // As sandbox/child.cc sends it.
  void send(sandbox::SetupMessage::Kind kind, int fd) const {
    sandbox::SetupMessage message;
    message.kind = kind;
    iovec part = {&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* attached = CMSG_FIRSTHDR(&header);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(attached), &fd, sizeof fd);
    ASSERT_EQ(::sendmsg(childs.get(), &header, 0), static_cast<ssize_t>(sizeof message));
  }

  sys::UniqueFd ours;
  sys::UniqueFd childs;
  ReceivedMessage received;
};

// No new descriptor can be had till the end of the scope.
class FullTable {
 public:
  FullTable() {
    (void)::getrlimit(RLIMIT_NOFILE, &before_);
    const sys::UniqueFd lowest(::fcntl(0, F_DUPFD_CLOEXEC, 0));
    const rlimit full = {static_cast<rlim_t>(lowest.get()), before_.rlim_max};
    (void)::setrlimit(RLIMIT_NOFILE, &full);
  }
  FullTable(const FullTable&) = delete;
  FullTable& operator=(const FullTable&) = delete;
  ~FullTable() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST_F(SetupChannel, AMessageBringsItsDescriptor) {
  send(sandbox::SetupMessage::Kind::ready, childs.get());
  EXPECT_EQ(receive_message(ours.get(), received), ChannelState::message);
  EXPECT_EQ(received.message.kind, sandbox::SetupMessage::Kind::ready);
  EXPECT_TRUE(received.descriptor.is_open());
  EXPECT_EQ(receive_message(ours.get(), received), ChannelState::nothing_yet);
}

TEST_F(SetupChannel, ADescriptorThatHasNoRoomIsNotTakenForNone) {
  send(sandbox::SetupMessage::Kind::ready, childs.get());
  const FullTable full;
  EXPECT_EQ(receive_message(ours.get(), received), ChannelState::broken);
  EXPECT_EQ(received.error, EMFILE);
}

TEST_F(SetupChannel, AnEndIsAnEnd) {
  childs.reset();
  EXPECT_EQ(receive_message(ours.get(), received), ChannelState::closed);
}

TEST_F(SetupChannel, WhatCanNotBeReadIsBroken) {
  const sys::UniqueFd no_socket(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(receive_message(no_socket.get(), received), ChannelState::broken);
  EXPECT_EQ(received.error, ENOTSOCK);
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/input_wait.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "sandbox/sys/unique_fd.h"

namespace wardcase::sandbox {
namespace {

using namespace std::chrono_literals;

class APipe : public testing::Test {
 protected:
  APipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return;
    read_.reset(ends[0]);
    write_.reset(ends[1]);
  }
  ~APipe() override {
    if (child_ <= 0) return;
    (void)::kill(child_, SIGKILL);
    (void)::waitpid(child_, nullptr, 0);
  }
  // A child of this process does that, and is looked at as what is below it.
  void in_child(const std::function<void()>& work) {
    child_ = ::fork();
    if (child_ != 0) return;
    work();
    ::_exit(0);
  }
  [[nodiscard]] bool comes_to_be_awaited() const {
    for (int i = 0; i < 1000; ++i) {
      if (is_input_awaited(::getpid(), write()) == true) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  [[nodiscard]] int read() const { return read_.get(); }
  [[nodiscard]] int write() const { return write_.get(); }

 private:
  sys::UniqueFd read_;
  sys::UniqueFd write_;
  pid_t child_ = -1;
};

TEST_F(APipe, IsAwaitedByWhoReadsItUntilSomethingIsThere) {
  in_child([&] {
    char byte = 0;
    (void)!::read(read(), &byte, 1);
    for (;;) ::pause();
  });
  EXPECT_TRUE(comes_to_be_awaited());
  EXPECT_EQ(is_input_awaited(::getpid(), read()), true);  // by either end
  ASSERT_EQ(::write(write(), "ab", 2), 2);
  EXPECT_EQ(is_input_awaited(::getpid(), write()), false);
}

TEST_F(APipe, IsNotKnownToBeAwaitedWhereNobodyCanBeAsked) {
  EXPECT_EQ(is_input_awaited(::getpid(), write()), std::nullopt);  // there is nobody
  in_child([] { ::pause(); });
  EXPECT_EQ(is_input_awaited(::getpid(), -1), std::nullopt);
  const sys::UniqueFd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(is_input_awaited(::getpid(), file.get()), std::nullopt);
}

}  // namespace
}  // namespace wardcase::sandbox

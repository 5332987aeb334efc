// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/unique_fd.h"
#include "tests/support/leak_check.h"
#include "tests/support/record.h"
#include "tests/support/workplace.h"

namespace wardcase::test {

// What a command wrote: stdout, stderr, and on the descriptor for --status-fd.
enum class Channel : std::uint8_t { out, err, status };
inline constexpr std::size_t kChannelCount = 3;
inline constexpr int kStatusFd = 9;

struct Outcome {
  int exit_code = -1;  // -1: ended by `signal`
  int signal = 0;
  std::array<std::string, kChannelCount> text;
  std::chrono::milliseconds elapsed{0};

  [[nodiscard]] const std::string& out() const { return text[0]; }
  [[nodiscard]] const std::string& err() const { return text[1]; }
  [[nodiscard]] const std::string& status() const { return text[2]; }
  [[nodiscard]] Record record() const { return Record::parse(out()); }
};
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);

// A command that was started and not yet waited for. One that hangs is killed
// after a minute, and fails the test.
class Running {
 public:
  Running(Running&&) noexcept = default;
  Running& operator=(Running&&) = delete;
  ~Running();  // an unfinished command is killed and reaped

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Reads until `wanted` was written; false when the output ended or time ran out first.
  [[nodiscard]] bool wait_for(Channel channel, std::string_view wanted,
                              std::chrono::seconds limit = std::chrono::seconds(20));
  [[nodiscard]] const std::string& read_so_far(Channel channel) const {
    return outcome_.text[static_cast<std::size_t>(channel)];
  }
  void signal(int number) const;
  // The reader goes away, as `head` does.
  void close_output(Channel channel) { outputs_[static_cast<std::size_t>(channel)].reset(); }
  // Waits for the end without reading anything; false when `limit` came first.
  [[nodiscard]] bool ends_unread(std::chrono::milliseconds limit) const;
  [[nodiscard]] Outcome finish();
  // A tracer is told of the end before the parent is, and has reaped it.
  void was_reaped(int status) { reaped_status_ = status; }

 private:
  friend class Command;
  Running() = default;
  bool read_some(std::chrono::milliseconds wait);
  void read_channel(std::size_t index);
  void feed_input();
  [[nodiscard]] bool is_reading() const;

  pid_t pid_ = -1;
  std::optional<int> reaped_status_;
  sys::UniqueFd pidfd_;
  sys::UniqueFd input_fd_;
  std::string input_;
  std::array<sys::UniqueFd, kChannelCount> outputs_;
  std::chrono::steady_clock::time_point started_;
  Outcome outcome_;
};

// One command line of wardcase (or of another program that belongs to a test),
// called by somebody.
class Command {
 public:
  Command(Caller caller, std::vector<std::string> arguments);  // of wardcase
  static Command other(Caller caller, std::vector<std::string> argv);

  // An assignment NAME=VALUE in the environment of the command itself.
  Command& environment(std::string assignment);
  // What comes on its stdin, through a pipe; without it stdin is /dev/null.
  Command& input(std::string text);
  // Its stdout is this descriptor of the host (borrowed) instead of a pipe.
  Command& output_to(int fd);
  // Its session and its stdin, stdout and stderr are this terminal's (borrowed).
  Command& terminal(int device);
  // It is started with descriptors 0, 1 and 2 closed.
  Command& closed_stdio();
  // It gets a pipe as descriptor kStatusFd.
  Command& status_channel();
  // It is traced by us, and stops at its first instruction: ptrace(2).
  Command& traced();

  [[nodiscard]] Running start() const;
  [[nodiscard]] Outcome finish() const { return start().finish(); }

 private:
  Command() = default;
  Caller caller_ = Caller::user;
  std::vector<std::string> argv_;
  std::vector<std::string> environment_;
  bool has_input_ = false;
  std::string input_;
  int output_fd_ = -1;
  int terminal_ = -1;
  bool closed_stdio_ = false;
  bool has_status_ = false;
  bool is_traced_ = false;
};

// For SetUp.
void skip_unless_can_be(Caller caller);

// A test that is run twice: called by root and by an ordinary user.
class WithCaller : public testing::TestWithParam<Caller> {
 protected:
  void SetUp() override;

  [[nodiscard]] static Caller caller() { return GetParam(); }
  [[nodiscard]] static bool is_root() { return caller() == Caller::root; }
  // `wardcase run ARGUMENTS`.
  [[nodiscard]] static Command run_command(std::vector<std::string> arguments);
  [[nodiscard]] static Outcome run(std::vector<std::string> arguments);
  // `wardcase run --json ARGUMENTS`, its record.
  [[nodiscard]] static Record record_of(std::vector<std::string> arguments);
  [[nodiscard]] static Record python(std::string code, std::vector<std::string> flags = {});
  [[nodiscard]] static Record bash(std::string code, std::vector<std::string> flags = {});
  // A hostile program by name, with its arguments after it.
  [[nodiscard]] static Record hostile(const std::string& name,
                                      const std::vector<std::string>& arguments = {},
                                      std::vector<std::string> flags = {});
};

// Instantiates the suite for both callers, and has the host checked after each test.
#define WARDCASE_AS_ROOT_AND_USER(suite)                                                          \
  [[maybe_unused]] const bool k##suite##LeavesNothing = ::wardcase::test::install_leak_check();   \
  INSTANTIATE_TEST_SUITE_P(                                                                       \
      As, suite, testing::Values(::wardcase::test::Caller::root, ::wardcase::test::Caller::user), \
      [](const auto& row) { return testing::PrintToString(row.param); })

}  // namespace wardcase::test

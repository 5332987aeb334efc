// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that misuse the channel on which their interpreter tells of errors: they harm the three
// fields that are told there, and nothing else of the record or of the supervisor.
#include <gtest/gtest.h>

#include "tests/support/record_schema.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

// Where sitecustomize.py puts it.
constexpr const char* kChannel =
    "import os, sys\nchannel = 63\nos.fstat(channel)\nprint('armed')\n";

class ErrorChannel : public WithCaller {
 protected:
  static Record attack(const std::string& code, std::vector<std::string> flags = {}) {
    const Record record = python(kChannel + code, std::move(flags));
    EXPECT_EQ(record.out().find("armed\n"), 0U) << record;
    return record;
  }
};
WARDCASE_AS_ROOT_AND_USER(ErrorChannel);

TEST_P(ErrorChannel, ALieIsInThreeFieldsAndChangesNoStatus) {
  const std::string lie =
      "os.write(channel, b'type=TimeoutError\\0message=m\\0traceback=t\\0status=timeout\\0"
      "exit_code=0\\0signal=9\\0error=e\\0prelude=begin\\0')\n";
  const Record failed = attack(lie + "sys.exit(7)");
  EXPECT_EQ(failed.text("error_type"), "TimeoutError") << failed;  // the control: it was heard
  EXPECT_EQ(failed.text("error_message"), "m");
  EXPECT_EQ(failed.text("traceback"), "t");
  EXPECT_EQ(failed.status(), "exited");
  EXPECT_EQ(failed.number("exit_code"), 7);
  EXPECT_EQ(failed.text("error"), "");
  EXPECT_EQ(failed.text("hint"), "");

  const Record fine = attack(lie);
  EXPECT_TRUE(fine.is_true("success")) << fine;
  for (const char* field : {"error_type", "error_message", "traceback"}) {
    EXPECT_TRUE(fine.is_null(field)) << field;
  }

  const Record late =
      attack(lie + "import time; time.sleep(60)", {"--timeout", "1s", "--grace", "100ms"});
  EXPECT_EQ(late.status(), "timeout");
  EXPECT_EQ(late.text("error_message"), late.text("error")) << late;
  EXPECT_TRUE(late.is_null("traceback"));
}

TEST_P(ErrorChannel, RubbishIsLeftOutAndTheRecordStaysValid) {
  const std::string rubbish =
      "os.write(channel, bytes(range(256)) * 40 + b'\\0type=\\xff\\xfe\\0message=\\xed\\xa0\\x80' +"
      " b'\\0errno=-1\\0line=x\\0path=\\x1b[2J\\0module=a\\nb\\0')\n";
  const Record record = attack(rubbish + "sys.exit(7)");
  EXPECT_EQ(record.status(), "exited");
  EXPECT_EQ(record.number("exit_code"), 7);
  EXPECT_EQ(record.text("error_type"), "\ufffd\ufffd") << record;
  EXPECT_EQ(record.text("hint"), "");
  const Outcome judged = judge_records(caller(), record.serialized() + "\n");
  EXPECT_EQ(judged.out(), "checked exited\n") << judged.err();
}

// It is read while the program runs, and then no more: the writer is told so by its own write.
TEST_P(ErrorChannel, AFloodIsCutAndTheRunGoesOn) {
  const Record record = attack(
      "sent = 0\n"
      "try:\n"
      "  while sent < 1 << 26: sent += os.write(channel, b'x' * 65536)\n"
      "except BrokenPipeError: print(sent < 1 << 20)\n"
      "print('went on')");
  EXPECT_EQ(record.out(), "armed\nTrue\nwent on\n") << record;
  EXPECT_TRUE(record.is_true("success"));
}

TEST_P(ErrorChannel, WhoeverHoldsItOpenHoldsUpNothing) {
  const Record record = attack(
      "import socket\n"
      "a, b = socket.socketpair()\n"
      "socket.send_fds(a, [b'x'], [channel, b.fileno()])\n"
      "os.set_inheritable(channel, True)\n"
      "if os.fork() == 0: os.setsid(); os.execlp('sleep', 'sleep', '60')\n"
      "raise ValueError('told')");
  EXPECT_EQ(record.status(), "exited");
  EXPECT_EQ(record.text("error_message"), "told") << record;
  EXPECT_LT(record.number("duration_ms"), 20'000);
}

// A number that was closed may be another file's by then.
TEST_P(ErrorChannel, NothingIsWrittenToAFileThatHasItsNumber) {
  const Record record = attack(
      "import atexit\n"
      "made = os.open('made', os.O_RDWR | os.O_CREAT)\n"
      "os.dup2(made, channel)\n"
      "atexit.register(lambda: print(os.fstat(made).st_size))\n"
      "raise ValueError");
  EXPECT_EQ(record.out(), "armed\n0\n") << record;
  EXPECT_EQ(record.number("exit_code"), 1);
  EXPECT_TRUE(record.is_null("error_type"));
  const Record closed = attack("os.close(channel)\nraise ValueError");
  EXPECT_EQ(closed.number("exit_code"), 1);
  EXPECT_TRUE(closed.err().ends_with("ValueError\n")) << closed;
}

TEST_P(ErrorChannel, ItCanBeOpenedOnceMoreToBeWrittenAlone) {
  const Record record = attack(
      "for flags in (os.O_RDONLY, os.O_RDWR):\n"
      "  try: os.open('/proc/self/fd/63', flags | os.O_NONBLOCK); print('opened')\n"
      "  except PermissionError: print('refused')\n"
      "os.open('/proc/self/fd/63', os.O_WRONLY)\n"
      "raise ValueError");
  EXPECT_EQ(record.out(), "armed\nrefused\nrefused\n") << record;
  EXPECT_EQ(record.text("error_type"), "ValueError");
}

TEST_P(ErrorChannel, AProgramOfNodeHasThePipeAndNoMore) {
  const Record record =
      record_of({"-l", "javascript", "-c",
                 "const fs = require('fs');\n"
                 "fs.writeSync(3, 'type=Lie\\0message=' + 'm'.repeat(20000) + '\\0');\n"
                 "console.log('armed'); process.exit(9)"});
  EXPECT_EQ(record.out(), "armed\n");
  EXPECT_EQ(record.number("exit_code"), 9);
  EXPECT_EQ(record.text("error_type"), "Lie") << record;
  EXPECT_EQ(record.text("error_message").size(), 8192U);
}

// A traceback may be anybody's secret, as output is.
TEST_P(ErrorChannel, WhatWasToldIsNotRemembered) {
  const ScratchDirectory state(caller());
  const std::string variable = "XDG_STATE_HOME=" + state.path().string();
  const Outcome ran = run_command({"-l", "python", "-c", "raise ValueError('hidden-' + 'word')"})
                          .environment(variable)
                          .finish();
  EXPECT_NE(ran.err().find("hidden-word"), std::string::npos) << ran;
  std::size_t notes = 0;
  for (const auto& file : std::filesystem::directory_iterator(state.path() / "wardcase/runs")) {
    ++notes;
    const std::string text = read_file(file.path());
    EXPECT_NE(text.find("ValueError"), std::string::npos) << text;
    EXPECT_EQ(text.find("hidden-word"), std::string::npos) << text;
  }
  EXPECT_EQ(notes, 1U);
}

}  // namespace
}  // namespace wardcase::test

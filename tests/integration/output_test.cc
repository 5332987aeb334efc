// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// The program's output: exact bytes, at once, whoever reads it.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

using Output = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Output);

std::vector<Record> events_in(const std::string& text) {
  std::vector<Record> events;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) events.push_back(Record::parse(line));
  return events;
}

std::string joined_data(const std::vector<Record>& events, std::string_view type) {
  std::string data;
  for (const Record& event : events) {
    if (event.text("type") == type) data += event.text("data");
  }
  return data;
}

std::string emoji(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "\xF0\x9F\x98\x80";
  return text;
}

TEST_P(Output, PassThroughIsExactAndAddsNothing) {
  const Outcome outcome =
      run({"-l", "python", "-c", "import os; os.write(1, bytes(range(256))); os.write(2, b'e')"});
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(outcome.out(), bytes);
  EXPECT_EQ(outcome.err(), "e");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_P(Output, SixtyFourMebibytesPassThroughUnchanged) {
  constexpr std::size_t kSize = 64 << 20;
  const Outcome outcome = run({"-l", "python", "-c",
                               "import sys\n"
                               "block = bytes(i * 7 % 251 for i in range(1 << 20))\n"
                               "for i in range(64): sys.stdout.buffer.write(block)"});
  ASSERT_EQ(outcome.out().size(), kSize);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    wrong += static_cast<unsigned char>(outcome.out()[i]) != i % (1U << 20) * 7 % 251 ? 1U : 0U;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST_P(Output, HalfALineIsSeenBeforeTheTimeoutAndStaysWhatItIs) {
  const std::string code =
      "import sys, time\nsys.stdout.write('half a line'); sys.stdout.flush()\n"
      "time.sleep(60)";
  Running running =
      run_command({"--timeout", "3s", "--grace", "100ms", "--events", "-l", "python", "-c", code})
          .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "half a line"));
  EXPECT_EQ(running.read_so_far(Channel::out).find("\"exit\""), std::string::npos);
  const Outcome outcome = running.finish();
  const std::vector<Record> events = events_in(outcome.out());
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events.front().text("type"), "start");
  EXPECT_EQ(events.back().text("type"), "exit");
  EXPECT_EQ(events.back().status(), "timeout") << events.back();
  EXPECT_EQ(events.back().out(), "half a line");
  EXPECT_EQ(joined_data(events, "stdout"), "half a line");
}

TEST_P(Output, EventsAreNumberedAndTheLastOneIsTheRecord) {
  const std::vector<Record> events =
      events_in(run({"--events", "-l", "bash", "-c", "echo one; echo two >&2; exit 3"}).out());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].number("seq"), static_cast<std::int64_t>(i + 1));
  }
  EXPECT_EQ(joined_data(events, "stdout"), "one\n");
  EXPECT_EQ(joined_data(events, "stderr"), "two\n");
  EXPECT_EQ(events.back().number("exit_code"), 3);
  EXPECT_EQ(events.back().number("schema_version"), 1);
}

TEST_P(Output, TheStatusDescriptorGetsTheEventsBesidePassThrough) {
  const Outcome outcome =
      run_command({"--status-fd", std::to_string(kStatusFd), "-l", "bash", "-c", "echo hello"})
          .status_channel()
          .finish();
  EXPECT_EQ(outcome.out(), "hello\n");
  const std::vector<Record> events = events_in(outcome.status());
  ASSERT_GE(events.size(), 3U) << outcome;
  EXPECT_EQ(events.front().text("type"), "start");
  EXPECT_EQ(events.back().text("type"), "exit");
  EXPECT_EQ(events.back().status(), "exited");
  EXPECT_EQ(events.back().out(), "hello\n");
  EXPECT_TRUE(events.back().is_null("limits.output_bytes")) << "a pass-through has no such limit";
}

TEST_P(Output, CharactersAreNeverBrokenAtTheEdgeOfAChunk) {
  const std::string expected = "x" + emoji(100'000);
  const Record record = python("import sys; sys.stdout.write('x' + '\\U0001F600' * 100000)");
  EXPECT_TRUE(record.out() == expected) << record;
  EXPECT_EQ(record.number("encoding_errors"), 0);

  const std::vector<Record> events =
      events_in(run({"--events", "-l", "python", "-c",
                     "import sys; sys.stdout.write('x' + '\\U0001F600' * 100000)"})
                    .out());
  EXPECT_TRUE(joined_data(events, "stdout") == expected);
}

TEST_P(Output, CharactersThatComeByteByByteAreWhole) {
  const std::string code =
      "import os, time\n"
      "for byte in '\\U0001F600'.encode() * 50:\n"
      "  os.write(1, bytes([byte])); time.sleep(0.001)";
  const std::vector<Record> events = events_in(run({"--events", "-l", "python", "-c", code}).out());
  EXPECT_EQ(joined_data(events, "stdout"), emoji(50));
  EXPECT_EQ(events.back().out(), emoji(50));
}

TEST_P(Output, BadBytesAreReplacedAloneAndCounted) {
  const std::string code = "import os; os.write(1, b'ok \\xff\\xfe end\\ncaf\\xc3\\xa9\\n')";
  const Record record = python(code);
  EXPECT_EQ(record.out(), "ok \xEF\xBF\xBD\xEF\xBF\xBD end\ncaf\xC3\xA9\n") << record;
  EXPECT_EQ(record.number("encoding_errors"), 2);
  EXPECT_EQ(python(code, {"--base64"}).text("stdout_base64"), "b2sg//4gZW5kCmNhZsOpCg==");
}

TEST_P(Output, MergedStderrKeepsTheOrderExactly) {
  const std::string code =
      "import sys\nprint('o1', flush=True)\n"
      "print('e1', file=sys.stderr, flush=True)\nprint('o2', flush=True)";
  const Record merged = python(code, {"--merge-stderr"});
  EXPECT_EQ(merged.text("output"), "o1\ne1\no2\n") << merged;
  EXPECT_EQ(merged.out(), "o1\ne1\no2\n");
  EXPECT_EQ(merged.err(), "");
  const Record apart = python(code);
  EXPECT_EQ(apart.out(), "o1\no2\n");
  EXPECT_EQ(apart.err(), "e1\n");
  EXPECT_TRUE(apart.is_true("success"));
}

TEST_P(Output, LongOutputIsCutInTheMiddleAndCounted) {
  const Record record = python("print('A' + 'x' * 5_000_000 + 'Z')", {"--capture-limit", "64k"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("stdout_bytes"), 5'000'003);
  EXPECT_TRUE(record.is_true("stdout_truncated"));
  EXPECT_EQ(record.out().front(), 'A');
  EXPECT_EQ(record.out().substr(record.out().size() - 2), "Z\n");
  EXPECT_LT(record.out().size(), 66U * 1024);
}

TEST_P(Output, PythonStreamsWithoutFlushEvenWhenNested) {
  const std::string code =
      "import subprocess, sys, time\nprint('outer')\ntime.sleep(0.1)\n"
      "subprocess.run([sys.executable, '-c', "
      "'import time; print(\"inner\"); time.sleep(20)'])";
  Running running = run_command({"--grace", "100ms", "-l", "python", "-c", code}).start();
  EXPECT_TRUE(running.wait_for(Channel::out, "outer\ninner\n", 10s));
  running.signal(SIGTERM);
  EXPECT_EQ(running.finish().exit_code, 143);
}

TEST_P(Output, AReaderThatDoesNotReadDoesNotDelayTheTimeout) {
  Running running = run_command({"--timeout", "500ms", "--grace", "100ms", "--status-fd",
                                 std::to_string(kStatusFd), "-l", "bash", "-c", "yes"})
                        .status_channel()
                        .start();
  ASSERT_TRUE(running.wait_for(Channel::status, "start"));
  // What is left in the pipes belongs to the reader; the program must be gone all the same.
  std::string left = "?";
  EXPECT_TRUE(eventually([&] {
    left = list_descendants();
    return left.find("bash") == std::string::npos && left.find("yes") == std::string::npos;
  })) << left;
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 124) << outcome;
}

TEST_P(Output, AReaderThatGoesAwayEndsTheRun) {
  Running running =
      run_command({"--timeout", "30s", "--grace", "100ms", "-l", "bash", "-c", "yes"}).start();
  ASSERT_TRUE(running.wait_for(Channel::out, "y"));
  running.close_output(Channel::out);
  const Outcome outcome = running.finish();
  EXPECT_LT(outcome.elapsed, 20s);
  EXPECT_NE(outcome.exit_code, 0);
}

TEST_P(Output, ClosedStandardDescriptorsDoNotConfuseTheRelay) {
  const ScratchDirectory shared(caller());
  const Outcome outcome = run_command({"-v", shared.path().string() + ":/out:rw", "-l", "bash",
                                       "-c", "echo lost; echo kept > /out/file; exit 4"})
                              .closed_stdio()
                              .finish();
  EXPECT_EQ(read_file(shared.path() / "file"), "kept\n");
  EXPECT_NE(outcome.exit_code, -1) << outcome;
}

TEST_P(Output, AppendedFilesKeepWhatTheyHad) {
  const ScratchDirectory host(caller());
  const std::string path = host.write("log", "before\n");
  const sys::UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  (void)run_command({"-l", "bash", "-c", "echo after"}).output_to(file.get()).finish();
  EXPECT_EQ(read_file(path), "before\nafter\n");
}

TEST_P(Output, LinesOfAnotherEncodingAreDecodedWhereAskedFor) {
  const std::string code =
      "import os\n"
      "os.write(1, '你好\\n'.encode('gbk') + 'café\\n'.encode())\n"
      "os.write(2, '错误\\n'.encode('gbk') + b'\\xff\\n')";
  const Record decoded = python(code, {"--encoding-fallback", "gbk"});
  EXPECT_EQ(decoded.out(), "你好\ncafé\n") << decoded;
  EXPECT_EQ(decoded.err(), "错误\n\uFFFD\n");
  EXPECT_EQ(decoded.number("encoding_errors"), 1);
  EXPECT_EQ(decoded.number("stdout_bytes"), 11);
  EXPECT_NE(decoded.text("output").find("错误"), std::string::npos);
  const Record control = python(code);
  EXPECT_NE(control.out().find("\uFFFD"), std::string::npos) << control;
  EXPECT_GT(control.number("encoding_errors"), 1);
}

TEST_P(Output, AnUnknownEncodingIsRefusedByName) {
  for (const char* name : {"no-such-encoding", "utf-16", ""}) {
    const Outcome outcome = run({"--json", "--encoding-fallback", name, "--", "true"});
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_EQ(outcome.record().status(), "invalid_request");
    EXPECT_NE(outcome.record().text("error").find(std::string("--encoding-fallback '") + name),
              std::string::npos)
        << outcome;
  }
}

TEST_P(Output, EveryByteIsOutput) {
  const std::string code = "import os; os.write(1, bytes(range(256)) + b'\\x1b[2J\\0\\0')";
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(run({"-l", "python", "-c", code}).out(), all + std::string("\x1b[2J\0\0", 6));
  const Record record = python(code);
  EXPECT_EQ(record.number("stdout_bytes"), 262) << record;
  EXPECT_EQ(record.out().substr(0, 32), all.substr(0, 32));
  EXPECT_EQ(record.out().substr(record.out().size() - 6), std::string("\x1b[2J\0\0", 6));
}

// What a reader has not taken is the program's to wait for, and lost to nobody.
TEST_P(Output, AReaderThatPausesGetsAllOfIt) {
  Running running = run_command({"--", "bash", "-c", "echo up; seq 200000; echo end"}).start();
  ASSERT_TRUE(running.wait_for(Channel::out, "up"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 0);
  std::string wanted = "up\n";
  for (int i = 1; i <= 200'000; ++i) wanted += std::to_string(i) + "\n";
  EXPECT_TRUE(outcome.out() == wanted + "end\n") << outcome.out().size();
}

TEST_P(Output, ALimitHoldsInPassThroughToo) {
  const Outcome outcome =
      run({"--output-limit", "100000", "--", "head", "-c", "200000", "/dev/zero"});
  EXPECT_EQ(outcome.exit_code, 124) << outcome.err();
  EXPECT_EQ(outcome.out().size(), 100'000U);
}

}  // namespace
}  // namespace wardcase::test

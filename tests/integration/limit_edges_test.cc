// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Each limit just under, at, and just over: who keeps to it is not punished, who passes it
// is held, and the record says which limit it was.
#include <gtest/gtest.h>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class LimitEdges : public WithCaller {
 protected:
  LimitEdges() : files_(caller()) {}
  [[nodiscard]] std::string policy(const std::string& text) const {
    return files_.write("policy.toml", "schema = 1\n" + text + "\n");
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(LimitEdges);

bool hits_nothing(const Record& record) {
  return record.serialized().find("\"limits_hit\":[]") != std::string::npos;
}

TEST_P(LimitEdges, WallTime) {
  const Record under = bash("sleep 0.5", {"--timeout", "20s"});
  EXPECT_EQ(under.status(), "exited") << under;
  EXPECT_TRUE(hits_nothing(under)) << under;
  const Record over = bash("sleep 20", {"--timeout", "500ms", "--grace", "100ms"});
  EXPECT_EQ(over.status(), "timeout") << over;
  EXPECT_GE(over.number("duration_ms"), 500);
  EXPECT_EQ(over.text("enforced_by.timeout"), "watcher");
}

constexpr const char* kBurn =
    "import os, sys, time\n"
    "def burn(seconds):\n"
    "  while time.process_time() < seconds: pass\n";

// Processes that were waited for and those that live count alike.
TEST_P(LimitEdges, ProcessorTimeOfTheWholeTree) {
  const std::string two_children = std::string(kBurn) +
                                   "for _ in range(2):\n"
                                   "  if os.fork() == 0: burn(0.6); os._exit(0)\n"
                                   "  os.wait()\n"
                                   "print('done')";
  const Record under = python(two_children, {"--cpu-time", "20s", "--timeout", "60s"});
  EXPECT_EQ(under.status(), "exited") << under;
  EXPECT_TRUE(hits_nothing(under)) << under;
  EXPECT_GE(under.number("cpu_ms"), 1100);  // of 1,200, some in ticks of 10
  const Record over =
      python(two_children, {"--cpu-time", "900ms", "--timeout", "60s", "--grace", "100ms"});
  EXPECT_EQ(over.status(), "cpu_time") << over;
  EXPECT_EQ(over.out(), "");
  EXPECT_TRUE(over.lists("limits_hit", "cpu_time"));
  EXPECT_GE(over.number("cpu_ms"), 850);
}

TEST_P(LimitEdges, Silence) {
  const Record under =
      bash("for i in 1 2 3; do echo $i >&2; sleep 0.3; done", {"--idle-timeout", "5s"});
  EXPECT_EQ(under.status(), "exited") << under;
  const Record over =
      bash("echo 1; sleep 60; echo 2", {"--idle-timeout", "1500ms", "--grace", "100ms"});
  EXPECT_EQ(over.status(), "idle") << over;
  EXPECT_EQ(over.out(), "1\n");
}

// Where memory can be: the same amount is held under a wide limit and is too much
// under a narrow one. What no watcher could see is refused without a control group.
struct Place {
  const char* name;
  const char* code;  // holds 100 MiB, then says so
  bool is_only_counted_by_a_group;
};
constexpr Place kPlaces[] = {
    {"the heap", "b = bytearray(n)\nfor i in range(0, n, 4096): b[i] = 1", false},
    {"a private mapping of a file",
     "f = open('f', 'w+b')\nf.truncate(n)\nm = mmap.mmap(f.fileno(), n, mmap.MAP_PRIVATE)\n"
     "for i in range(0, n, 4096): m[i] = 1",
     false},
    {"files in /box", "open('f', 'wb').write(b'x' * n)", false},
    {"files in /tmp", "open('/tmp/f', 'wb').write(b'x' * n)", false},
    {"files in /dev/shm", "open('/dev/shm/f', 'wb').write(b'x' * n)", false},
    {"removed files", "f = open('/tmp/f', 'wb')\nos.unlink('/tmp/f')\nf.write(b'x' * n)\nf.flush()",
     false},
    {"a memfd", "f = os.memfd_create('m')\nfor _ in range(n >> 20): os.write(f, b'x' * (1 << 20))",
     true},
    {"a shared mapping", "m = mmap.mmap(-1, n)\nfor i in range(0, n, 4096): m[i] = 1", true},
    {"pipes",
     "kept = []\n"
     "for _ in range(n >> 16):\n"
     "  r, w = os.pipe()\n  os.set_blocking(w, False)\n  kept.append((r, w))\n"
     "  try:\n    while True: os.write(w, b'x' * 4096)\n  except BlockingIOError: pass",
     true},
    {"sockets",
     "kept = []\n"
     "for _ in range(n >> 17):\n"
     "  a, b = socket.socketpair()\n  a.setblocking(False)\n  kept.append((a, b))\n"
     "  try:\n    while True: a.send(b'x' * 4096)\n  except BlockingIOError: pass",
     true},
};

TEST_P(LimitEdges, MemoryWhereverItIs) {
  for (const Place& place : kPlaces) {
    if (place.is_only_counted_by_a_group && !is_root()) continue;
    const std::string code =
        std::string("import mmap, os, socket\nn = 100 << 20\n") + place.code + "\nprint('held')";
    const Record under = python(code, {"-m", "300m", "--timeout", "30s"});
    EXPECT_EQ(under.status(), "exited") << place.name << under;
    EXPECT_EQ(under.out(), "held\n") << place.name;
    EXPECT_FALSE(under.lists("limits_hit", "memory")) << place.name;
    // A watcher may have looked before it was all there; of pipes users get 64 MiB.
    EXPECT_GE(under.number("memory_peak_bytes"), (is_root() ? 70 : 1) << 20) << place.name;
    const Record over =
        python(code + "\nimport time; time.sleep(1)", {"-m", "64m", "--timeout", "30s"});
    EXPECT_EQ(over.status(), "oom") << place.name << over;
    EXPECT_TRUE(over.lists("limits_hit", "memory")) << place.name;
  }
}

TEST_P(LimitEdges, Processes) {
  const std::string make =
      "import os, time\n"
      "for _ in range(COUNT):\n"
      "  if os.fork() == 0: time.sleep(60)\n"
      "time.sleep(0.3)\n"
      "print('made')";
  const auto with = [&](int count) {
    std::string code = make;
    code.replace(code.find("COUNT"), 5, std::to_string(count));
    return python(code, {"--pids", "20"});
  };
  const Record at = with(19);  // the program is the twentieth
  EXPECT_EQ(at.out(), "made\n") << at;
  EXPECT_EQ(at.number("processes_peak"), 20);
  EXPECT_EQ(at.number("leftover_processes"), 19);
  EXPECT_TRUE(!is_root() || !at.lists("limits_hit", "pids"));
  const Record over = with(20);
  EXPECT_EQ(over.out(), "") << over;
  EXPECT_NE(over.err().find("BlockingIOError"), std::string::npos) << over;
  EXPECT_TRUE(over.lists("limits_hit", "pids"));
}

TEST_P(LimitEdges, ThreadsAreProcesses) {
  const std::string make =
      "import threading, time\n"
      "for i in range(30):\n"
      "  try: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
      "  except RuntimeError: print(i); break\n"
      "time.sleep(0.3)\n"
      "import os; os._exit(0)";
  const Record record = python("import sys\n" + make + "\n", {"--pids", "20"});
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_TRUE(record.lists("limits_hit", "pids")) << record;
}

TEST_P(LimitEdges, PartsOfAProcessor) {
  const std::string burn =
      std::string(kBurn) + "t = time.monotonic()\nwhile time.monotonic() < t + 1.5: pass";
  const Outcome outcome = run({"--json", "--cpus", "0.3", "-l", "python", "-c", burn});
  const Record record = outcome.record();
  if (record.text("enforced_by.cpus").starts_with("cgroup")) {
    EXPECT_LT(*record.number("cpu_ms"), *record.number("duration_ms") / 2 + 300) << record;
    EXPECT_EQ(record.number("limits.cpus"), 0);
  } else {
    EXPECT_EQ(outcome.exit_code, 125) << record;
    EXPECT_NE(record.text("error").find("--cpus"), std::string::npos) << record;
  }
}

// The tmpfs counts whole pages, directories none.
TEST_P(LimitEdges, DiskByBlocks) {
  const Record at = bash(
      "head -c $((2 << 20)) /dev/zero >/box/a && head -c $((2 << 20)) /dev/zero "
      ">/tmp/b && echo all",
      {"--disk", "6m"});
  EXPECT_EQ(at.out(), "all\n") << at;
  EXPECT_FALSE(at.lists("limits_hit", "disk"));
  const Record over = bash("head -c $((7 << 20)) /dev/zero >/box/a && echo all", {"--disk", "6m"});
  EXPECT_EQ(over.out(), "") << over;
  EXPECT_TRUE(over.lists("limits_hit", "disk"));
  EXPECT_EQ(over.status(), "exited");
}

TEST_P(LimitEdges, DiskByInodes) {
  const std::string make =
      "made = 0\n"
      "try:\n"
      "  while True:\n"
      "    open('f%d' % made, 'w').close()\n"
      "    made += 1\n"
      "except OSError as e: print(e.errno, made < 100 and made > 50)";
  const Record over = python(make, {"--policy", policy("[limits]\ndisk_inodes = 100")});
  EXPECT_EQ(over.out(), "28 True\n") << over;
  EXPECT_TRUE(over.lists("limits_hit", "disk"));
  const Record under = python("for i in range(50): open('f%d' % i, 'w').close()",
                              {"--policy", policy("[limits]\ndisk_inodes = 100")});
  EXPECT_TRUE(hits_nothing(under)) << under;
}

TEST_P(LimitEdges, FileSize) {
  const auto write = [&](const std::string& bytes) {
    return record_of({"--file-size", "1m", "--", "dd", "if=/dev/zero", "of=f", "bs=" + bytes,
                      "count=1", "status=none"});
  };
  const Record at = write("1048576");
  EXPECT_EQ(at.status(), "exited") << at;
  EXPECT_TRUE(hits_nothing(at));
  const Record over = bash("dd if=/dev/zero of=f bs=1048577 count=1 status=none; stat -c %s f",
                           {"--file-size", "1m"});
  EXPECT_EQ(over.out(), "1048576\n") << over;
}

TEST_P(LimitEdges, OpenFiles) {
  const auto with = [&](int count) {
    return python("f = [open('/dev/null') for _ in range(" + std::to_string(count) +
                      ")]\n"
                      "print('open')",
                  {"--open-files", "50"});
  };
  EXPECT_EQ(with(46).out(), "open\n");  // besides 0, 1, 2 and what it tells its errors by
  const Record over = with(47);
  EXPECT_EQ(over.out(), "") << over;
  EXPECT_NE(over.err().find("Too many open files"), std::string::npos);
}

TEST_P(LimitEdges, Output) {
  const auto with = [&](int bytes) {
    return bash("head -c " + std::to_string(bytes) + " /dev/zero | tr '\\0' x",
                {"--output-limit", "100000", "--grace", "5s"});
  };
  const Record at = with(100'000);
  EXPECT_EQ(at.status(), "exited") << at;
  EXPECT_EQ(at.number("stdout_bytes"), 100'000);
  EXPECT_FALSE(at.is_true("stdout_truncated"));
  EXPECT_TRUE(hits_nothing(at));
  const Record over = with(100'001);
  EXPECT_EQ(over.status(), "output_limit") << over;
  EXPECT_EQ(over.out(), std::string(100'000, 'x'));
  EXPECT_EQ(over.number("stdout_bytes"), 100'001);
  EXPECT_TRUE(over.is_true("stdout_truncated"));
  EXPECT_TRUE(over.lists("limits_hit", "output"));
}

TEST_P(LimitEdges, Capture) {
  const auto with = [&](int bytes) {
    return bash("head -c " + std::to_string(bytes) + " /dev/zero | tr '\\0' x",
                {"--capture-limit", "1000"});
  };
  const Record at = with(1000);
  EXPECT_EQ(at.out(), std::string(1000, 'x')) << at;
  EXPECT_FALSE(at.is_true("stdout_truncated"));
  const Record over = with(1001);
  EXPECT_EQ(over.out(),
            std::string(500, 'x') + "\n[wardcase: 1 bytes omitted]\n" + std::string(500, 'x'));
  EXPECT_TRUE(over.is_true("stdout_truncated"));
  EXPECT_EQ(over.number("stdout_bytes"), 1001);
  EXPECT_EQ(over.status(), "exited");
}

}  // namespace
}  // namespace wardcase::test

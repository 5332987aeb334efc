// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What programs meet that mean no harm and still go to the edge of what a box gives.
#include <gtest/gtest.h>

#include "tests/support/sessions.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using UnluckyBehaviour = WithCaller;
WARDCASE_AS_ROOT_AND_USER(UnluckyBehaviour);

TEST_P(UnluckyBehaviour, OneLineOf50MegabytesPassesWhole) {
  const std::string code = "print('A' + 'x' * 50_000_000 + 'Z')";
  const Record kept = python(code);
  EXPECT_EQ(kept.number("stdout_bytes"), 50'000'003) << kept;
  EXPECT_TRUE(kept.is_true("success") && kept.is_true("stdout_truncated"));
  EXPECT_TRUE(kept.out().starts_with("Axx") && kept.out().ends_with("xxZ\n"));
  const Outcome passed = run({"-l", "python", "-c", code});
  EXPECT_EQ(passed.out().size(), 50'000'003U);
  EXPECT_TRUE(passed.out().starts_with("Axx") && passed.out().ends_with("xxZ\n"));
}

// Each is a part of the kernel that strict leaves out and default has. Names of the C
// library, so that no number of one architecture is needed.
TEST_P(UnluckyBehaviour, StrictRefusesWhatItDoesNotNameAndTellsIt) {
  const std::string code =
      "import ctypes, os\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "for name, arguments in (('mq_open', (b'/queue', 0o102, 0o600, None)), ('unshare', (0,)),\n"
      "                        ('fanotify_mark', (-1, 0, 0, -1, None)), ('personality', (-1,))):\n"
      "  ctypes.set_errno(0)\n"
      "  getattr(libc, name)(*arguments)\n"
      "  print(name, os.strerror(ctypes.get_errno()))\n";
  const ScratchDirectory files(caller());
  const std::string shown = Command(caller(), {"policy", "show", "strict"}).finish().out();
  const std::size_t begin = shown.find("[syscalls]");
  ASSERT_NE(begin, std::string::npos) << shown;
  const std::string calls = files.write("calls.toml", "schema = 1\n" + shown.substr(begin));

  const Record refused = python(code, {"--policy", calls});
  for (const char* name : {"mq_open", "unshare", "fanotify_mark", "personality"}) {
    const std::string line = std::string(name) + " Operation not permitted\n";
    EXPECT_NE(refused.out().find(line), std::string::npos) << refused;
    EXPECT_EQ(refused.denied(name), 1) << refused;
    EXPECT_EQ(python(code).out().find(line), std::string::npos);
  }
  EXPECT_NE(python(code).out().find("unshare Success\n"), std::string::npos);
}

TEST_P(UnluckyBehaviour, ProcessorsAreTheBoxsOwn) {
  const std::string code =
      "cat /sys/devices/system/cpu/online; getconf _NPROCESSORS_ONLN; nproc --all; "
      "ls /sys/devices/system/cpu";
  const Record one = bash(code, {"--cpus", "1"});
  const std::string affinity =
      bash("grep -o '[0-9,-]*$' <(grep Cpus_allowed_list: /proc/self/status)").out();
  EXPECT_EQ(one.out().find('-'), std::string::npos) << one;
  EXPECT_NE(one.out().find("\n1\n"), std::string::npos) << one;
  // Older C libraries count what they can list.
  EXPECT_NE(one.err().find("Permission denied"), std::string::npos) << one;
  const Record all = bash("cat /sys/devices/system/cpu/online");
  EXPECT_EQ(all.out(), affinity) << all;
}

TEST_P(UnluckyBehaviour, NamesOfServicesAndOfTheSystemAreKnown) {
  const Record record = python(
      "import platform, socket\n"
      "print(socket.getservbyname('http'), socket.getprotobyname('tcp'))\n"
      "print(platform.freedesktop_os_release()['ID'] != '')\n");
  EXPECT_EQ(record.out(), "80 6\nTrue\n") << record;
  EXPECT_EQ(bash(". /etc/os-release && [[ -n $ID ]]").number("exit_code"), 0);
}

// As on a machine with one place for memory; programs that ask go on, and nobody is warned.
TEST_P(UnluckyBehaviour, AskingForMemoryNodesIsNoRefusal) {
  const Record record = python(
      "import ctypes, os, platform\n"
      "number = {'x86_64': 238, 'aarch64': 237}[platform.machine()]\n"  // set_mempolicy
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "libc.syscall(number, 0, None, 0)\n"
      "print(os.strerror(ctypes.get_errno()))\n");
  EXPECT_EQ(record.out(), "Function not implemented\n") << record;
  EXPECT_EQ(record.denied("set_mempolicy"), std::nullopt);
  const Record listed = bash("ps -e >/dev/null");
  EXPECT_EQ(listed.err(), "") << listed;
}

TEST_P(UnluckyBehaviour, FiguresThatAreShownAreSavedAndClosed) {
  const std::string code =
      "import warnings\n"
      "warnings.simplefilter('error')\n"
      "import matplotlib.pyplot as plt\n"
      "import sys\n"
      "plt.plot([1, 2])\n"
      "plt.figure()\n"
      "plt.show()\n"
      "print(plt.get_fignums(), plt.get_backend().lower(), plt.show.__name__)\n"
      "print('Pyplot' in repr(sys.meta_path))\n"
      "plt.plot([2, 1])\n"
      "plt.show(block=False)\n";
  std::vector<std::string> policies = {"default"};
  if (has_landlock()) policies.emplace_back("landlock-only");
  for (const std::string& policy : policies) {
    const Record record = python(code, {"--policy", policy});
    EXPECT_EQ(record.out(), "[] agg show\nFalse\n") << record;
    EXPECT_EQ(record.err().find("arning"), std::string::npos) << record;
    for (const std::string number : {"0", "1", "2"}) {
      const std::string artifact = "artifacts." + number;
      EXPECT_EQ(record.text(artifact + ".path"),
                "figure-" + std::to_string(std::stoi(number) + 1) + ".png")
          << record;
      EXPECT_EQ(record.text(artifact + ".mime"), "image/png");
    }
    EXPECT_FALSE(record.has("artifacts.3")) << record;
  }
}

class UnluckySession : public WithSession {};
WARDCASE_AS_ROOT_AND_USER(UnluckySession);

TEST_P(UnluckySession, FiguresThatAreShownAreArtifactsOfTheirProgram) {
  make();
  const std::string shows =
      "import matplotlib.pyplot as plt\n"
      "import os\n"
      "os.chdir('/tmp')\n"
      "plt.plot([1, 2])\n"
      "plt.show()\n"
      "print(plt.get_fignums(), plt.get_backend().lower())\n";
  for (const std::string number : {"1", "2"}) {
    const Record record = python_in(shows);
    EXPECT_EQ(record.out(), "[] agg\n") << record;
    EXPECT_EQ(record.text("artifacts.0.path"), "figure-" + number + ".png") << record;
    EXPECT_EQ(record.text("artifacts.0.mime"), "image/png");
    EXPECT_FALSE(record.has("artifacts.1"));
  }
  const Outcome outcome = exec("python", "plt.figure()").finish();
  EXPECT_EQ(outcome.out(), "") << outcome;
}

// As before: with another backend, and where nothing can be saved.
TEST_P(UnluckyBehaviour, FiguresThatCantBeSavedAreLeftToMatplotlib) {
  const std::string code =
      "import warnings\n"
      "warnings.simplefilter('ignore')\n"
      "import matplotlib.pyplot as plt\n"
      "plt.plot([1, 2])\n"
      "plt.show()\n"
      "print(plt.get_fignums())\n";
  EXPECT_EQ(python(code, {"-e", "MPLBACKEND=svg"}).out(), "[1]\n");
  const ScratchDirectory workspace(caller());
  EXPECT_EQ(python(code, {"--workspace", workspace.path()}).out(), "[1]\n");
}

}  // namespace
}  // namespace wardcase::test

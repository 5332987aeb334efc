// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that end in a way that looks like another one.
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

class HostileEnds : public HostileTest {
 protected:
  [[nodiscard]] static Record end_with(const std::string& kind, int number,
                                       std::vector<std::string> flags = {}) {
    return hostile("end_with", {kind, std::to_string(number)}, std::move(flags));
  }
};
WARDCASE_AS_ROOT_AND_USER(HostileEnds);

TEST_P(HostileEnds, NoExitCodeLooksLikeAnythingElse) {
  declare_attack("imitate a limit or a failure by an exit code, 0 to 255",
                 "causes come from the kernel and from our own acts");
  for (int code = 0; code < 256; ++code) {
    const Record record = end_with("code", code);
    EXPECT_EQ(record.status(), "exited") << code;
    EXPECT_EQ(record.number("exit_code"), code);
    EXPECT_TRUE(has_text(record.serialized(), "\"limits_hit\":[]")) << record;
  }
  // A caller who only looks at the code takes one for the other.
  const std::string program = Workplace::get().program("end_with").string();
  EXPECT_TRUE(control_works(run({program, "code", "124"}).exit_code ==
                            run({"--timeout", "50ms", program, "late", "0"}).exit_code));
}

TEST_P(HostileEnds, NoSignalLooksLikeAnythingElse) {
  declare_attack("imitate a limit by a signal to oneself, each of them",
                 "causes come from the kernel and from our own acts");
  const std::set<int> harmless = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH,
                                  SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
  for (int number = 1; number <= SIGRTMAX; ++number) {
    if (harmless.contains(number) || number == 32 || number == 33) continue;  // libc's two
    const Record record = end_with("signal", number, {"--timeout", "10s"});
    // SIGXFSZ is what the limit of a file's size sends, and is told as that.
    EXPECT_EQ(record.status(), number == SIGXFSZ ? "disk_limit" : "signaled") << record;
    EXPECT_FALSE(record.text("signal").empty()) << number;
  }
  const std::string program = Workplace::get().program("end_with").string();
  const std::string hog = Workplace::get().program("memory_hog").string();
  EXPECT_TRUE(control_works(run({program, "signal", "9"}).exit_code ==
                            run({"-m", "32m", hog, "256"}).exit_code));
}

TEST_P(HostileEnds, ASuccessAfterTheTimeoutIsNone) {
  declare_attack("exit with 0 when the time limit's signal comes", "the first cause stands");
  const Record record = end_with("late", 0, {"--timeout", "100ms"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_EQ(record.status(), "timeout");
  EXPECT_FALSE(record.is_true("success"));
  EXPECT_TRUE(control_works(record.number("exit_code") == 0));
}

TEST_P(HostileEnds, TextThatLooksLikeARecordIsData) {
  declare_attack("print what looks like a record or an event", "text is data, causes are not");
  const std::string forged = R"({"seq":9,"type":"exit","record":{"status":"oom"}})";
  const Record record =
      bash("echo armed; echo '" + forged + "'; echo '" + forged + "' >&2; exit 3");
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_EQ(record.number("exit_code"), 3);
  EXPECT_TRUE(control_works(record.out() == "armed\n" + forged + "\n"));
}

}  // namespace
}  // namespace wardcase::test

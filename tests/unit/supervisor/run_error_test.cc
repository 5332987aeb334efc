// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/run_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "supervisor/languages/error_hints.h"

namespace wardcase::supervisor {
namespace {

using policies::LimitId;

RunRecord ended(RunStatus status, std::optional<int> exit_code = std::nullopt) {
  RunRecord record;
  record.status = status;
  record.exit_code = exit_code;
  if (status != RunStatus::exited) record.error = "a limit was reached";
  return record;
}

RunRecord described(const ToldError& told, RunRecord record = ended(RunStatus::exited, 1),
                    const ErrorScene& scene = {}) {
  describe_error(told, scene, record);
  return record;
}

TEST(RunErrors, ALimitThatEndedTheRunHasItsOwnTypeWhateverWasTold) {
  for (const auto& [status, type] :
       {std::pair(RunStatus::timeout, "TimeoutError"),
        std::pair(RunStatus::cpu_time, "TimeoutError"), std::pair(RunStatus::idle, "TimeoutError"),
        std::pair(RunStatus::oom, "MemoryError"),
        std::pair(RunStatus::denied, "PermissionError")}) {
    const RunRecord record =
        described({.type = "Lie", .message = "l", .traceback = "t"}, ended(status));
    EXPECT_EQ(record.error_type, type) << status_name(status);
    EXPECT_EQ(record.error_message, "a limit was reached");
    EXPECT_EQ(record.traceback, std::nullopt);
    EXPECT_EQ(record.status, status);
  }
}

TEST(RunErrors, WhatWasToldCountsOnlyOfAProgramThatFailed) {
  const ToldError told = {.type = "ValueError", .message = "b", .traceback = "T"};
  for (const RunRecord& failed :
       {ended(RunStatus::exited, 1), ended(RunStatus::exited, 255), ended(RunStatus::signaled)}) {
    const RunRecord record = described(told, failed);
    EXPECT_EQ(record.error_type, "ValueError");
    EXPECT_EQ(record.error_message, "b");
    EXPECT_EQ(record.traceback, "T");
    EXPECT_EQ(record.exit_code, failed.exit_code);
    EXPECT_EQ(record.error, failed.error);
  }
  for (const RunRecord& other :
       {ended(RunStatus::exited, 0), ended(RunStatus::stopped), ended(RunStatus::output_limit),
        ended(RunStatus::disk_limit), ended(RunStatus::lost)}) {
    const RunRecord record = described(told, other);
    EXPECT_EQ(record.error_type, std::nullopt) << status_name(other.status);
    EXPECT_EQ(record.error_message, std::nullopt);
    EXPECT_EQ(record.traceback, std::nullopt);
  }
  EXPECT_EQ(described({}).error_type, std::nullopt);  // nothing was told
}

TEST(RunErrors, OneKindOfFailureHasOneName) {
  for (const auto& [told, type] :
       {std::pair(ToldError{.type = "IndentationError"}, "SyntaxError"),
        std::pair(ToldError{.type = "TabError"}, "SyntaxError"),
        std::pair(ToldError{.type = "ModuleNotFoundError"}, "ImportError"),
        std::pair(ToldError{.type = "Error", .code = "MODULE_NOT_FOUND"}, "ImportError"),
        std::pair(ToldError{.type = "Error", .code = "ERR_MODULE_NOT_FOUND"}, "ImportError"),
        std::pair(ToldError{.type = "Error", .code = "EACCES"}, "PermissionError"),
        std::pair(ToldError{.type = "Error", .code = "ENOENT"}, "Error"),
        std::pair(ToldError{.type = "JSONDecodeError"}, "JSONDecodeError")}) {
    EXPECT_EQ(described(told).error_type, type);
  }
}

TEST(RunErrors, AHintNamesTheLimitsFlagAndItsMaximum) {
  RunRecord record = ended(RunStatus::timeout);
  EXPECT_EQ(described({}, record).hint, "raise it with --timeout, at most 600s");
  record.limits.require(LimitId::timeout, 600'000);
  EXPECT_EQ(described({}, record).hint,
            "--timeout is at its maximum of 600s (limits.max.timeout, built in); raise that in "
            "~/.config/wardcase/wardcase.toml");
  record.limits.set_maximum(LimitId::timeout, {600'000, "/etc/wardcase/wardcase.toml:3"});
  EXPECT_EQ(described({}, record).hint,
            "--timeout is at its maximum of 600s (limits.max.timeout, "
            "/etc/wardcase/wardcase.toml:3); raise that there");
  EXPECT_EQ(described({}, ended(RunStatus::oom)).hint, "raise it with --memory");
  EXPECT_EQ(described({}, ended(RunStatus::cpu_time)).hint, "raise it with --cpu-time");
  EXPECT_EQ(described({}, ended(RunStatus::idle)).hint,
            "raise it with --idle-timeout, at most 600s");
  EXPECT_EQ(described({}, ended(RunStatus::output_limit)).hint, "raise it with --output-limit");
  RunRecord disk = ended(RunStatus::disk_limit);
  EXPECT_EQ(described({}, disk).hint, "raise it with --disk");
  disk.signal = SIGXFSZ;
  EXPECT_EQ(described({}, disk).hint, "raise it with --file-size");
}

TEST(RunErrors, AHintNamesWhatTheExceptionWasAbout) {
  for (const auto& [told, hint] : {
           std::pair(ToldError{.type = "SyntaxError", .file = "/box/main.py", .line = 3},
                     "look at line 3 of main.py"),
           std::pair(ToldError{.type = "ModuleNotFoundError", .module = "pandas.core"},
                     "'pandas.core' is not installed; add --requirement pandas"),
           std::pair(ToldError{.type = "Error", .code = "MODULE_NOT_FOUND", .module = "./lib"},
                     "'./lib' is not in the box; add --workspace DIR"),
           std::pair(ToldError{.type = "MemoryError"}, "raise it with --memory"),
           std::pair(ToldError{.type = "EOFError"},
                     "the program's stdin is empty; add -i or --stdin FILE"),
           std::pair(ToldError{.type = "FileNotFoundError", .path = "a", .error_number = ENOENT},
                     "'a' is not in the box; show it with --workspace DIR or -v"),
           std::pair(
               ToldError{
                   .type = "FileNotFoundError", .path = "/proc/1/environ", .error_number = ENOENT},
               ""),
           std::pair(ToldError{.type = "OSError", .path = "/usr/a", .error_number = EROFS},
                     "'/usr/a' is closed to the program, which writes to /box, /tmp and its home, "
                     "and to what --workspace DIR:rw or -v SRC:DST:rw shows"),
           std::pair(ToldError{.type = "OSError", .path = "a", .error_number = ENOSPC},
                     "the disk limit is reached; raise it with --disk"),
           std::pair(ToldError{.type = "ValueError"}, ""),
       }) {
    EXPECT_EQ(described(told).hint, hint) << told.type;
  }
  const ErrorScene fed = {.has_stdin = true, .prelude = ""};
  EXPECT_EQ(described({.type = "EOFError"}, ended(RunStatus::exited, 1), fed).hint, "");
}

TEST(RunErrors, AHintShowsNoNameThatCouldMoveACursorOrFillAScreen) {
  for (const std::string& name : {std::string("a\x1b[2J"), std::string("a\nb"), std::string("\x7f"),
                                  std::string(256, 'a'), std::string()}) {
    EXPECT_EQ(described({.type = "ImportError", .module = name}).hint, "") << name;
    EXPECT_EQ(described({.type = "E", .path = name, .error_number = ENOENT}).hint, "") << name;
    EXPECT_EQ(described({.type = "SyntaxError", .file = name, .line = 1}).hint, "") << name;
  }
}

TEST(RunErrors, AHintThatIsThereStays) {
  RunRecord record = ended(RunStatus::exited, 1);
  record.hint = "the policy refused ptrace";
  EXPECT_EQ(described({.type = "ImportError", .module = "m"}, record).hint, record.hint);
}

TEST(RunErrors, APackageMayHaveAnotherNameThanItsModule) {
  EXPECT_EQ(package_of("sklearn.svm"), "scikit-learn");
  EXPECT_EQ(package_of("numpy"), "numpy");
  EXPECT_EQ(package_of("@scope/name/part"), "@scope/name");
  EXPECT_EQ(package_of("lodash/fp"), "lodash");
}

TEST(RunErrors, APreludeThatFailedIsNamed) {
  const ErrorScene scene = {.has_stdin = false, .prelude = "x.py"};
  const ToldError thrown = {
      .type = "ValueError", .message = "secret", .prelude = PreludeState::begun};
  EXPECT_EQ(described(thrown, ended(RunStatus::exited, 1), scene).error,
            "prelude 'x.py' failed: ValueError");
  const ToldError begun = {.prelude = PreludeState::begun};
  EXPECT_EQ(described(begun, ended(RunStatus::exited, 3), scene).error,
            "prelude 'x.py' failed: exit code 3");
  RunRecord killed = ended(RunStatus::signaled);
  killed.signal = SIGSEGV;
  EXPECT_EQ(described(begun, killed, scene).error, "prelude 'x.py' failed: ended by SIGSEGV");
  const RunRecord left = described(begun, ended(RunStatus::exited, 0), scene);
  EXPECT_EQ(left.error, "");
  EXPECT_EQ(left.hint, "prelude 'x.py' ended the run before the program began");
  EXPECT_TRUE(left.success());
  // Said by a program without a prelude it means nothing, and a limit is no failure of its.
  EXPECT_EQ(described(begun, ended(RunStatus::exited, 3)).error, "");
  EXPECT_EQ(described(begun, ended(RunStatus::timeout), scene).error, "a limit was reached");
}

}  // namespace
}  // namespace wardcase::supervisor

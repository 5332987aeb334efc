// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Each system call of a run, from the command's first to the program's exec and on to the end,
// fails once. Then the result is right, or an error says what failed; whatever runs, runs confined
// as it was asked for; and nothing is left.
#include <gtest/gtest.h>
#include <seccomp.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "tests/faults/effort.h"
#include "tests/faults/fault_points.h"
#include "tests/faults/traced_run.h"

namespace wardcase::test {
namespace {

constexpr int kExitCode = 7;  // of isolation_report
constexpr int kFailed = 125;

// The lines of `now` that `before` does not have, each after a mark.
std::string added(const std::string& before, const std::string& now, const char* mark = "") {
  const auto lines_of = [](const std::string& text) {
    std::multiset<std::string> lines;
    std::istringstream rest(text);
    for (std::string line; std::getline(rest, line);) lines.insert(line);
    return lines;
  };
  const auto old_lines = lines_of(before);
  std::string text;
  for (const std::string& line : lines_of(now)) {
    if (!old_lines.contains(line)) text += mark + line + "\n";
  }
  return text;
}

std::string differing(const std::string& right, const std::string& found) {
  return added(found, right, "-") + added(right, found, "+");
}

class Faults : public WithCaller {
 protected:
  Faults()
      : shared_(caller()), files_before_(list_runtime_files()), cgroups_before_(list_cgroups()) {}

  // Learns which calls there are, and what is right.
  void record(const Command& command) {
    faultless_ = run_traced(command);
    right_ = faultless_.outcome.record();
    ASSERT_EQ(faultless_.outcome.exit_code, kExitCode) << faultless_.outcome;
    ASSERT_TRUE(right_.out().ends_with("complete\n")) << faultless_.outcome;
    ASSERT_TRUE(faultless_.is_executed);
  }

  // Tries what Effort says of all points of the command.
  void fail_calls_of(const Command& command);

  [[nodiscard]] static std::string program() {
    return Workplace::get().program("isolation_report").string();
  }
  [[nodiscard]] const ScratchDirectory& shared() const { return shared_; }

  [[nodiscard]] std::string judge(const TracedOutcome& traced, const Fault& fault);
  [[nodiscard]] std::string judge_record(const TracedOutcome& traced, const Record& told) const;
  [[nodiscard]] std::string judge_refusal(const TracedOutcome& traced, const Fault& fault,
                                          const Record& told) const;
  [[nodiscard]] std::string what_is_left(const TracedOutcome& traced);
  [[nodiscard]] bool tells_of_less(const Record& told) const {
    return told.json("isolation.degraded") != right_.json("isolation.degraded");
  }
  // By what `degraded` names: without a listener refused calls are answered otherwise and not
  // told, without Landlock the program's signals reach init, which ignores them.
  [[nodiscard]] bool is_excused(std::string_view member, const Record& told) const {
    const bool is_untold = told.is_degraded("syscall_notification");
    const bool is_said = member == "stdout" || member == "output";
    return (member == "isolation.effective" && tells_of_less(told)) ||
           (member == "denied_syscalls" && is_untold) ||
           (is_said && (is_untold || told.is_degraded("landlock")));
  }
  // A control group of processors is replaced by an affinity, which stands here only.
  [[nodiscard]] bool tells_of_another(const Record& told) const {
    return told.json("enforced_by") != right_.json("enforced_by");
  }

  TracedOutcome faultless_;
  Record right_;

 private:
  ScratchDirectory shared_;
  std::string files_before_;
  std::string cgroups_before_;
};
WARDCASE_AS_ROOT_AND_USER(Faults);

// The program ran to its end: all that is told of it is as without a fault.
std::string Faults::judge_record(const TracedOutcome& traced, const Record& told) const {
  std::string wrong;
  for (const char* member :
       {"status", "exit_code", "signal", "stdout", "stderr", "output", "leftover_processes",
        "limits", "limits_hit", "enforced_by", "isolation.effective", "denied_syscalls"}) {
    if (told.json(member) == right_.json(member)) continue;
    if (std::string_view(member) == "enforced_by") continue;  // what it is held by is compared
    if (is_excused(member, told)) continue;
    wrong +=
        std::string(member) + " is " + told.json(member) + ", not " + right_.json(member) + "; ";
  }
  if (!traced.is_executed) wrong += "a result without a program; ";
  return wrong;
}

// An error of ours: it names what failed, and does not say of what ran that it did not.
std::string Faults::judge_refusal(const TracedOutcome& traced, const Fault& fault,
                                  const Record& told) const {
  const std::string said = traced.outcome.err() + told.text("error");
  std::string wrong;
  // A filter around us can hide Landlock: that is told as its absence.
  const bool is_hidden = said.find("pass landlock_create_ruleset") != std::string::npos;
  if (!is_hidden && said.find(::strerrorname_np(fault.error)) == std::string::npos) {
    wrong += "it does not say what failed: [" + said + "]; ";
  }
  const bool says_nothing_ran =
      told.status() == "setup_failed" || told.status() == "cannot_execute";
  if (says_nothing_ran && traced.is_executed) wrong += told.status() + ", but the program ran; ";
  return wrong;
}

std::string Faults::judge(const TracedOutcome& traced, const Fault& fault) {
  const Outcome& outcome = traced.outcome;
  std::string wrong;
  if (traced.has_hung) wrong += "it hung; ";
  if (outcome.signal != 0) wrong += "died of signal " + std::to_string(outcome.signal) + "; ";
  const Record told = outcome.out().empty() ? Record() : outcome.record();
  if (outcome.exit_code == kExitCode) {
    wrong += judge_record(traced, told);
  } else if (outcome.exit_code == kFailed ||
             (told.status() == "cannot_execute" && !traced.is_executed)) {
    wrong += judge_refusal(traced, fault, told);
  } else if (outcome.signal == 0) {
    wrong += "exit code " + std::to_string(outcome.exit_code) + " [" + told.status() + "] [" +
             outcome.err() + "]; ";
  }
  if (traced.is_executed && (!tells_of_less(told) || told.is_degraded("syscall_notification"))) {
    const std::string other = differing(faultless_.confinement, traced.confinement);
    const bool is_told = tells_of_another(told) && other.starts_with("-cpu in /wardcase/LEAF:") &&
                         other.find('\n') == other.size() - 1;
    if (!other.empty() && !is_told) wrong += "it was confined otherwise:\n" + other;
  }
  if (fault.error == EINTR && outcome.exit_code != kExitCode) wrong += "an interruption was seen; ";
  return wrong + what_is_left(traced);
}

// What the next start sweeps may be left for it.
std::string Faults::what_is_left(const TracedOutcome& traced) {
  std::string left;
  if (!traced.left.empty()) left += "processes lived on: " + traced.left;
  if (!eventually([] { return list_descendants().empty(); })) left += list_descendants();
  if (added(files_before_, list_runtime_files()).empty() &&
      added(cgroups_before_, list_cgroups()).empty()) {
    return left;
  }
  // An ordinary user's without groups takes no lock, and so sweeps nothing.
  const std::string policy = has_landlock() ? "landlock-only" : "default";
  EXPECT_EQ(run({"--policy", policy, "--", "true"}).exit_code, 0);
  // Each only once: what stays is in the way of the next point's look.
  const std::string files = added(files_before_, list_runtime_files());
  const std::string cgroups = added(cgroups_before_, list_cgroups());
  files_before_ += files;
  cgroups_before_ += cgroups;
  return left + files + cgroups;
}

void Faults::fail_calls_of(const Command& command) {
  ASSERT_NO_FATAL_FAILURE(record(command));
  const std::vector<Fault> all = all_faults(faultless_.calls);
  EXPECT_GE(all.size(), 300U);
  const std::vector<std::size_t> chosen = choose(all.size(), Effort::get().faults());
  std::map<std::string, int> tally;
  for (const std::size_t i : chosen) {
    SCOPED_TRACE(describe(all[i]));
    const TracedOutcome traced = run_traced(command, all[i]);
    if (!traced.was_hit) {  // the loop turned less often this time
      ++tally["not reached"];
      continue;
    }
    EXPECT_EQ(judge(traced, all[i]), "") << traced.outcome;
    ++tally[traced.outcome.exit_code == kExitCode ? "right results" : "errors told"];
  }
  EXPECT_LT(2 * static_cast<std::size_t>(tally["not reached"]), chosen.size());
  std::cout << caller() << ": " << all.size() << " points, tried " << chosen.size();
  for (const auto& [what, count] : tally) std::cout << ", " << what << " " << count;
  std::cout << "\n";
}

// What the comparisons are worth: they tell boxes apart that were asked to differ.
TEST_P(Faults, ABoxThatHoldsLessIsSeenToHoldLess) {
  ASSERT_NO_FATAL_FAILURE(record(run_command({"--json", "--cpus", "1", program()})));
  const TracedOutcome same = run_traced(run_command({"--json", "--cpus", "1", program()}));
  EXPECT_EQ(same.confinement, faultless_.confinement);
  for (const auto& [flag, value] : {std::pair("--network", "host"), std::pair("--memory", "512m"),
                                    std::pair("--open-files", "64"), std::pair("--pids", "20")}) {
    const TracedOutcome other =
        run_traced(run_command({"--json", "--cpus", "1", flag, value, program()}));
    EXPECT_EQ(other.outcome.exit_code, kExitCode) << flag << other.outcome;
    EXPECT_NE(other.confinement, faultless_.confinement) << flag;
  }
}

TEST_P(Faults, TheCallThatIsToFailFailsAndNoOther) {
  const Command command = run_command({"--json", program()});
  const CallSite first_pair = {"s", ::seccomp_syscall_resolve_name("socketpair"), 0};
  const TracedOutcome traced = run_traced(command, Fault{first_pair, EMFILE});
  EXPECT_TRUE(traced.was_hit);
  EXPECT_FALSE(traced.is_executed);
  EXPECT_EQ(traced.outcome.exit_code, kFailed);
  EXPECT_NE(traced.outcome.err().find("make a socket pair: "), std::string::npos) << traced.outcome;
}

TEST_P(Faults, WhateverCallFailsTheResultIsRightOrTheErrorIsTold) {
  fail_calls_of(run_command({"--json", "--cpus", "1", program()}));
}

TEST_P(Faults, SoItIsWithStdinAWorkspaceAndSavedOutput) {
  const std::string input = shared().write("input", std::string(100'000, 'x') + "end");
  std::filesystem::create_directory(shared().path() / "work");
  std::filesystem::permissions(shared().path() / "work", std::filesystem::perms::all);
  fail_calls_of(run_command({"--json", "--stdin", input, "--workspace",
                             (shared().path() / "work").string() + ":rw", "--save-output",
                             (shared().path() / "saved").string(), program()}));
}

TEST_P(Faults, SoItIsWithoutNamespaces) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  // The usual report would tell of the host, which is another each time.
  const std::string code =
      "exec 2>/dev/null; for f in /etc/shadow /root/. /proc/1/environ $HOME/none; do cat $f; echo "
      "$?; "
      "done; echo x >/tmp/wardcase-faults; echo $?; kill -9 $PPID; echo $?; (exec "
      "3<>/dev/tcp/::1/9); "
      "echo $?; unshare -U true; echo $?; echo complete; exit 7";
  fail_calls_of(run_command(
      {"--json", "--cpus", "1", "--policy", "landlock-only", "-l", "bash", "-c", code}));
}

// What a full table of files does to calls that no error stands for: descriptors that come by a
// message are dropped, and libraries go on without their files.
TEST_P(Faults, SoItIsWithHoweverFewDescriptors) {
  ASSERT_NO_FATAL_FAILURE(record(run_command({"--json", "--cpus", "1", program()})));
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kMost = 80;
  int right = 0;
  const std::vector<std::size_t> chosen = choose(kMost - kFewest, Effort::get().faults() / 4);
  for (const std::size_t i : chosen) {
    const std::string limit = std::to_string(kFewest + i);
    SCOPED_TRACE(limit + " descriptors");
    const TracedOutcome traced =
        run_traced(Command::other(caller(), {"/usr/bin/prlimit", "--nofile=" + limit + ":",
                                             Workplace::get().command().string(), "run", "--json",
                                             "--cpus", "1", program()}));
    EXPECT_EQ(judge(traced, Fault{{}, EMFILE}), "") << traced.outcome;
    right += traced.outcome.exit_code == kExitCode ? 1 : 0;
  }
  std::cout << caller() << ": tried " << chosen.size() << " limits, right results " << right
            << "\n";
}

}  // namespace
}  // namespace wardcase::test

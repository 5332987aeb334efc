// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Dry runs: what they tell is what the run would be, nothing of the program runs, and
// nothing is left.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class DryRuns : public WithCaller {
 protected:
  DryRuns() : shared_(caller()) {}

  [[nodiscard]] const std::filesystem::path& shared() const { return shared_.path(); }
  [[nodiscard]] std::vector<std::string> marking(std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"-v", shared().string() + ":/out:rw", "-l", "bash", "-c",
                               "echo ran; : > /out/ran"});
    return flags;
  }
  [[nodiscard]] bool has_run() const { return std::filesystem::exists(shared() / "ran"); }

 private:
  ScratchDirectory shared_;
};
WARDCASE_AS_ROOT_AND_USER(DryRuns);

TEST_P(DryRuns, NothingRunsAndNothingIsLeft) {
  const std::string groups = list_cgroups();
  const std::string files = list_runtime_files();
  for (const char* form : {"--dry-run", "--dry-run=json"}) {
    const Outcome outcome = run(marking({form}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    EXPECT_EQ(outcome.err(), "");
    EXPECT_EQ(outcome.out().find("\nran"), std::string::npos) << outcome;
    EXPECT_FALSE(has_run());
  }
  // Runs of others on this host come and go.
  EXPECT_TRUE(eventually([&] { return list_cgroups() == groups; })) << list_cgroups();
  EXPECT_TRUE(eventually([&] { return list_runtime_files() == files; })) << list_runtime_files();
  // The control.
  EXPECT_EQ(run(marking({})).out(), "ran\n");
  EXPECT_TRUE(has_run());
}

// A static program that writes at once, so that the shortest moment of its own would show.
TEST_P(DryRuns, TheCallersStdinIsLeftToTheNextCommand) {
  const auto rest_after = [](const std::string& flags) {
    const std::string start = Workplace::get().command().string() + " run " + flags;
    return Command::other(caller(), {"/bin/sh", "-c", start + " -- cat > /dev/null; cat"})
        .input("first\nsecond\n")
        .finish()
        .out();
  };
  EXPECT_EQ(rest_after("--dry-run -i"), "first\nsecond\n");
  EXPECT_EQ(rest_after("-i"), "");
}

TEST_P(DryRuns, TheProgramIsEndedBeforeItsFirstInstruction) {
  const auto flood = [](bool rehearsal) {
    supervisor::RunSpec spec = spec_of({"/programs/output_flood"});
    spec.mounts = {{(Workplace::get().root() / "programs").string(), "/programs"}};
    spec.limits.require(policies::LimitId::output, 4096);
    spec.rehearsal = rehearsal;
    return run_in_process(std::move(spec));
  };
  const std::string found = check_as(caller(), [&]() -> std::string {
    if (flood(/*rehearsal=*/false).output.empty()) return "the control wrote nothing";
    for (int i = 0; i < 20; ++i) {
      const InProcessRun told = flood(/*rehearsal=*/true);
      if (!told.output.empty() || told.record.out.bytes != 0) return "it wrote something";
      if (told.record.status != supervisor::RunStatus::exited) return told.record.error;
      if (told.record.exit_code) return "there is an exit code";
    }
    return "";
  });
  EXPECT_EQ(found, "");
}

TEST_P(DryRuns, TheRecordOfTheRunSaysTheSame) {
  const std::vector<std::string> flags = {"-m", "64m", "--network", "host", "-e", "NAME=secret"};
  std::vector<std::string> dry = {"--dry-run=json"};
  dry.insert(dry.end(), flags.begin(), flags.end());
  const Outcome outcome = run(marking(dry));
  const Record told = outcome.record();
  std::vector<std::string> json = {"--json"};
  json.insert(json.end(), flags.begin(), flags.end());
  const Record run_told = run(marking(json)).record();
  for (const char* path : {"limits.memory_bytes", "limits.timeout_ms", "limits.pids"}) {
    EXPECT_EQ(told.number(path), run_told.number(path)) << path;
  }
  for (const char* path : {"enforced_by.memory", "enforced_by.pids", "enforced_by.cpus"}) {
    EXPECT_EQ(told.text(path), run_told.text(path)) << path;
    EXPECT_NE(told.text(path), "");
  }
  EXPECT_EQ(told.is_degraded("memory_cgroup"), run_told.is_degraded("memory_cgroup"));
  EXPECT_EQ(told.is_degraded("shared_host_uid"), !is_root());
  EXPECT_TRUE(told.is_true("would_run")) << told;
  EXPECT_TRUE(told.lists("isolation.effective", "network=host"));
  EXPECT_TRUE(told.lists("environment", "NAME"));
  EXPECT_EQ(outcome.out().find("secret"), std::string::npos) << outcome;
  EXPECT_NE(outcome.out().find("\"target\":\"/out\",\"mode\":\"rw\""), std::string::npos);
}

TEST_P(DryRuns, EachLimitSaysWhoSetIt) {
  const ScratchDirectory files(caller());
  const std::string policy =
      files.write("p.toml", "schema = 1\n[limits]\npids = 9\n[limits.max]\ngrace = 1\n");
  const Record told = run_command({"--dry-run=json", "--policy", policy, "-m", "64m", "--", "true"})
                          .environment("WARDCASE_TIMEOUT=9s")
                          .finish()
                          .record();
  EXPECT_EQ(told.text("limit_origins.memory"), "--memory") << told;
  EXPECT_EQ(told.text("limit_origins.timeout"), "WARDCASE_TIMEOUT");
  EXPECT_EQ(told.text("limit_origins.pids"), policy + ":3");
  EXPECT_EQ(told.text("limit_origins.grace"), "limits.max.grace, " + policy + ":5");
  EXPECT_EQ(told.number("limits.grace_ms"), 1000);
  EXPECT_EQ(told.text("limit_origins.disk"), "built in");
}

TEST_P(DryRuns, AVariableAboveTheMaximumIsLoweredAndAWrongOneIsRefused) {
  const auto with = [&](const char* variable) {
    return run_command({"--dry-run=json", "--", "true"}).environment(variable).finish();
  };
  const Record lowered = with("WARDCASE_TIMEOUT=2h").record();
  EXPECT_EQ(lowered.number("limits.timeout_ms"), 600'000) << lowered;
  EXPECT_EQ(lowered.text("limit_origins.timeout"), "limits.max.timeout, built in");
  EXPECT_EQ(with("WARDCASE_TIMEOUT=9m").record().number("limits.timeout_ms"), 540'000);
  for (const char* wrong : {"WARDCASE_TIMEOUT=0", "WARDCASE_TIMEOUT=soon"}) {
    const Outcome outcome = with(wrong);
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find("WARDCASE_TIMEOUT"), std::string::npos) << outcome;
  }
}

// Whatever a run is refused for, or its program can't be executed for.
TEST_P(DryRuns, ItFailsAsTheRunWould) {
  const ScratchDirectory files(caller());
  const std::string sealed = files.write("p.toml", "schema = 1\nexecute_writable = false\n");
  const std::string script = files.write("script", "#!/bin/sh\n");
  const std::string odd = files.write("odd", "#!/no/such/interpreter\n");
  const std::vector<std::vector<std::string>> cases = {
      {"--", "no-such-command"},
      {"--", "/etc/passwd"},
      {"no-such-file.py"},
      {odd},
      {"--policy", sealed, script},
      {"-w", "/nowhere", "--", "true"},
      {"--policy", "landlock-only", "-v", "/usr/share:/elsewhere", "--", "true"},
  };
  for (const std::vector<std::string>& arguments : cases) {
    std::vector<std::string> dry = {"--dry-run"};
    dry.insert(dry.end(), arguments.begin(), arguments.end());
    const Outcome told = run(dry);
    const Outcome real = run(arguments);
    EXPECT_EQ(told.exit_code, real.exit_code) << testing::PrintToString(arguments) << told;
    EXPECT_NE(real.exit_code, 0) << testing::PrintToString(arguments);
    EXPECT_EQ(told.err(), real.err());
    EXPECT_EQ(told.out().find("would fail"), 0U) << told;
  }
}

TEST_P(DryRuns, StrictTellsWhatIsMissingAndHowToGetIt) {
  if (is_root() && !has_landlock()) GTEST_SKIP() << "needs Landlock";
  const Outcome told = run({"--dry-run", "--policy", "strict", "--", "true"});
  const Outcome real = run({"--policy", "strict", "--", "true"});
  EXPECT_EQ(told.exit_code, real.exit_code) << told;
  EXPECT_NE(told.out().find("policy       strict\n"), std::string::npos) << told;
  if (is_root()) {
    EXPECT_EQ(told.exit_code, 0) << told;
  } else if (told.exit_code != 0) {
    EXPECT_EQ(told.exit_code, 125);
    EXPECT_NE(told.err().find("requires what this run can't have"), std::string::npos) << told;
    EXPECT_NE(told.err().find("; fix: "), std::string::npos);
    EXPECT_NE(told.out().find("degraded "), std::string::npos);
  }
}

TEST_P(DryRuns, WrongUseIsNamed) {
  const Outcome value = run({"--dry-run=yaml", "--", "true"});
  EXPECT_EQ(value.exit_code, 125);
  EXPECT_NE(value.err().find("write --dry-run or --dry-run=json"), std::string::npos) << value;
  EXPECT_EQ(run({"--dry-run", "--events", "--", "true"}).exit_code, 125);
  // Its value is never the next word, which is the file.
  EXPECT_EQ(run({"--dry-run", "json"}).exit_code, 127);
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Policies and configuration files in force, through the command.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

class Policies : public WithCaller {
 protected:
  Policies() : files_(caller()) {}

  [[nodiscard]] std::string policy(std::string_view text) const {
    return files_.write("p.toml", "schema = 1\n" + std::string(text));
  }
  // `wardcase ARGUMENTS` with $XDG_CONFIG_HOME/wardcase/wardcase.toml of this text.
  [[nodiscard]] Outcome with_configuration(std::string_view text,
                                           std::vector<std::string> arguments) const {
    std::filesystem::create_directories(files_.path() / "wardcase");
    (void)files_.write("wardcase/wardcase.toml", "schema = 1\n" + std::string(text));
    return Command(caller(), std::move(arguments))
        .environment("XDG_CONFIG_HOME=" + files_.path().string())
        .finish();
  }
  // The same in a working directory that has this .wardcase.toml.
  [[nodiscard]] Outcome in_project(std::string_view text, const std::string& arguments) const {
    (void)files_.write(".wardcase.toml", "schema = 1\n" + std::string(text));
    const std::string command = Workplace::get().command().string();
    return Command::other(
               caller(), {"/bin/sh", "-c",
                          "cd " + files_.path().string() + " && exec " + command + " " + arguments})
        .finish();
  }
  void expect_says(const Outcome& outcome, int exit_code, std::string_view words) const {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome;
    EXPECT_NE(outcome.err().find(words), std::string::npos) << words << " in " << outcome;
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Policies);

TEST_P(Policies, LimitsAndMaximaAreInForce) {
  const std::string file = policy("[limits]\ntimeout = 7\npids = 9\n[limits.max]\ntimeout = 8");
  const Record record = bash("true", {"--policy", file});
  EXPECT_EQ(record.number("limits.timeout_ms"), 7000) << record;
  EXPECT_EQ(record.number("limits.pids"), 9);
  EXPECT_EQ(bash("true", {"--policy", file, "--timeout", "8"}).number("limits.timeout_ms"), 8000);
  expect_says(run({"--policy", file, "--timeout", "9", "--", "true"}), 125,
              "--timeout 9: maximum is 8s (limits.max.timeout, " + file + ":6); raise it there");
}

TEST_P(Policies, AForbiddenNetworkIsRefusedByName) {
  const std::string file = policy("[network]\nallowed = [\"none\"]");
  expect_says(run({"--policy", file, "--network", "host", "--", "true"}), 125,
              "--network host: the policy 'p' does not allow it (network.allowed, " + file + ":3)");
  EXPECT_EQ(run({"--policy", file, "--", "true"}).exit_code, 0);
}

TEST_P(Policies, TheNetworkOfAPolicyIsUsed) {
  const std::string file =
      policy("[network]\ndefault = \"host\"\n[dangerous]\nhost_network = \"a test\"");
  const Record record = bash("true", {"--policy", file});
  EXPECT_TRUE(record.lists("isolation.effective", "network=host")) << record;
}

TEST_P(Policies, DeniedCallsAreRefusedAndTheControlPasses) {
  const std::string code = "import os; print(os.getpgid(0))";
  EXPECT_EQ(python(code).number("exit_code"), 0);
  const std::string file =
      policy("[syscalls]\ndeny = [{ call = \"getpgid\", as = \"errno:ENOSYS\" }]");
  const Record record = python(code, {"--policy", file});
  EXPECT_NE(record.err().find("Function not implemented"), std::string::npos) << record;
  const std::string kill = policy("[syscalls]\ndeny = [{ call = \"getpgid\", as = \"kill\" }]");
  EXPECT_NE(python(code, {"--policy", kill}).status(), "exited");
}

TEST_P(Policies, ALiftedRuleNeedsAReasonAndThenHolds) {
  const std::string keyring =
      "import ctypes; l = ctypes.CDLL(None, use_errno=True); l.syscall(250, 99, 0); "
      "print(ctypes.get_errno())";  // keyctl with no such command
  EXPECT_EQ(python(keyring).out(), "1\n");
  const std::string file = policy("[dangerous.syscalls]\nkeyctl = \"a test\"");
  EXPECT_NE(python(keyring, {"--policy", file}).out(), "1\n");
  expect_says(run({"--policy", policy("[syscalls]\nallow = [\"keyctl\"]"), "--", "true"}), 125,
              "[dangerous.syscalls] keyctl");
}

TEST_P(Policies, AnAllowListRunsWhatItNamesAndRefusesTheRest) {
  const std::string head =
      "extends = \"base\"\n[syscalls]\nallow = [\"@basic-io\", \"@files\", "
      "\"@memory\", \"@threads\", \"@processes\", \"@signals\", \"@identity\"";
  const std::string code =
      "import socket, time\n"
      "try: socket.socket(socket.AF_UNIX); print('made')\n"
      "except PermissionError: print('refused')\n";
  EXPECT_EQ(python(code, {"--policy", policy(head + ", \"@time\"]")}).out(), "refused\n");
  EXPECT_EQ(python(code, {"--policy", policy(head + ", \"@time\", \"@network\"]")}).out(),
            "made\n");
}

TEST_P(Policies, EnvironmentAndMountsAreGiven) {
  const ScratchDirectory shown(caller());
  (void)shown.write("f", "seen\n");
  const std::string file = policy(
      "[environment]\nFROM = \"policy\"\nBOTH = \"policy\"\n[[mount]]\n"
      "source = \"" +
      shown.path().string() + "\"\ntarget = \"/in\"");
  const Record record =
      bash("echo $FROM $BOTH; cat /in/f; touch /in/g", {"--policy", file, "-e", "BOTH=flag"});
  EXPECT_EQ(record.out(), "policy flag\nseen\n") << record;
  EXPECT_NE(record.number("exit_code"), 0);
}

TEST_P(Policies, MistakesAreNamedByPlace) {
  const std::string file = policy("[limits]\nmemry = \"1g\"");
  expect_says(run({"--policy", file, "--", "true"}), 125,
              file + ":3:1: unknown key 'memry' in [limits]; did you mean 'memory'?");
  expect_says(run({"--policy", "no-such", "--", "true"}), 125, "policy 'no-such': there is none");
  expect_says(run({"--policy", policy("[syscalls]\ndeny = [\"nonsense\"]"), "--", "true"}), 125,
              "'nonsense': no such system call");
}

TEST_P(Policies, APolicyRunsOnlyWhereAllThatItRequiresCanBeHad) {
  if (is_root() && !has_landlock()) GTEST_SKIP() << "needs Landlock";
  for (const char* name : {"strict", "multiuser"}) {
    const Outcome outcome = run({"--policy", name, "-l", "python", "-c", "print(1)"});
    if (outcome.exit_code == 0) {
      EXPECT_EQ(outcome.out(), "1\n") << outcome;
      // No ordinary user can give a box an id of its own.
      EXPECT_TRUE(is_root() || std::string_view(name) == "strict");
    } else {
      EXPECT_FALSE(is_root()) << outcome;
      expect_says(outcome, 125,
                  "policy '" + std::string(name) + "' requires what this run can't have: ");
      expect_says(outcome, 125, "; fix: ");
      EXPECT_EQ(outcome.out(), "");
    }
  }
}

TEST_P(Policies, NothingThatWasWrittenCanBeExecutedWhereThePolicySaysSo) {
  const std::string code =
      "cp /bin/true /tmp/t; cp /bin/true /box/t; /tmp/t; echo $?; /box/t; echo $?";
  EXPECT_EQ(bash(code).out(), "0\n0\n");
  const Record record = bash(code, {"--policy", policy("execute_writable = false")});
  EXPECT_EQ(record.out(), "126\n126\n") << record;
  // Nor can a loader be made to do it.
  const std::string loaded = "cp /bin/echo /box/e; /lib64/ld-linux-x86-64.so.2 /box/e ran";
  EXPECT_EQ(bash(loaded).out(), "ran\n");
  const Record refused = bash(loaded, {"--policy", policy("execute_writable = false")});
  EXPECT_EQ(refused.out(), "") << refused;
  EXPECT_NE(refused.err().find("failed to map"), std::string::npos) << refused;
  // Nor by another mount of what can be written to.
  const ScratchDirectory shared(caller());
  const std::string both = shared.path().string();
  const Record again = bash(
      "cp /bin/echo /a/e; /b/e ran",
      {"-v", both + ":/a:rw", "-v", both + ":/b", "--policy", policy("execute_writable = false")});
  EXPECT_EQ(again.out(), "") << again;
  EXPECT_EQ(bash("cp /bin/echo /a/e; /b/e ran", {"-v", both + ":/a:rw", "-v", both + ":/b"}).out(),
            "ran\n");
  // Scripts and the interpreters themselves go on working.
  EXPECT_EQ(
      bash("echo 'echo ran' >s; bash s", {"--policy", policy("execute_writable = false")}).out(),
      "ran\n");
}

TEST_P(Policies, ConfigurationGivesDefaultsAndMaxima) {
  const std::string text = "[limits]\ntimeout = 5\n[limits.max]\ntimeout = 900";
  const Outcome outcome = with_configuration(text, {"run", "--json", "--", "true"});
  EXPECT_EQ(outcome.record().number("limits.timeout_ms"), 5000) << outcome;
  EXPECT_EQ(with_configuration(text, {"run", "--timeout", "800", "--", "true"}).exit_code, 0);
  const Outcome shown = with_configuration(text, {"config", "show", "--origin"});
  EXPECT_NE(shown.out().find("timeout = \"5s\""), std::string::npos) << shown;
  EXPECT_NE(shown.out().find("wardcase.toml:3"), std::string::npos) << shown;
  EXPECT_EQ(with_configuration(text, {"config", "check"}).exit_code, 0);
  expect_says(with_configuration("[limits]\ntimeout = 0", {"config", "check"}), 1,
              "limits.timeout");
}

TEST_P(Policies, AVariableChoosesThePolicyAndAFlagIsStronger) {
  const auto named = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--json"});
    flags.insert(flags.end(), {"--", "true"});
    return run_command(flags)
        .environment("WARDCASE_POLICY=" + policy("[limits]\ntimeout = 4"))
        .finish()
        .record()
        .number("limits.timeout_ms");
  };
  EXPECT_EQ(named({}), 4000);
  EXPECT_EQ(named({"--policy", "default"}), 60'000);
}

TEST_P(Policies, AProjectsFileMayOnlyTighten) {
  const Outcome tighter = in_project("[limits]\ntimeout = 3", "run --json -- true");
  EXPECT_EQ(tighter.record().number("limits.timeout_ms"), 3000) << tighter;
  expect_says(in_project("[limits]\ntimeout = 100", "run -- true"), 125,
              ".wardcase.toml:3: limits.timeout 100s is looser than 60s (built in)");
}

TEST_P(Policies, CanBeListedShownAndChecked) {
  const Outcome listed = Command(caller(), {"policy", "list"}).finish();
  for (const char* name : {"base", "default", "strict", "landlock-only", "multiuser"}) {
    EXPECT_NE(listed.out().find(name), std::string::npos) << listed;
    EXPECT_EQ(Command(caller(), {"policy", "check", name}).finish().exit_code, 0) << name;
    EXPECT_EQ(Command(caller(), {"policy", "show", name}).finish().exit_code, 0) << name;
  }
  const Outcome shown =
      Command(caller(), {"policy", "show", "strict", "--resolved", "--origin"}).finish();
  EXPECT_NE(shown.out().find("strict.toml:"), std::string::npos) << shown;
  EXPECT_NE(shown.out().find("# built in"), std::string::npos) << shown;
  // What is shown can be used.
  const Outcome resolved = Command(caller(), {"policy", "show", "--resolved", "strict"}).finish();
  const ScratchDirectory files(caller());
  EXPECT_EQ(Command(caller(), {"policy", "check", files.write("s.toml", resolved.out())})
                .finish()
                .exit_code,
            0);
  expect_says(Command(caller(), {"policy", "check", policy("[limits]\nx = 1")}).finish(), 1, "'x'");
  expect_says(Command(caller(), {"policy", "no-such"}).finish(), 125, "list, show or check");
}

TEST_P(Policies, TheConfigurationOfAnotherUsersHomeIsNotRead) {
  const ScratchDirectory users(Caller::user);
  const std::string other = is_root() ? users.path().string() : "/root";
  const Outcome outcome =
      run_command({"--", "echo", "ran"}).environment("XDG_CONFIG_HOME=" + other).finish();
  EXPECT_EQ(outcome.out(), "ran\n") << outcome;
}

}  // namespace
}  // namespace wardcase::test

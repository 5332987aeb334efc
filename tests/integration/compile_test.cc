// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that are compiled: a stage of its own, whose outcome is kept by content.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A compiler that is a shell script: whatever the source says is what it does.
constexpr std::string_view kScripted = R"(
schema       = 1
name         = "scripted"
suffixes     = [".scripted"]
interpreters = ["bash"]
snippet_name = "main.scripted"
run          = ["{output}"]

[compile]
command = ["{interpreter}", "{source}", "{output}"]
output  = "made"
errors  = ["{file}:{line}: {text}"]
timeout = "20s"
)";
// For a source: what is made is a script that says what it is given.
constexpr const char* kMake = "printf '#!/bin/sh\\necho \"made $1\"\\n' >\"$1\"; chmod +x \"$1\"\n";

class Compiled : public WithCaller {
 protected:
  Compiled() : files_(caller()) {
    fs::create_directories(files_.path() / "wardcase/languages");
    speak(kScripted);
  }
  void speak(std::string_view scripted) const {
    (void)files_.write("wardcase/languages/scripted.toml", scripted);
  }

  [[nodiscard]] Command command(std::vector<std::string> arguments) const {
    return Command(caller(), std::move(arguments))
        .environment("XDG_CONFIG_HOME=" + files_.path().string())
        .environment("XDG_CACHE_HOME=" + (files_.path() / "cache").string());
  }
  [[nodiscard]] Outcome call(std::vector<std::string> arguments) const {
    return command(std::move(arguments)).finish();
  }
  // `wardcase run --json FLAGS FILE` for this source.
  [[nodiscard]] Record record(const std::string& name, std::string_view source,
                              std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"run", "--json"});
    flags.push_back(file(name, source));
    return call(std::move(flags)).record();
  }
  [[nodiscard]] std::string file(const std::string& name, std::string_view text) const {
    return files_.write(name, text);
  }
  [[nodiscard]] fs::path directory() const { return files_.path(); }
  [[nodiscard]] fs::path cache() const { return files_.path() / "cache/wardcase/compiled"; }
  [[nodiscard]] std::size_t kept() const {
    std::error_code none;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(cache(), none))
      count += entry.exists() ? 1U : 0U;
    return count;
  }

 private:
  ScratchDirectory files_;
};
WARDCASE_AS_ROOT_AND_USER(Compiled);

constexpr const char* kEcho =
    "#include <stdio.h>\nint main(int n, char** a) { char t[9] = \"\"; "
    "if (scanf(\"%8s\", t) != 1) return 9; printf(\"%s %s\\n\", a[1], t); return n; }\n";

TEST_P(Compiled, OnceForAllInputs) {
  const std::string program = file("echo.c", kEcho);
  for (const auto& [argument, input, is_kept] :
       {std::tuple{"a", "first", false}, std::tuple{"b", "second", true}}) {
    const Outcome outcome =
        command({"run", "--json", "-i", program, argument}).input(input).finish();
    const Record record = outcome.record();
    EXPECT_EQ(outcome.exit_code, 2) << outcome;
    EXPECT_EQ(record.out(), std::string(argument) + " " + input + "\n");
    EXPECT_EQ(record.is_true("compile.cached"), is_kept) << record;
    EXPECT_EQ(record.text("compile.status"), "exited");
    EXPECT_EQ(record.number("compile.exit_code"), 0);
    EXPECT_TRUE(record.is_null("install"));
  }
  EXPECT_EQ(kept(), 1U);
}

TEST_P(Compiled, AnewForAnotherSource) {
  EXPECT_EQ(record("a.c", "int main(void) { return 1; }").number("exit_code"), 1);
  const Record other = record("a.c", "int main(void) { return 2; }");
  EXPECT_EQ(other.number("exit_code"), 2) << other;
  EXPECT_FALSE(other.is_true("compile.cached"));
  EXPECT_EQ(kept(), 2U);
}

TEST_P(Compiled, AnewForAFileThatIsPutBesideIt) {
  const std::string program = file("a.c", "#include \"n.h\"\nint main(void) { return N; }");
  const std::string one = "n.h=" + file("one.h", "#define N 1\n");
  const std::string two = "n.h=" + file("two.h", "#define N 2\n");
  EXPECT_EQ(call({"run", "--file", one, program}).exit_code, 1);
  EXPECT_EQ(call({"run", "--file", two, program}).exit_code, 2);
  EXPECT_EQ(call({"run", "--file", one, "--json", program}).record().is_true("compile.cached"),
            true);
}

// What else lies in a directory may be included without a trace in a name.
TEST_P(Compiled, EachTimeWhereADirectoryIsShown) {
  const std::string program = file("a.c", "#include \"n.h\"\nint main(void) { return N; }");
  for (const int number : {1, 2}) {
    (void)file("n.h", "#define N " + std::to_string(number) + "\n");
    const Record record =
        call({"run", "--json", "--workspace", directory().string(), program}).record();
    EXPECT_EQ(record.number("exit_code"), number) << record;
    EXPECT_FALSE(record.is_true("compile.cached"));
  }
  EXPECT_EQ(kept(), 0U);
}

TEST_P(Compiled, TwoOfTheSameAtOnceHappenOnce) {
  const std::string program = file("slow.scripted", std::string("sleep 1.5; ") + kMake);
  Running first = command({"run", "--json", program}).start();
  Running second = command({"run", "--json", program}).start();
  const Record one = first.finish().record();
  const Record other = second.finish().record();
  EXPECT_EQ(one.out() + other.out(), "made \nmade \n") << one << other;
  EXPECT_NE(one.is_true("compile.cached"), other.is_true("compile.cached"));
}

TEST_P(Compiled, ABuildThatIsKilledIsNotKeptAndInNobodysWay) {
  const std::string kept_program = file("kept.scripted", std::string("sleep 3\n") + kMake);
  Running killed = command({"run", kept_program}).start();
  const auto until = std::chrono::steady_clock::now() + 20s;
  const auto is_building = [&] {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(cache(), none)) {
      if (entry.path().extension() == ".lock") return true;
    }
    return false;
  };
  while (!is_building() && std::chrono::steady_clock::now() < until) ::usleep(5'000);
  ASSERT_TRUE(is_building());
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.finish().signal, SIGKILL);
  const Record next = call({"run", "--json", kept_program}).record();
  EXPECT_EQ(next.out(), "made \n") << next;
  EXPECT_FALSE(next.is_true("compile.cached"));
  EXPECT_EQ(kept(), 1U) << "the entry, without a lock and without what was half made";
}

TEST_P(Compiled, AnErrorIsToldWithItsLineAndNothingRuns) {
  const Outcome outcome = call(
      {"run", "--json", file("bad.c", "#include <stdio.h>\nint main(void) {\n  retrun 0;\n}\n")});
  const Record record = outcome.record();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(record.status(), "compile_failed") << record;
  EXPECT_EQ(record.text("error").find("bad.c:3:3: "), 0U) << record.text("error");
  EXPECT_EQ(record.text("hint"), "line 3: retrun 0;");
  EXPECT_EQ(record.text("error_type"), "CompileError");
  EXPECT_NE(record.text("compile.stderr").find("retrun"), std::string::npos);
  EXPECT_EQ(record.number("compile.exit_code"), 1);
  EXPECT_EQ(kept(), 0U);
}

TEST_P(Compiled, TheStageHasLimitsOfItsOwn) {
  // A compiler of C++ needs more than the program may have.
  const Record small =
      record("a.cpp", "#include <iostream>\nint main() { std::cout << 1; }", {"-m", "24m"});
  EXPECT_EQ(small.out(), "1") << small;
  std::string impatient(kScripted);
  impatient.replace(impatient.find("20s"), 3, "1s");
  speak(impatient);
  const Outcome endless = call({"run", "--json", file("endless.scripted", "sleep 60")});
  EXPECT_EQ(endless.record().status(), "compile_failed") << endless;
  EXPECT_EQ(endless.record().text("compile.status"), "timeout");
  EXPECT_NE(endless.record().text("hint").find("[compile] of the language 'scripted'"),
            std::string::npos);
  EXPECT_EQ(endless.exit_code, 1);
  EXPECT_LT(endless.elapsed, 15s);
}

TEST_P(Compiled, TheStageHasNoNetworkWhateverTheProgramHas) {
  const Record record = Compiled::record(
      "net.scripted",
      "readlink /proc/self/ns/net >net; printf '#!/bin/sh\\necho '\"$(cat net)\"'\\n"
      "readlink /proc/self/ns/net\\n' >\"$1\"; chmod +x \"$1\"",
      {"--network", "host"});
  const std::string ours = fs::read_symlink("/proc/self/ns/net").string();
  const std::string stage = record.out().substr(0, record.out().find('\n'));
  EXPECT_EQ(stage.find("net:["), 0U) << record;
  EXPECT_NE(stage, ours);
  EXPECT_EQ(record.out(), stage + "\n" + ours + "\n") << "the control: the program has the host's";
}

TEST_P(Compiled, OnlyARegularFileIsTaken) {
  for (const char* left :
       {"ln -s /etc/passwd \"$1\"", "mkfifo \"$1\"", "mkdir \"$1\"", ": >a; ln a \"$1\"", "true"}) {
    const Record record = Compiled::record("odd.scripted", left);
    EXPECT_EQ(record.status(), "compile_failed") << left << record;
  }
  EXPECT_EQ(kept(), 0U);
  EXPECT_EQ(record("even.scripted", kMake).out(), "made \n") << "the control";
}

TEST_P(Compiled, ACacheThatOthersCanWriteToIsNotUsed) {
  EXPECT_EQ(record("a.c", "int main(void) { return 3; }").number("exit_code"), 3);
  ASSERT_EQ(::chmod(cache().c_str(), 0777), 0);
  for (int i = 0; i < 2; ++i) {
    const Record record = Compiled::record("a.c", "int main(void) { return 3; }");
    EXPECT_EQ(record.number("exit_code"), 3) << record;
    EXPECT_FALSE(record.is_true("compile.cached"));
    EXPECT_TRUE(record.is_degraded("compile_cache"));
  }
  ASSERT_EQ(::chmod(cache().c_str(), 0700), 0);
  EXPECT_TRUE(record("a.c", "int main(void) { return 3; }").is_true("compile.cached"));
}

TEST_P(Compiled, ProgramsRunWhereNothingThatIsWrittenMay) {
  const std::string policy = file("p.toml", "schema = 1\nexecute_writable = false\n");
  for (const bool is_kept : {false, true}) {
    const Record record =
        Compiled::record("a.c", "int main(void) { return 4; }", {"--policy", policy});
    EXPECT_EQ(record.number("exit_code"), 4) << record;
    EXPECT_EQ(record.is_true("compile.cached"), is_kept);
  }
}

TEST_P(Compiled, WithoutNamespacesToo) {
  if (!has_landlock()) GTEST_SKIP() << "needs Landlock";
  const Record record =
      Compiled::record("a.c", "int main(void) { return 5; }", {"--policy", "landlock-only"});
  EXPECT_EQ(record.number("exit_code"), 5) << record;
}

TEST_P(Compiled, AStopEndsTheStage) {
  const std::string program = file("slow.scripted", "sleep 60");
  Running running = command({"run", "--json", program}).start();
  ::usleep(500'000);
  running.signal(SIGTERM);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 143) << outcome;
  EXPECT_EQ(outcome.record().status(), "stopped");
  EXPECT_LT(outcome.elapsed, 30s);
}

TEST_P(Compiled, ADryRunCompilesAndRunsNothing) {
  const ScratchDirectory out(caller());
  const std::string program =
      file("deed.c", "#include <stdio.h>\nint main(void) { return !fopen(\"/out/deed\", \"w\"); }");
  const std::string shown = out.path().string() + ":/out:rw";
  const Outcome dry = call({"run", "--dry-run", "-v", shown, program});
  EXPECT_EQ(dry.exit_code, 0) << dry;
  EXPECT_FALSE(fs::exists(out.path() / "deed"));
  EXPECT_EQ(call({"run", "-v", shown, program}).exit_code, 0);
  EXPECT_TRUE(fs::exists(out.path() / "deed"));
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that mean no harm, and use all that interpreters, compilers and tools have: each
// does its whole work in a box that knows nothing of it, and is refused nothing. Those that
// `strict` forbids fail there, for the reason that is given.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace fs = std::filesystem;
namespace {

using Texts = std::vector<std::string>;

const fs::path kPrograms = "tests/unlucky/programs";

// The limits that some programs compare with what they see.
struct Given {
  const char* policy;
  const char* open_files;
  const char* memory_mebibytes;
  const char* disk_mebibytes;
};
constexpr Given kDefault = {"default", "4096", "1024", "256"};
constexpr Given kStrict = {"strict", "1024", "512", "64"};

Texts no_arguments(const Given&) { return {}; }

struct Program {
  const char* file;
  // What it says where `strict` does not let it work; empty: it works there, too.
  const char* fails_with = "";
  Texts (*arguments)(const Given&) = no_arguments;
  Texts flags = {};
  // The one call that it can't have and does without.
  const char* refused = "";
  // What it says where no control group holds the memory limit; empty: it works there, too.
  const char* fails_by_watcher_with = "";
};
void PrintTo(const Program& program, std::ostream* out) { *out << program.file; }

constexpr const char* kNotExecutable = "Permission denied";  // what was written can't be executed

Texts open_files(const Given& given) { return {given.open_files}; }
Texts cpus_and_disk(const Given& given) { return {"1", given.disk_mebibytes}; }
Texts cpus_and_memory(const Given& given) { return {"1", given.memory_mebibytes}; }

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"python_asyncio.py"},
      {"python_ctypes.py"},
      {"python_home.py"},
      {"python_matplotlib.py"},
      {"python_multiprocessing.py"},
      {"python_numpy.py"},
      {"python_open_files.py", "", open_files},
      {"python_sees_limits.py", "", cpus_and_disk, {"--cpus", "1"}},
      {"python_sqlite3.py"},
      {"python_ssl.py"},
      {"python_subprocess.py"},
      {"python_tempfile.py"},
      {"python_threading.py"},
      {"python_utf8.py"},
      {"python_venv.py"},
      {"node_child_process.js"},
      {"node_cluster.js"},
      {"node_crypto.js"},
      {"node_fs.js"},
      {"node_http.js"},
      {"node_sees_limits.js", "", cpus_and_memory, {"--cpus", "1"}},
      {"node_wasm.js"},
      {"node_worker_threads.js"},
      {"bash_job_control.sh"},
      {"bash_nobody_is_there.sh"},
      {"bash_pipes.sh"},
      {"gcc.sh", kNotExecutable},
      {"gcc_without_running.sh"},
      {"git.sh"},
      {"git_hook.sh", kNotExecutable},
      {"native.c"},
      {"sanitizers.sh", kNotExecutable, no_arguments, {}, "ptrace", "ulimit -v"},
      {"tar.sh"},
  };
  return all;
}

// `strict`, for a caller whom it would refuse for want of control groups: all but that.
std::string strict_without_control_groups(Caller caller) {
  std::string text = Command(caller, {"policy", "show", "strict"}).finish().out();
  const std::size_t begin = text.find("\nrequire = [");
  const std::size_t end = text.find(']', begin);
  EXPECT_NE(end, std::string::npos) << text;
  if (end == std::string::npos) return text;
  return text.replace(begin, end - begin, "\nrequire = [\"network_namespace\", \"landlock\"");
}

class Unlucky : public testing::TestWithParam<std::tuple<Caller, Program>> {
 protected:
  void SetUp() override {
    if (!can_be(caller())) {
      GTEST_SKIP() << "calling wardcase as root needs root: run this program through sudo, too";
    }
    // Once: both runs read it.
    script_ = scratch_.write(program().file, read_file(kPrograms / program().file));
  }

  [[nodiscard]] static Caller caller() { return std::get<0>(GetParam()); }
  [[nodiscard]] static const Program& program() { return std::get<1>(GetParam()); }

  [[nodiscard]] Running start(const Given& given, const std::string& policy) const {
    Texts arguments = {"run", "--json", "--policy", policy};
    arguments.insert(arguments.end(), program().flags.begin(), program().flags.end());
    const fs::path file = program().file;
    if (file.extension() == ".c") {  // built, and mounted: strict runs no native program else
      const std::string built = Workplace::get().program(file.stem()).parent_path();
      arguments.insert(arguments.end(),
                       {"-v", built + ":/programs", "--", "/programs/" + file.stem().string()});
    } else {
      arguments.push_back(script_);
    }
    const Texts own = program().arguments(given);
    arguments.insert(arguments.end(), own.begin(), own.end());
    return Command(caller(), arguments).start();
  }
  [[nodiscard]] std::string strict() const {
    if (caller() == Caller::root) return "strict";
    return scratch_.write("strict.toml", strict_without_control_groups(caller()));
  }

 private:
  ScratchDirectory scratch_{caller()};
  std::string script_;
};

void expect_works(const Record& record, std::string_view refused) {
  EXPECT_TRUE(record.is_true("success")) << record;
  EXPECT_TRUE(record.out().ends_with("works\n")) << record;
  if (refused.empty()) {
    EXPECT_NE(record.serialized().find("\"denied_syscalls\":[]"), std::string::npos) << record;
  } else {
    EXPECT_NE(record.denied(refused), std::nullopt) << record;
  }
}

void expect_fails(const Record& record, std::string_view words) {
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_FALSE(record.is_true("success")) << record;
  EXPECT_NE(record.err().find(words), std::string::npos) << record;
}

TEST_P(Unlucky, WorksInABox) {
  Running by_default = start(kDefault, "default");
  Running by_strict = start(kStrict, strict());
  const auto expect = [](const Record& record, std::string_view forbidden) {
    const bool is_watched = record.text("enforced_by.memory") == "watcher";
    std::string_view words = forbidden;
    if (words.empty() && is_watched) words = program().fails_by_watcher_with;
    if (words.empty()) {
      expect_works(record, program().refused);
    } else {
      expect_fails(record, words);
    }
  };
  expect(by_default.finish().record(), "");
  expect(by_strict.finish().record(), program().fails_with);
}

[[maybe_unused]] const bool kLeavesNothing = install_leak_check();
INSTANTIATE_TEST_SUITE_P(As, Unlucky,
                         testing::Combine(testing::Values(Caller::root, Caller::user),
                                          testing::ValuesIn(programs())),
                         [](const auto& row) {
                           return testing::PrintToString(std::get<0>(row.param)) + "_" +
                                  fs::path(std::get<1>(row.param).file).stem().string();
                         });

TEST(UnluckyPrograms, AllStandInTheTable) {
  for (const fs::directory_entry& entry : fs::directory_iterator(kPrograms)) {
    EXPECT_TRUE(std::ranges::any_of(programs(), [&](const Program& program) {
      return entry.path().filename() == program.file;
    })) << entry.path();
  }
}

}  // namespace
}  // namespace wardcase::test

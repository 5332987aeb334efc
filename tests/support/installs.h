// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/package_index.h"

namespace wardcase::test {

// Programs with requirements, their cache, and an index with a few small packages: `one`, which
// needs `two` of 1.0 or later.
class WithInstalls : public WithCaller {
 public:
  [[nodiscard]] static bool has_pip() {
    static const bool has =
        Command::other(Caller::user, {"/usr/bin/python3", "-I", "-m", "pip", "--version"})
            .finish()
            .exit_code == 0;
    return has;
  }

 protected:
  void SetUp() override {
    WithCaller::SetUp();
    if (!IsSkipped() && !has_pip()) GTEST_SKIP() << "needs pip (Debian: python3-pip)";
  }
  WithInstalls() : files_(caller()), index_(caller()) {
    index_.add_wheel("one", "1.0", "import two; value = 'one and ' + two.value", "two>=1");
    index_.add_wheel("two", "1.0", "value = 'two'");
    index_.add_wheel("two", "0.5", "value = 'too old'");
  }

  [[nodiscard]] std::string policy(const std::string& text) const {
    return files_.write("p.toml", text);
  }
  [[nodiscard]] std::string links_alone() const {
    return policy("schema = 1\n[install]\nfind_links = [\"" + index_.links() + "\"]\n");
  }
  [[nodiscard]] std::string index_alone(const std::string& install = "") const {
    return policy(policy_of_index("pip", "\"" + index_.pip_url() + "\"", install));
  }
  [[nodiscard]] Command command(std::vector<std::string> words) const {
    words.insert(words.begin(), "run");
    Command made(caller(), std::move(words));
    made.environment("XDG_CACHE_HOME=" + (files_.path() / "cache").string());
    return made;
  }
  [[nodiscard]] Command program(const std::string& policy, const std::string& requirement,
                                const std::string& code,
                                std::vector<std::string> flags = {}) const {
    std::vector<std::string> words = {"--json", "--policy", policy, "--requirement", requirement};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"-l", "python", "-c", code});
    return command(std::move(words));
  }
  // The names of what lies in the cache of environments, by what they begin with.
  [[nodiscard]] int cached(const std::string& beginning, const std::string& end = "") const {
    int count = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(
             files_.path() / "cache/wardcase/environments", error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(beginning) && name.ends_with(end)) ++count;
    }
    return count;
  }
  [[nodiscard]] int environments() const { return cached("") - cached(".") - cached("", ".lock"); }

  ScratchDirectory files_;
  PackageIndex index_;
};

// Beside these `slow`, which waits while it is built for the index to open its gate.
class WithSlowInstalls : public WithInstalls {
 protected:
  WithSlowInstalls() {
    index_.begin();
    index_.put("gate", "shut");
    index_.add_source("slow",
                      "import time, urllib.request\n"
                      "while urllib.request.urlopen('http://" +
                          index_.host() +
                          "/gate').read() == b'shut':\n"
                          "    time.sleep(0.1)\nseen['built'] = True\n");
    policy_ = index_alone();  // once: others read it meanwhile
  }
  [[nodiscard]] Command slow() const {
    return program(policy_, "slow", "import slow; print(slow.seen)");
  }
  [[nodiscard]] int downloads() { return index_.requests("/simple/slow/slow-1.0.tar.gz"); }

 private:
  std::string policy_;
};

}  // namespace wardcase::test

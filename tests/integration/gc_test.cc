// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// `wardcase gc`: what was kept goes when it is old, beyond a size or half-made, and never while
// somebody uses it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/installs.h"

namespace wardcase::test {
namespace {

class Collections : public WithSlowInstalls {
 protected:
  [[nodiscard]] Outcome gc(std::vector<std::string> words) const {
    words.insert(words.begin(), "gc");
    Command made(caller(), std::move(words));
    made.environment("XDG_CACHE_HOME=" + (files_.path() / "cache").string());
    return made.finish();
  }
  void install(const std::string& requirement) const {
    const Record record = program(links_alone(), requirement, "print('ran')").finish().record();
    EXPECT_EQ(record.out(), "ran\n") << record;
  }
  // All entries were last used that many days ago.
  void age(int days) const {
    for (const auto& entry :
         std::filesystem::directory_iterator(files_.path() / "cache/wardcase/environments")) {
      std::filesystem::last_write_time(entry.path(), std::filesystem::file_time_type::clock::now() -
                                                         std::chrono::hours(24 * days));
    }
  }
};
WARDCASE_AS_ROOT_AND_USER(Collections);

TEST_P(Collections, NothingWasKeptYet) {
  const Outcome outcome = gc({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(outcome.out(), "removed 0, 0 bytes; 0 left, 0 bytes\n");
  EXPECT_FALSE(std::filesystem::exists(files_.path() / "cache"));
}

TEST_P(Collections, WhatIsOldGoesAndADryRunOnlyTells) {
  install("two==1.0");
  age(31);
  install("two==0.5");
  EXPECT_EQ(environments(), 2);
  const Record dry = gc({"--dry-run", "--json"}).record();
  EXPECT_EQ(dry.number("kept"), 1) << dry.serialized();
  EXPECT_EQ(environments(), 2);
  const Record done = gc({"--json"}).record();
  EXPECT_EQ(done.json("removed"), dry.json("removed"));
  EXPECT_NE(done.json("removed").find("\"about\":[\"pip\",\"two==1.0\"]"), std::string::npos);
  EXPECT_NE(done.json("removed").find("\"why\":\"age\""), std::string::npos);
  EXPECT_EQ(done.json("removed_bytes"), dry.json("removed_bytes"));
  EXPECT_EQ(environments(), 1);
  EXPECT_TRUE(program(links_alone(), "two==0.5", "1").finish().record().is_true("install.cached"));
  install("two==1.0");  // again
  EXPECT_EQ(environments(), 2);
}

TEST_P(Collections, AUseMakesItYoung) {
  install("two==1.0");
  age(31);
  install("two==1.0");
  EXPECT_EQ(gc({}).exit_code, 0);
  EXPECT_EQ(environments(), 1);
}

TEST_P(Collections, BeyondASizeTheLongestUnusedGoes) {
  install("two==0.5");
  age(2);
  install("two==1.0");
  const Record all = gc({"--dry-run", "--json", "--older-than", "0"}).record();
  const auto bytes = all.number("removed_bytes").value_or(0);
  const Record done = gc({"--json", "--keep-size", std::to_string(bytes - 1)}).record();
  EXPECT_EQ(done.number("kept"), 1) << done.serialized();
  EXPECT_NE(done.json("removed").find("two==0.5"), std::string::npos) << done.serialized();
  EXPECT_NE(done.json("removed").find("\"why\":\"size\""), std::string::npos);
}

TEST_P(Collections, WhatARunUsesStays) {
  const ScratchDirectory signs(caller());
  Running running = command({"--policy", links_alone(), "--requirement", "two", "-v",
                             signs.path().string() + ":/signs", "-l", "python", "-c",
                             "import os, time\nprint('armed', flush=True)\n"
                             "while not os.path.exists('/signs/go'): time.sleep(0.05)\n"
                             "import two; print(two.value)"})
                        .start();
  ASSERT_TRUE(running.wait_for(Channel::out, "armed")) << running.read_so_far(Channel::err);
  const Record kept = gc({"--older-than", "0", "--json"}).record();
  EXPECT_EQ(kept.number("in_use"), 1) << kept.serialized();
  EXPECT_EQ(environments(), 1);
  (void)signs.write("go", "");
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.out(), "armed\ntwo\n") << outcome;
  const Record gone = gc({"--older-than", "0", "--json"}).record();
  EXPECT_EQ(gone.number("in_use"), 0) << gone.serialized();
  EXPECT_EQ(environments(), 0);
}

TEST_P(Collections, WhatABuildLeftThatWasKilledGoesAndOneUnderWayStays) {
  Running killed = slow().start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  (void)gc({"--older-than", "0"});
  EXPECT_EQ(cached(".building-"), 1);
  killed.signal(SIGKILL);
  (void)killed.finish();
  EXPECT_EQ(cached(".building-"), 1);
  const Record done = gc({"--json"}).record();
  EXPECT_NE(done.json("removed").find("\"why\":\"leftover\""), std::string::npos)
      << done.serialized();
  EXPECT_EQ(cached(""), 0);
  EXPECT_EQ(run({"--", "true"}).exit_code, 0);  // which sweeps what the killed one left elsewhere
}

TEST_P(Collections, WrongUseIsNamed) {
  for (const auto& [words, wanted] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--older-than", "-1d"}, "--older-than: '-1d': not an age; write 30d, 12h or 0"},
           {{"--older-than", "99999999999d"}, "not an age"},
           {{"--keep-size", "lots"}, "--keep-size: 'lots': not a size"},
           {{"all"}, "takes no arguments, not 'all'"}}) {
    const Outcome outcome = gc(words);
    EXPECT_EQ(outcome.exit_code, 125) << outcome;
    EXPECT_NE(outcome.err().find(wanted), std::string::npos) << outcome;
  }
}

}  // namespace
}  // namespace wardcase::test

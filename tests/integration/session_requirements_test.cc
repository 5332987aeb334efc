// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Requirements of programs in sessions: what is missing is added to a box and to interpreters that
// live.
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/support/installs.h"

namespace wardcase::test {
namespace {

// A session whose keeper has the test's own cache.
template <typename Installs>
class InSession : public Installs {
 protected:
  InSession() {
    static int number = 0;
    id_ = "needs-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
  }
  ~InSession() override {
    if (this->IsSkipped()) return;
    for (const std::string& id : {id_, id_ + "b"}) (void)call({"session", "rm", id});
  }

  [[nodiscard]] Command wardcase(std::vector<std::string> words) const {
    Command made(this->caller(), std::move(words));
    made.environment("XDG_CACHE_HOME=" + (this->files_.path() / "cache").string());
    return made;
  }
  [[nodiscard]] Outcome call(std::vector<std::string> words) const {
    return wardcase(std::move(words)).finish();
  }
  [[nodiscard]] Command new_session(const std::string& policy,
                                    std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"session", "new", "--id", id_, "--policy", policy});
    return wardcase(std::move(flags));
  }
  void make(const std::string& policy, std::vector<std::string> flags = {}) const {
    const Outcome made = new_session(policy, std::move(flags)).finish();
    ASSERT_EQ(made.exit_code, 0) << made;
  }
  [[nodiscard]] Command exec(const std::string& language, const std::string& code,
                             const std::string& requirement = "") const {
    std::vector<std::string> words = {"exec", id_, "--json", "-l", language, "-c", code};
    if (!requirement.empty()) words.insert(words.end(), {"--requirement", requirement});
    return wardcase(std::move(words));
  }
  [[nodiscard]] Record record_in(const std::string& language, const std::string& code,
                                 const std::string& requirement = "") const {
    const Outcome outcome = exec(language, code, requirement).finish();
    if (outcome.out().empty()) ADD_FAILURE() << outcome;
    return outcome.record();
  }
  [[nodiscard]] Record python_in(const std::string& code,
                                 const std::string& requirement = "") const {
    return record_in("python", code, requirement);
  }
  [[nodiscard]] bool exists() const {
    return call({"session", "ls"}).out().find(id_ + " ") != std::string::npos;
  }

  std::string id_;
};

using SessionInstalls = InSession<WithInstalls>;
WARDCASE_AS_ROOT_AND_USER(SessionInstalls);

TEST_P(SessionInstalls, BeginWithWhatIsAskedForWhenTheyAreMade) {
  make(links_alone(), {"--requirement", "one"});
  const Record record = python_in("import one; print(one.value, one.__file__)");
  EXPECT_EQ(record.out(), "one and two /opt/wardcase/env/one.py\n") << record;
  EXPECT_TRUE(record.is_null("install")) << record;
}

TEST_P(SessionInstalls, AddWhatAProgramRequiresAndKeepVariables) {
  make(links_alone());
  EXPECT_EQ(python_in("x = 'kept'\ntry: import one\nexcept ImportError: print('missing')").out(),
            "missing\n");
  const Record added = python_in("import one; print(one.value, x)", "one");
  EXPECT_EQ(added.out(), "one and two kept\n") << added << added.json("install");
  EXPECT_EQ(added.text("install.status"), "exited");
  EXPECT_FALSE(added.is_true("install.cached"));
  EXPECT_FALSE(added.is_true("session_restarted"));
  EXPECT_GE(added.number("setup_ms").value_or(0), added.number("install.duration_ms").value_or(1));
  EXPECT_LT(added.number("queued_ms").value_or(9999), added.number("setup_ms").value_or(0));
  const Record again = python_in("print(one.value)", "ONE ");
  EXPECT_EQ(again.out(), "one and two\n") << again;
  EXPECT_TRUE(again.is_null("install")) << again;
  EXPECT_TRUE(python_in("import two", "two").is_null("install"));  // it came with the other
}

TEST_P(SessionInstalls, ShowWhatIsAddedReadOnlyAndNothingElseOfTheCache) {
  make(links_alone());
  (void)python_in("1", "two==0.5");
  index_.add_wheel("three", "1.0", "value = 'three'");
  const Record record = python_in(
      "import os, two, three\nprint(two.value, three.__file__)\n"
      "for place in ('/opt/wardcase/env', '/opt/wardcase/env-2', '/opt/wardcase'):\n"
      "    try: open(place + '/x', 'w')\n    except OSError as e: print(e.errno)\n"
      "print(sorted(os.listdir('/opt/wardcase')))",
      "three");
  EXPECT_EQ(record.out(),
            "too old /opt/wardcase/env-2/three.py\n30\n30\n30\n['env', 'env-2']\n")
      << record;  // EROFS
}

TEST_P(SessionInstalls, RefuseAConflictingVersionAndAreLeftAsTheyWere) {
  make(links_alone());
  EXPECT_EQ(python_in("import one, two; x = two.value; print(x)", "one").out(), "two\n");
  const Outcome outcome = exec("python", "x = 'ran'", "two==0.5").finish();
  const Record refused = outcome.record();
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(refused.status(), "install_failed") << refused;
  EXPECT_NE(refused.text("install.stderr").find("two==0.5"), std::string::npos) << refused;
  EXPECT_EQ(python_in("print(x, two.value)").out(), "two two\n");
  EXPECT_EQ(python_in("import two; print(two.value)", "two>=1").out(), "two\n");  // a control
}

TEST_P(SessionInstalls, TellAnUnknownNameInTheResolversWords) {
  make(links_alone());
  (void)python_in("x = 'kept'");
  const Record refused = python_in("x = 'ran'", "nonexistent-pkg-zz");
  EXPECT_EQ(refused.status(), "install_failed") << refused;
  EXPECT_NE(refused.text("error").find("nonexistent-pkg-zz"), std::string::npos) << refused;
  EXPECT_EQ(refused.number("duration_ms"), 0);
  EXPECT_EQ(python_in("print(x)").out(), "kept\n");
  EXPECT_EQ(environments(), 0);
}

TEST_P(SessionInstalls, AreNotMadeWhereWhatTheyBeginWithCantBeHad) {
  const Outcome failed =
      new_session(links_alone(), {"--requirement", "nonexistent-pkg-zz"}).finish();
  EXPECT_EQ(failed.exit_code, 125) << failed;
  EXPECT_NE(failed.err().find("nonexistent-pkg-zz"), std::string::npos) << failed;
  EXPECT_FALSE(exists());
  const Outcome wrong = new_session(links_alone(), {"-l", "bash", "--requirement", "two"}).finish();
  EXPECT_EQ(wrong.exit_code, 125) << wrong;
  EXPECT_NE(wrong.err().find("Python and JavaScript"), std::string::npos) << wrong;
  EXPECT_FALSE(exists());
}

TEST_P(SessionInstalls, NameTheKeyWhereNothingMayBeInstalled) {
  make(policy("schema = 1\n"));
  const Record refused = python_in("print('ran')", "one");
  EXPECT_EQ(refused.status(), "install_failed") << refused;
  EXPECT_EQ(refused.text("error"),
            "requirements can't be installed: network.install.pip is not set");
  const Outcome bash = exec("bash", "echo ran", "one").finish();
  EXPECT_EQ(bash.exit_code, 125) << bash;
  EXPECT_NE(bash.err().find("Python and JavaScript"), std::string::npos) << bash;
}

TEST_P(SessionInstalls, HaveItAgainAfterAReset) {
  make(links_alone());
  EXPECT_EQ(python_in("import one; x = 1", "one").status(), "exited");
  EXPECT_EQ(call({"session", "reset", id_}).exit_code, 0);
  const Record record = python_in("import one; print(one.value, 'x' in globals())");
  EXPECT_EQ(record.out(), "one and two False\n") << record;
  EXPECT_TRUE(python_in("import one", "one").is_null("install"));
}

TEST_P(SessionInstalls, TakeListsFromFilesFromTheHeadAndByRun) {
  const std::string links = links_alone();
  make(links);
  const std::string list = files_.write("needs.txt", "two == 0.5\n");
  const Outcome by_file =
      call({"exec", id_, "-c", "import two; print(two.value)", "--requirements", list});
  EXPECT_EQ(by_file.out(), "too old\n") << by_file;
  const std::string head = "# /// script\n# dependencies = [\"one\"]\n# ///\n";
  const Outcome by_run = wardcase({"run", "--session", id_ + "b", "--policy", links, "-l", "python",
                                   "-c", head + "import one; print(one.value)"})
                             .finish();
  EXPECT_EQ(by_run.out(), "one and two\n") << by_run;
  const Outcome flag = wardcase({"run", "--session", id_ + "b", "--policy", links, "--requirement",
                                 "two", "-l", "python", "-c", "import two; print(two.value)"})
                           .finish();
  EXPECT_EQ(flag.out(), "two\n") << flag;
}

TEST_P(SessionInstalls, GiveWhatTheyHaveToProcessesOfTheProgram) {
  make(links_alone());
  const Record record = python_in(
      "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', "
      "'import one; print(one.value)'], capture_output=True, text=True).stdout)",
      "one");
  EXPECT_EQ(record.out(), "one and two\n\n") << record;
}

TEST_P(SessionInstalls, AndRunsHeedFilesThatNameMorePlaces) {
  index_.add_wheel("placed", "1.0", "value = 'placed'", "",
                   "import sys; sys.placed_by_pth = 'heeded'\n");
  const std::string links = links_alone();
  const std::string code = "import sys; print(sys.placed_by_pth)";
  make(links);
  EXPECT_EQ(python_in(code, "placed").out(), "heeded\n");
  const Record run = program(links, "placed", code).finish().record();
  EXPECT_EQ(run.out(), "heeded\n") << run;
}

TEST_P(SessionInstalls, EndAnInterpreterThatWhatIsInstalledEnds) {
  index_.add_wheel("ends", "1.0", "", "", "import os; os._exit(3)\n");
  make(links_alone());
  const Record record = python_in("print('ran')", "ends");
  EXPECT_EQ(record.status(), "setup_failed") << record;
  EXPECT_EQ(record.out(), "");
}

TEST_P(SessionInstalls, RefuseAMountInTheirPlace) {
  make(links_alone(), {"-v", files_.path().string() + ":/opt"});
  const Record record = python_in("print('ran')", "one");
  EXPECT_EQ(record.status(), "install_failed") << record;
  EXPECT_NE(record.text("error").find("'/opt'"), std::string::npos) << record;
}

using SlowSessionInstalls = InSession<WithSlowInstalls>;
WARDCASE_AS_ROOT_AND_USER(SlowSessionInstalls);

TEST_P(SlowSessionInstalls, OfTwoAreDoneOnce) {
  make(index_alone());
  const std::string code = "import slow; print(slow.seen)";
  Running first = exec("python", code, "slow").start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  Running second =
      wardcase({"run", "--session", id_ + "b", "--policy", (files_.path() / "p.toml").string(),
                "--json", "--requirement", "slow", "-l", "python", "-c", code})
          .start();
  index_.put("gate", "open");
  EXPECT_EQ(first.finish().record().out(), "{'built': True}\n");
  const Record other = second.finish().record();
  EXPECT_EQ(other.out(), "{'built': True}\n") << other;
  EXPECT_TRUE(other.is_true("install.cached")) << other;
  EXPECT_EQ(downloads(), 1);
}

TEST_P(SlowSessionInstalls, EndWithAnInterruptAndLeaveNothing) {
  make(index_alone());
  (void)python_in("x = 'kept'");
  Running waiting = exec("python", "x = 'ran'", "slow").start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  EXPECT_EQ(call({"session", "interrupt", id_}).exit_code, 0);
  const Record stopped = waiting.finish().record();
  EXPECT_EQ(stopped.status(), "stopped") << stopped;
  EXPECT_EQ(environments(), 0);
  EXPECT_EQ(cached(".building-"), 0);
  EXPECT_EQ(python_in("print(x)").out(), "kept\n");
}

TEST_P(SlowSessionInstalls, EndWithTheirClientTheirResetAndTheirSession) {
  make(index_alone());
  Running killed = exec("python", "print('ran')", "slow").start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  killed.signal(SIGKILL);
  (void)killed.finish();
  EXPECT_EQ(python_in("print('next')").out(), "next\n");
  EXPECT_EQ(cached(".building-"), 0);
  for (const std::string& how : {std::string("reset"), std::string("rm")}) {
    const int before = index_.requests("/gate");
    Running waiting = exec("python", "print('ran')", "slow").start();
    ASSERT_TRUE(eventually([&] { return index_.requests("/gate") > before; }));
    EXPECT_EQ(call({"session", how, id_}).exit_code, 0);
    const Record stopped = waiting.finish().record();
    EXPECT_EQ(stopped.status(), "stopped") << how << stopped;
    EXPECT_TRUE(eventually([&] { return cached(".building-") == 0; }));
  }
  EXPECT_EQ(environments(), 0);
  EXPECT_FALSE(exists());
}

TEST_P(SlowSessionInstalls, OfANewSessionEndWithWhoeverAskedForIt) {
  Running asking = new_session(index_alone(), {"--requirement", "slow"}).start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  asking.signal(SIGKILL);
  (void)asking.finish();
  EXPECT_TRUE(eventually([&] { return cached(".building-") == 0; }));
  EXPECT_TRUE(eventually([&] { return !exists(); }));
}

class SessionNpmInstalls : public InSession<WithInstalls> {
 protected:
  void SetUp() override {
    WithCaller::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists("/usr/bin/npm")) GTEST_SKIP() << "needs npm";
    index_.begin();
    index_.add_npm("little", "module.exports = 'little'");
    make(policy(policy_of_index("npm", "\"" + index_.npm_url() + "\"")));
  }
  [[nodiscard]] Record script(const std::string& code, const std::string& requirement = "") const {
    return record_in("javascript", code, requirement);
  }
};
WARDCASE_AS_ROOT_AND_USER(SessionNpmInstalls);

TEST_P(SessionNpmInstalls, AddPackagesForRequireAndForImport) {
  EXPECT_EQ(script("var x = 'kept'").status(), "exited");
  const Record first = script("console.log(require('little'), x)", "little@1.0.0");
  EXPECT_EQ(first.out(), "little kept\n") << first << first.json("install");
  index_.add_npm("other", "module.exports = 'other'");
  const Record second = script(
      "import it from 'other';\nconsole.log(it, require('other'), (await "
      "import('little')).default)",
      "other");
  EXPECT_EQ(second.out(), "other other little\n") << second << second.json("install");
  EXPECT_TRUE(script("require('little')", "little").is_null("install"));
  const Record missing = script("await import('nowhere')");
  EXPECT_EQ(missing.text("error_type"), "ImportError") << missing;
  EXPECT_EQ(call({"session", "reset", id_}).exit_code, 0);
  EXPECT_EQ(script("console.log(require('other'), require('little'))").out(), "other little\n");
}

TEST_P(SessionNpmInstalls, RefuseAConflictingVersion) {
  EXPECT_EQ(script("var x = require('little')", "little@1.0.0").status(), "exited");
  index_.add_npm("little", "module.exports = 'larger'", "2.0.0");
  const Record refused = script("x = 'ran'", "little@2.0.0");
  EXPECT_EQ(refused.status(), "install_failed") << refused;
  EXPECT_NE(refused.text("error").find("little@1.0.0"), std::string::npos) << refused;
  EXPECT_EQ(script("console.log(x)").out(), "little\n");
}

}  // namespace
}  // namespace wardcase::test

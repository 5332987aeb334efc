// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Requirements of programs: what is installed, from where, and that it is installed once.
#include "tests/support/installs.h"

#include <gtest/gtest.h>

#include <thread>

namespace wardcase::test {
namespace {

using namespace std::chrono_literals;

const std::string kImport = "import one; print(one.value)";

using Installs = WithInstalls;
WARDCASE_AS_ROOT_AND_USER(Installs);

TEST_P(Installs, WheelsOfADirectoryAreInstalledOnceAndShownReadOnly) {
  const std::string links = links_alone();
  const std::string code =
      kImport +
      "\nimport os\nprint(one.__file__)\n"
      "try: open(os.path.dirname(one.__file__) + '/x', 'w')\nexcept OSError as e: print(e.errno)";
  const Record first = program(links, "one", code).finish().record();
  EXPECT_EQ(first.out(), "one and two\n/opt/wardcase/env/one.py\n30\n") << first;  // EROFS
  EXPECT_EQ(first.text("install.status"), "exited");
  EXPECT_FALSE(first.is_true("install.cached"));
  EXPECT_NE(first.text("install.stdout").find("Successfully installed"), std::string::npos);
  const Record second = program(links, "ONE ", code).finish().record();
  EXPECT_EQ(second.out(), first.out()) << second;
  EXPECT_TRUE(second.is_true("install.cached"));
  EXPECT_EQ(environments(), 1);
}

TEST_P(Installs, ANewWheelInTheDirectoryMakesAnotherEnvironment) {
  const std::string links = links_alone();
  EXPECT_EQ(program(links, "two", "import two; print(two.value)").finish().record().out(), "two\n");
  index_.add_wheel("two", "2.0", "value = 'newer'");
  EXPECT_EQ(program(links, "two", "import two; print(two.value)").finish().record().out(),
            "newer\n");
  EXPECT_EQ(program(links, "two==0.5", "import two; print(two.value)").finish().record().out(),
            "too old\n");
  EXPECT_EQ(environments(), 3);
}

TEST_P(Installs, AnIndexIsAskedOnceAndTheNextRunNeedsNone) {
  index_.begin();
  const std::string policy = index_alone();
  const Record first = program(policy, "one", kImport).finish().record();
  EXPECT_EQ(first.out(), "one and two\n") << first << first.json("install");
  EXPECT_EQ(index_.requests("/simple/one/one-1.0-py3-none-any.whl"), 1);
  index_.end();
  const Record second = program(policy, "one", kImport).finish().record();
  EXPECT_EQ(second.out(), "one and two\n") << second;
  EXPECT_TRUE(second.is_true("install.cached"));
  EXPECT_EQ(program(policy, "two", kImport).finish().record().status(), "install_failed");
}

TEST_P(Installs, AnUnknownNameIsToldInTheResolversWordsAndNothingRuns) {
  index_.begin();
  const Outcome outcome = program(index_alone(), "nonexistent-pkg-zz", "print('ran')").finish();
  const Record record = outcome.record();
  EXPECT_EQ(outcome.exit_code, 125) << outcome;
  EXPECT_EQ(record.status(), "install_failed");
  EXPECT_EQ(record.out(), "");
  EXPECT_NE(record.text("install.stderr")
                .find("No matching distribution found for "
                      "nonexistent-pkg-zz"),
            std::string::npos)
      << record;
  EXPECT_NE(record.text("error").find("nonexistent-pkg-zz"), std::string::npos);
  EXPECT_EQ(record.number("duration_ms"), 0);
  EXPECT_GT(record.number("install.duration_ms").value_or(0), 0);
  EXPECT_EQ(environments(), 0);
  EXPECT_EQ(cached(".building-"), 0);
}

TEST_P(Installs, WithoutAnIndexTheKeyIsNamed) {
  const Record record = program(policy("schema = 1\n"), "one", kImport).finish().record();
  EXPECT_EQ(record.status(), "install_failed") << record;
  EXPECT_EQ(record.text("error"),
            "requirements can't be installed: network.install.pip is not set");
  EXPECT_NE(record.text("hint").find("wardcase.toml"), std::string::npos);
  EXPECT_TRUE(record.is_null("install"));
}

TEST_P(Installs, ListsComeFromFilesAndFromTheProgramsOwnHead) {
  const std::string links = links_alone();
  const std::string list = files_.write("needs.txt", "# what it needs\ntwo == 0.5\n");
  const Record from_file = command({"--json", "--policy", links, "--requirements", list, "-l",
                                    "python", "-c", "import two; print(two.value)"})
                               .finish()
                               .record();
  EXPECT_EQ(from_file.out(), "too old\n") << from_file;
  const std::string script = files_.write(
      "script.py", "# /// script\n# dependencies = [\n#   \"one\",\n# ]\n# ///\n" + kImport + "\n");
  const Record from_head = command({"--json", "--policy", links, script}).finish().record();
  EXPECT_EQ(from_head.out(), "one and two\n") << from_head;
  const Record refused =
      command({"--json", "--policy", policy("schema = 1\n"), script}).finish().record();
  EXPECT_EQ(refused.status(), "install_failed") << refused;
}

TEST_P(Installs, WhatIsNoRequirementIsRefusedBeforeAnythingRuns) {
  const std::string links = links_alone();
  for (const std::string spec : {"--index-url=http://127.0.0.1/", "./one", "one @ file:///etc"}) {
    const Record record = program(links, spec, "print('ran')").finish().record();
    EXPECT_EQ(record.status(), "invalid_request") << record;
    EXPECT_NE(record.text("error").find("requirement '" + spec.substr(0, 5)), std::string::npos)
        << record;
  }
  const std::string list = files_.write("options.txt", "two\n--extra-index-url http://h/\n");
  const Record record =
      command({"--json", "--policy", links, "--requirements", list, "-l", "python", "-c", "1"})
          .finish()
          .record();
  EXPECT_NE(record.text("error").find("options.txt:2: "), std::string::npos) << record;
  const Record bash =
      command({"--json", "--policy", links, "--requirement", "two", "-l", "bash", "-c", "echo ran"})
          .finish()
          .record();
  EXPECT_EQ(bash.status(), "invalid_request") << bash;
}

TEST_P(Installs, AMountInTheirPlaceAndABoxWithoutNamespacesAreRefused) {
  const std::string links = links_alone();
  const Record covered =
      program(links, "one", kImport, {"-v", files_.path().string() + ":/opt"}).finish().record();
  EXPECT_EQ(covered.status(), "install_failed") << covered;
  EXPECT_NE(covered.text("error").find("'/opt'"), std::string::npos) << covered;
  const std::string bare =
      policy("schema = 1\nextends = \"landlock-only\"\n[install]\nfind_links = [\"" +
             index_.links() + "\"]\n");
  const Record without = program(bare, "one", kImport).finish().record();
  EXPECT_EQ(without.status(), "install_failed") << without;
  EXPECT_NE(without.text("error").find("namespaces"), std::string::npos) << without;
}

TEST_P(Installs, AHostThatAnIndexRefersToHasToBeNamedToo) {
  index_.begin();
  PackageIndex other(caller());
  other.begin();
  other.add_wheel("far", "1.0", "value = 'far'");
  index_.add_link("far", other.pip_url() + "/far/far-1.0-py3-none-any.whl");
  const std::string code = "import far; print(far.value)";
  const Record refused = program(index_alone(), "far", code).finish().record();
  EXPECT_EQ(refused.status(), "install_failed") << refused;
  EXPECT_NE(refused.text("error").find("refused on the way: " + other.host()), std::string::npos)
      << refused;
  EXPECT_EQ(other.requests("/simple/far/far-1.0-py3-none-any.whl"), 0);
  const std::string both = policy(
      policy_of_index("pip", "\"" + index_.pip_url() + "\", \"http://" + other.host() + "\""));
  EXPECT_EQ(program(both, "far", code).finish().record().out(), "far\n");
}

// Code of a package, while it is built: it tries to reach a port of this host.
std::string attack_on(const std::string& host) {
  const std::string port = host.substr(host.find(':') + 1);
  return "import os, socket, urllib.request\n"
         "seen['armed'] = True\n"
         "def attempt(name, act):\n"
         "    try: seen[name] = act()\n"
         "    except Exception as e: seen[name] = 'failed'\n"
         "def direct():\n"
         "    socket.create_connection(('127.0.0.1', " +
         port +
         "), 3).close()\n"
         "    return 'reached'\n"
         "def proxied():\n"
         "    return urllib.request.urlopen('http://" +
         host +
         "/secret', timeout=9).read()\n"
         "def tunnelled():\n"
         "    at = os.environ['HTTP_PROXY'].rsplit(':', 1)[1]\n"
         "    s = socket.create_connection(('127.0.0.1', int(at)), 9)\n"
         "    s.sendall(b'CONNECT " +
         host +
         " HTTP/1.1\\r\\n\\r\\n')\n"
         "    return s.recv(12)\n"
         "def held():\n"
         "    fds = ['/proc/self/fd/' + n for n in os.listdir('/proc/self/fd')]\n"
         "    return sum(os.readlink(f).startswith('socket:') for f in fds if os.path.islink(f))\n"
         "attempt('direct', direct)\nattempt('proxied', proxied)\n"
         "attempt('tunnelled', tunnelled)\nattempt('held', held)\n"
         "try: seen['home'] = os.listdir('/root')\nexcept OSError: seen['home'] = 'hidden'\n";
}

TEST_P(Installs, WhatIsInstalledReachesNothingButItsIndex) {
  index_.begin();
  PackageIndex target(caller());
  target.begin();
  target.put("secret", "secret");
  index_.add_source("attack", attack_on(target.host()));
  const std::string code = "import attack; print(attack.seen)";
  const Record refused = program(index_alone(), "attack", code).finish().record();
  EXPECT_EQ(
      refused.out(),
      "{'armed': True, 'direct': 'failed', 'proxied': 'failed', 'tunnelled': b'HTTP/1.1 403', "
      "'held': 0, 'home': 'hidden'}\n")
      << refused << refused.json("install");
  EXPECT_EQ(target.requests("/secret"), 0);
  // The same with that host allowed: by the proxy it is reached, and still not without.
  const std::string allowed = policy(
      policy_of_index("pip", "\"" + index_.pip_url() + "\", \"http://" + target.host() + "\""));
  const Record reached = program(allowed, "attack", code).finish().record();
  EXPECT_EQ(reached.out(),
            "{'armed': True, 'direct': 'failed', 'proxied': b'secret', 'tunnelled': b'HTTP/1.1 "
            "200', 'held': 0, 'home': 'hidden'}\n")
      << reached << reached.json("install");
  EXPECT_EQ(target.requests("/secret"), 1);
}

using SlowInstalls = WithSlowInstalls;
WARDCASE_AS_ROOT_AND_USER(SlowInstalls);

TEST_P(SlowInstalls, TwoWhoWantTheSameHaveItInstalledOnce) {
  Running first = slow().start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  std::vector<Running> others;
  for (int i = 0; i < 3; ++i) others.push_back(slow().start());
  std::this_thread::sleep_for(300ms);  // they wait meanwhile, or the count below is wrong
  index_.put("gate", "open");
  const Record record = first.finish().record();
  EXPECT_EQ(record.out(), "{'built': True}\n") << record << record.json("install");
  EXPECT_FALSE(record.is_true("install.cached"));
  for (Running& other : others) {
    const Outcome outcome = other.finish();
    SCOPED_TRACE(testing::PrintToString(outcome));
    const Record waited = outcome.record();
    EXPECT_EQ(waited.out(), "{'built': True}\n") << waited;
    EXPECT_TRUE(waited.is_true("install.cached"));
  }
  EXPECT_EQ(downloads(), 1);
  EXPECT_EQ(environments(), 1);
}

TEST_P(SlowInstalls, ABuildThatIsKilledHalfWayIsNobodysEnvironment) {
  Running killed = slow().start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  std::vector<Running> waiting;
  for (int i = 0; i < 2; ++i) waiting.push_back(slow().start());
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.finish().signal, SIGKILL);
  EXPECT_EQ(environments(), 0);
  index_.put("gate", "open");
  for (Running& other : waiting) {
    const Outcome outcome = other.finish();
    SCOPED_TRACE(testing::PrintToString(outcome));
    const Record record = outcome.record();
    EXPECT_EQ(record.out(), "{'built': True}\n") << record << record.json("install");
  }
  EXPECT_EQ(downloads(), 2);
  EXPECT_EQ(environments(), 1);
  EXPECT_EQ(cached(".building-"), 0);
}

TEST_P(SlowInstalls, OneThatIsStoppedSaysSoAndLeavesNothing) {
  Running running = slow().start();
  ASSERT_TRUE(index_.is_asked_for("/gate"));
  running.signal(SIGTERM);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 143) << outcome;
  EXPECT_EQ(outcome.record().status(), "stopped");
  EXPECT_EQ(environments(), 0);
  EXPECT_EQ(cached(".building-"), 0);
}

TEST_P(SlowInstalls, ALimitOfTheInstallationIsNamedByItsKey) {
  const Record record =
      program(index_alone("timeout = \"3s\"\ngrace = \"100ms\"\n"), "slow", "print('ran')")
          .finish()
          .record();
  EXPECT_EQ(record.status(), "install_failed") << record;
  EXPECT_EQ(record.text("install.status"), "timeout");
  EXPECT_NE(record.text("error").find("install.timeout"), std::string::npos) << record;
  EXPECT_EQ(environments(), 0);
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What a program sees of the world: the box, and nothing of the host.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

using Isolation = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Isolation);

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

TEST_P(Isolation, TheRootHoldsOnlyWhatABoxNeeds) {
  const Record record = bash(
      "ls -A / | grep -vxE "
      "'bin|box|dev|etc|home|lib|lib32|lib64|libx32|proc|run|sbin|tmp|usr|opt|sys|var'");
  EXPECT_EQ(record.out(), "") << record;
  EXPECT_EQ(bash("ls -A /home /var /opt /run 2>/dev/null | grep -vE '^$|:$|^user$|^tmp$'").out(),
            "");
}

TEST_P(Isolation, SystemDirectoriesCantBeWritten) {
  for (const char* directory : {"/", "/usr", "/usr/bin", "/etc", "/dev", "/proc/sys"}) {
    const Record record = bash("touch " + std::string(directory) + "/attack");
    EXPECT_NE(record.number("exit_code"), 0) << directory << record;
  }
}

TEST_P(Isolation, BoxTmpHomeAndShmCanBeWritten) {
  const Record record =
      bash("for d in /box /tmp \"$HOME\" /dev/shm .; do echo x > $d/f && cat $d/f; done");
  EXPECT_EQ(record.out(), "x\nx\nx\nx\nx\n") << record;
}

TEST_P(Isolation, TheProgramIsProcessTwoAndSeesOnlyInitBesideItself) {
  const Record record = bash("echo $$; cd /proc; for p in [0-9]*; do echo $p; done");
  EXPECT_TRUE(record.out() == "2\n1\n2\n" || record.out() == "2\n2\n") << record;
}

TEST_P(Isolation, IdentityNamesAndDirectoryAreTheBoxs) {
  const Record record = bash("id -u; id -g; pwd; umask; echo $HOME $USER");
  EXPECT_EQ(record.out(), "1000\n1000\n/box\n0022\n/home/user user\n") << record;
  EXPECT_NE(bash("uname -n").out(), host_name() + "\n");
}

TEST_P(Isolation, NoPrivilegeIsLeft) {
  const Record record = bash(
      "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t' ' "
      "'");
  EXPECT_EQ(record.out(),
            "CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\n"
            "CapBnd: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n")
      << record;
}

TEST_P(Isolation, OnlyTheStandardDescriptorsAreOpen) {
  // The directory itself is open while it is listed.
  const Record record =
      record_of({"--", "python3", "-c",
                 "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"});
  EXPECT_EQ(record.out(), "[0, 1, 2, 3]\n") << record;
}

TEST_P(Isolation, SignalsHaveTheirDefaultsAndNoneIsBlocked) {
  const Record record = bash("grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -s '\\t' ' '");
  EXPECT_EQ(record.out(), "SigBlk: 0000000000000000\nSigIgn: 0000000000000000\n") << record;
}

TEST_P(Isolation, OnlyTheLoopbackDeviceIsThereAndItWorks) {
  const Record record = python(
      "import os, socket\n"
      "print([n for _, n in socket.if_nameindex()])\n"
      "l = socket.create_server(('127.0.0.1', 0))\n"
      "c = socket.create_connection(l.getsockname())\n"
      "l.accept()[0].send(b'hi'); print(c.recv(2))\n"
      "try: socket.create_connection(('192.0.2.1', 80), 2)\n"
      "except OSError as e: print(e.errno)\n");
  EXPECT_EQ(record.out(), "['lo']\nb'hi'\n101\n") << record;
}

TEST_P(Isolation, TheHostsNetworkIsThereWhenAskedForAndSaidSo) {
  const std::string code = "import os; print(os.readlink('/proc/self/ns/net'))";
  std::array<char, 64> own{};
  ASSERT_GT(::readlink("/proc/self/ns/net", own.data(), own.size() - 1), 0);
  EXPECT_EQ(python(code, {"--network", "host"}).out(), std::string(own.data()) + "\n");
  EXPECT_NE(python(code).out(), std::string(own.data()) + "\n");
}

TEST_P(Isolation, CgroupsAndMountsTellNoPathOfTheHost) {
  const Record record = bash("cut -d: -f3 /proc/self/cgroup | sort -u");
  EXPECT_EQ(record.out(), "/\n") << record;
  const Record mounts = bash("cat /proc/self/mountinfo");
  EXPECT_EQ(mounts.status(), "exited");
  EXPECT_EQ(mounts.out().find("wardcase-test"), std::string::npos) << mounts;
  EXPECT_EQ(mounts.out().find("cgroup"), std::string::npos) << mounts;
}

TEST_P(Isolation, NoNamespaceCanBeMade) {
  EXPECT_NE(bash("unshare -U true").number("exit_code"), 0);
  EXPECT_NE(bash("unshare -Ur true").number("exit_code"), 0);
}

TEST_P(Isolation, SecretsOfTheHostAreAbsent) {
  EXPECT_EQ(
      bash("ls /etc/shadow /etc/sudoers /etc/ssh /root /boot /sys/fs/cgroup 2>/dev/null; true")
          .out(),
      "");
}

TEST_P(Isolation, TheEnvironmentIsAShortListAndWhatWasGiven) {
  const Record record = python("import os; print('\\n'.join(sorted(os.environ)))",
                               {"-e", "GIVEN=1", "--env", "ALSO=2"});
  EXPECT_EQ(record.out().find("SECRET"), std::string::npos) << record;
  EXPECT_EQ(record.out().find("XDG_RUNTIME_DIR"), std::string::npos) << record;
  EXPECT_NE(record.out().find("GIVEN\n"), std::string::npos);
  EXPECT_NE(record.out().find("ALSO\n"), std::string::npos);
  EXPECT_NE(record.out().find("PATH\n"), std::string::npos);
}

TEST_P(Isolation, AnEnvironmentFileIsRead) {
  const ScratchDirectory files(caller());
  const std::string file = files.write("env", "# comment\nFROM_FILE=a b\n\nEMPTY=\n");
  EXPECT_EQ(bash("echo \"$FROM_FILE-$EMPTY-\"", {"--env-file", file}).out(), "a b--\n");
}

TEST_P(Isolation, InitsEnvironmentIsEmptyOrUnreadable) {
  const Record record =
      python("try: print(open('/proc/1/environ', 'rb').read())\nexcept OSError as e: print(b'')");
  EXPECT_EQ(record.out(), "b''\n") << record;
}

TEST_P(Isolation, SecretsGivenByOptionAreNotInTheRecord) {
  const Record record = bash("true", {"-e", "TOKEN=very-secret-token"});
  EXPECT_EQ(record.serialized().find("very-secret-token"), std::string::npos);
}

TEST_P(Isolation, DevicesAndProcWorkAsProgramsExpect) {
  const Record record = bash(
      "echo x > /dev/null && head -c 4 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c; "
      "echo to-err > /dev/stderr; echo to-out > /dev/stdout; cat < /dev/stdin; "
      "test -r /proc/cpuinfo && test -r /proc/meminfo && echo proc; echo <(true)");
  EXPECT_EQ(record.out().find("4\n4\nto-out\nproc\n/dev/fd/"), 0U) << record;
  EXPECT_EQ(record.err(), "to-err\n");
}

TEST_P(Isolation, TheDeviceOfZerosIsReadAsEver) {
  EXPECT_EQ(bash("head -c 3 /dev/zero | od -An -tx1").out(), " 00 00 00\n");
}

TEST_P(Isolation, ThreadsProcessesAndPipesWork) {
  const Record record = python(
      "import asyncio, concurrent.futures as f, json, multiprocessing as m, sqlite3, ssl, "
      "threading\n"
      "t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n"
      "with m.Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n"
      "print(sqlite3.connect('/tmp/db').execute('select 1').fetchall())\n"
      "async def main():\n"
      "  p = await asyncio.create_subprocess_exec('echo', 'sub'); await p.wait()\n"
      "asyncio.run(main())\n");
  EXPECT_EQ(record.out(), "thread\n[1, 2]\n[(1,)]\nsub\n") << record;
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Programs that reach for the host: its files, its processes, the caller's secrets.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "tests/support/hostile_test.h"

namespace wardcase::test {
namespace {

using HostileReach = HostileTest;
WARDCASE_AS_ROOT_AND_USER(HostileReach);

TEST_P(HostileReach, NoWayLeadsBackToTheOldRoot) {
  declare_attack("reach the host's root: .., /proc, descriptors left open",
                 "pivot_root, verified by mount id");
  const ScratchDirectory host(caller());
  const std::string secret = host.write("secret", "of the host");
  const Outcome control = outside("escape_root", {secret});
  EXPECT_TRUE(control_works(has_text(control.out(), "reached " + secret))) << control;
  for (const std::string& target : {secret, std::string("/etc/shadow")}) {
    const Record record = hostile("escape_root", {target});
    EXPECT_EQ(record.out(), "armed\n") << record;
  }
}

TEST_P(HostileReach, OnlyInitIsToBeSeenAndItTellsNothing) {
  declare_attack("read others' environment, memory, files, directories in /proc",
                 "own pid namespace and /proc; init is not dumpable");
  const Record record = hostile("look_around");
  std::string out = record.out();
  ASSERT_EQ(out.find("armed\n"), 0U) << record;
  EXPECT_EQ(out.find(" can be read"), std::string::npos) << out;
  EXPECT_EQ(out.find("/environ gives"), std::string::npos) << out;
  EXPECT_EQ(out.find("/mem gives"), std::string::npos) << out;
  EXPECT_EQ(out.find("/maps gives"), std::string::npos) << out;
  EXPECT_EQ(out.find("process 2"), std::string::npos) << out;
  EXPECT_EQ(out.find("process 3"), std::string::npos) << out;
  const Outcome control = outside("look_around");
  EXPECT_TRUE(control_works(has_text(control.out(), "/cmdline gives"))) << control;
}

TEST_P(HostileReach, TheHostFileBehindStdoutCantBeReadOrCut) {
  declare_attack("reopen the host's file behind stdout", "all output is relayed by pipes");
  const ScratchDirectory host(caller());
  const std::string path = host.write("log", "secret\n");
  const std::string program = Workplace::get().program("reopen_stdout").string();
  const sys::UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const Outcome outcome = run_command({program}).output_to(file.get()).finish();
  EXPECT_EQ(outcome.err(), "armed\nregular file: no\ntruncate: EINVAL\n");
  EXPECT_EQ(read_file(path), "secret\n");

  const Outcome control = Command::other(caller(), {program}).output_to(file.get()).finish();
  EXPECT_TRUE(control_works(has_text(control.err(), "read: secret"))) << control;
}

TEST_P(HostileReach, AnAbstractSocketOfTheHostIsOutOfReach) {
  declare_attack("connect to an abstract socket of the host", "own network namespace");
  const std::string name = "wardcase-test-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const sys::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);

  EXPECT_TRUE(control_works(outside("abstract_socket", {name}).out() == "armed\nconnected\n"));
  EXPECT_EQ(hostile("abstract_socket", {name}).out(), "armed\nECONNREFUSED\n");
}

// A setuid file in an archive that everybody can read.
std::string make_archive(Caller caller, const ScratchDirectory& place) {
  const std::string tool = place.write("tool", "text", 04755);
  EXPECT_EQ(::chmod(tool.c_str(), 04755), 0);  // its giving away took the mode off
  const std::string archive = place.write("archive.tar", "");
  const Outcome packed =
      Command::other(caller, {"/bin/tar", "-cf", archive, "-C", place.path().string(), "tool"})
          .finish();
  EXPECT_EQ(packed.exit_code, 0) << packed;
  return archive;
}

TEST_P(HostileReach, NoSetidFileIsLeftInADirectoryOfTheHost) {
  declare_attack("leave a setuid or setgid file in a directory of the host",
                 "the filter refuses such modes in each call that takes one");
  const ScratchDirectory shared(caller());
  const ScratchDirectory other(caller());
  const std::string archive = make_archive(caller(), other);
  const Record record =
      hostile("setid_files", {"/out", "/archive.tar"},
              {"-v", shared.path().string() + ":/out:rw", "-v", archive + ":/archive.tar"});
  EXPECT_EQ(record.out(), "armed\n") << record;
  EXPECT_TRUE(std::filesystem::exists(shared.path() / "chmod"));  // plain files can be made
  EXPECT_TRUE(std::filesystem::exists(shared.path() / "extracted/tool"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shared.path())) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 06000U, 0U) << entry.path();
  }

  const ScratchDirectory unboxed(caller());
  const Outcome control = outside("setid_files", {unboxed.path().string(), archive});
  for (const char* way :
       {"open", "openat", "creat", "mknod", "mknodat", "chmod", "fchmod", "fchmodat", "openat2",
        "linked", "high_bits", "by_link", "directory", "extracted/tool"}) {
    EXPECT_TRUE(control_works(has_text(control.out(), std::string("setid: ") + way + "\n")))
        << way << ": " << control;
  }
  EXPECT_EQ(control.out().find("capabilities: setxattr\n") != std::string::npos, is_root());
}

TEST_P(HostileReach, AServiceOnTheHostsLoopbackIsOutOfReach) {
  declare_attack("connect to a service on the host's loopback", "own network namespace");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* place = reinterpret_cast<sockaddr*>(&address);
  const sys::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), place, size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ASSERT_EQ(::getsockname(listener.get(), place, &size), 0);
  const std::string code = "echo armed; exec 3<>/dev/tcp/127.0.0.1/" +
                           std::to_string(ntohs(address.sin_port)) + " && echo connected";
  EXPECT_EQ(bash(code).out(), "armed\n");
  EXPECT_TRUE(control_works(bash(code, {"--network", "host"}).out() == "armed\nconnected\n"));
}

TEST_P(HostileReach, NothingOfTheHostCanBeWrittenThroughProc) {
  declare_attack("change the host through files of /proc", "read-only or covered; an own owner");
  const Record record = hostile("proc_writer");
  EXPECT_EQ(record.out(), "armed\n") << record;
  const bool is_writable = has_text(outside("proc_writer").out(), "writable: /proc/");
  if (!is_writable && !is_root()) return no_control("an ordinary user may write to nothing there");
  EXPECT_TRUE(control_works(is_writable));
}

TEST_P(HostileReach, ASetuidProgramOfTheHostGivesNothing) {
  declare_attack("run a setuid program of the host", "nosuid, no_new_privs, ids that don't exist");
  if (::geteuid() != 0) return no_control("only root can make one");
  const ScratchDirectory tools(Caller::root);
  const std::string tool = tools.path() / "id";
  std::filesystem::copy_file("/usr/bin/id", tool);
  ASSERT_EQ(::chmod(tools.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(tool.c_str(), 04755), 0);
  const Record record = record_of({"-v", tool + ":/tool", "--", "/tool", "-u"});
  EXPECT_EQ(record.out(), "1000\n") << record;
  const Outcome control = Command::other(Caller::user, {tool, "-u"}).finish();
  EXPECT_TRUE(control_works(control.out() == "0\n")) << control;
}

TEST_P(HostileReach, TheHostsDevNullStaysAsItIs) {
  declare_attack("change owner and mode of /dev/null, remove it",
                 "device nodes are read-only binds of another owner");
  no_control("it would break the host");
  struct stat before {};
  struct stat after {};
  ASSERT_EQ(::stat("/dev/null", &before), 0);
  const Record record =
      bash("echo armed; chmod 600 /dev/null; chown 1000 /dev/null; rm /dev/null; true");
  EXPECT_EQ(record.out(), "armed\n") << record;
  ASSERT_EQ(::stat("/dev/null", &after), 0);
  EXPECT_EQ(before.st_mode, after.st_mode);
  EXPECT_EQ(before.st_uid, after.st_uid);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

}  // namespace
}  // namespace wardcase::test

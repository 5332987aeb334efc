// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// How boxes come into their control groups, on hosts that do it differently.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/cgroup.h"
#include "sandbox/sys/files.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

using ControlGroups = WithCaller;
WARDCASE_AS_ROOT_AND_USER(ControlGroups);

// Where the v2 tree of this host is; "" without one.
std::string unified_tree() {
  const auto host = sandbox::CgroupHost::find();
  if (!host || host->hierarchies().empty()) return "";
  const auto& first = host->hierarchies().front();
  return first.controller.empty() ? first.mount_point : "";
}

// Runs its arguments behind a filter that does not know clone3, as some containers have it.
constexpr const char* kWithoutClone3 =
    "import ctypes, os, struct, sys\n"
    "rules = [(0x20, 0, 0, 0), (0x15, 0, 1, 435), (0x06, 0, 0, 0x50026), (0x06, 0, 0, "
    "0x7fff0000)]\n"
    "code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *rule) for rule in rules))\n"
    "program = struct.pack('HxxxxxxQ', len(rules), ctypes.addressof(code))\n"
    "libc = ctypes.CDLL(None)\n"
    "assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0\n"
    "os.execv(sys.argv[1], sys.argv[1:])";

TEST_P(ControlGroups, ABoxThatCannotBeBornInItsGroupJoinsItAndSaysSo) {
  const std::vector<std::string> hog = {
      "run", "--json", "-m",     "64m", "--timeout",
      "20s", "-l",     "python", "-c",  "b = []\nwhile True: b.append(bytearray(8 << 20))"};
  std::vector<std::string> filtered = {"/usr/bin/python3", "-c", kWithoutClone3,
                                       Workplace::get().command().string()};
  filtered.insert(filtered.end(), hog.begin(), hog.end());
  const Record joined = Command::other(caller(), filtered).finish().record();
  const Record born = Command(caller(), hog).finish().record();
  EXPECT_EQ(joined.status(), "oom") << joined;
  EXPECT_EQ(joined.text("enforced_by.memory"), born.text("enforced_by.memory"));
  EXPECT_EQ(joined.is_degraded("clone_into_cgroup"), is_root() && !unified_tree().empty())
      << joined;
  EXPECT_FALSE(born.is_degraded("clone_into_cgroup")) << born;
}

// A host with nothing but a v2 tree, seen by one process in a group of its own. Where it is
// one, a second mount would change the options of the first.
constexpr const char* kInPureV2Host =
    "set -e; uid=$1 group=$2 home=$3 runtime=$4; shift 4\n"
    "if [ $(stat -fc %T /sys/fs/cgroup) != cgroup2fs ]; then\n"
    "  umount -R -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup\n"
    "fi\n"
    "own=/sys/fs/cgroup/$group; [ ! -d $own/supervisor ] || own=$own/supervisor\n"
    "echo $$ >$own/cgroup.procs\n"
    "exec setpriv --reuid=$uid --regid=$uid --clear-groups"
    " env HOME=$home XDG_RUNTIME_DIR=$runtime \"$@\"";

// Made in the v2 tree of this host, and given to the caller.
class DelegatedGroup {
 public:
  DelegatedGroup(const std::string& tree, uid_t owner)
      : name_("wardcase-test-" + std::to_string(::getpid())), path_(tree + "/" + name_) {
    EXPECT_EQ(::mkdir(path_.c_str(), 0755), 0);
    for (const char* file : {"", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.threads"}) {
      EXPECT_EQ(::chown((path_ + file).c_str(), owner, owner), 0) << file;
    }
  }
  DelegatedGroup(const DelegatedGroup&) = delete;
  DelegatedGroup& operator=(const DelegatedGroup&) = delete;
  ~DelegatedGroup() {
    for (const char* below : {"/wardcase", "/supervisor", ""})
      (void)::rmdir((path_ + below).c_str());
    EXPECT_FALSE(fs::exists(path_)) << path_;
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Command run(Caller caller, const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"/usr/bin/unshare",
                                     "--mount",
                                     "--propagation=private",
                                     "/bin/bash",
                                     "-c",
                                     kInPureV2Host,
                                     "bash",
                                     std::to_string(uid_of(caller)),
                                     name_,
                                     Workplace::get().home(caller).string(),
                                     Workplace::get().runtime(caller).string(),
                                     Workplace::get().command().string(),
                                     "run"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Command::other(Caller::root, argv);
  }

 private:
  std::string name_;
  std::string path_;
};

// The processes in all leaves below `parent`.
std::ptrdiff_t count_boxed(const std::string& parent) {
  std::ptrdiff_t boxed = 0;
  std::error_code error;
  for (const auto& leaf : fs::directory_iterator(parent, error)) {
    const std::string procs = read_file(leaf.path() / "cgroup.procs");
    boxed += std::count(procs.begin(), procs.end(), '\n');
  }
  return boxed;
}

TEST_P(ControlGroups, OfAPureV2HostHoldBoxesInTheGroupThatIsOursAndAreSwept) {
  const std::string tree = unified_tree();
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to delegate a group";
  if (tree.empty()) GTEST_SKIP() << "no v2 tree";
  const DelegatedGroup group(tree, uid_of(caller()));
  // Root takes the root of the tree, where nothing was delegated to it.
  const std::string parent = (is_root() ? tree : group.path()) + "/wardcase";
  const bool has_memory =
      read_file(fs::path(group.path()) / "cgroup.controllers").find("memory") != std::string::npos;
  {
    const std::ptrdiff_t before = count_boxed(parent);
    Running running = group.run(caller(), {"-l", "bash", "-c", "echo up; sleep 50; :"}).start();
    ASSERT_TRUE(running.wait_for(Channel::out, "up")) << running.read_so_far(Channel::err);
    EXPECT_GE(count_boxed(parent), before + 2);  // init and bash
    running.signal(SIGKILL);
    EXPECT_EQ(running.finish().signal, SIGKILL);
  }
  const Record record = group.run(caller(), {"--json", "--", "true"}).finish().record();
  EXPECT_EQ(record.status(), "exited") << record;
  EXPECT_FALSE(record.is_degraded("clone_into_cgroup")) << record;
  EXPECT_EQ(record.text("enforced_by.memory"), has_memory ? "cgroup2" : "watcher") << record;
  EXPECT_EQ(record.is_degraded("memory_cgroup"), !has_memory);
  if (!is_root()) {
    EXPECT_EQ(sys::list_directory(parent, DT_DIR), std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/host_facts.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "sandbox/capabilities.h"
#include "sandbox/id_pool.h"
#include "sandbox/state_lock.h"

namespace wardcase::sandbox {

namespace {

// Leaves are removed in a moment, but not always at once.
bool remove_leaf(Cgroup& leaf) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto removed = leaf.remove();
    if (removed) return true;
    if (removed.error().code != EBUSY) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// A real leaf under a real lock, so that a supervisor that starts now does not
// take it for a dead one's.
sys::Status try_leaf(const CgroupHost& host, CgroupTrial& trial) {
  const auto directory = runtime_directory();
  if (!directory) return tl::unexpected(directory.error());
  auto lock = StateLock::acquire(*directory + "/locks", "doctor-" + std::to_string(::getpid()));
  if (!lock) return tl::unexpected(std::move(lock).error());
  const CgroupLimits limits = {.memory_bytes = 64U << 20, .pids = 16, .millicpus = 1000};
  auto leaf = host.create(lock->name() + ".leaf", limits, &trial.why);
  if (!leaf) return tl::unexpected(std::move(leaf).error());
  if (*leaf == nullptr) return tl::unexpected(sys::plain_error("none can be used"));
  trial.parent = host.hierarchies().front().parent();
  trial.memory = (*leaf)->memory();
  trial.pids = (*leaf)->pids();
  trial.cpus = (*leaf)->cpus();
  trial.can_kill = (*leaf)->can_kill();
  trial.was_removed = remove_leaf(**leaf);
  return {};
}

CgroupTrial try_cgroups() {
  CgroupTrial trial;
  const auto host = CgroupHost::find();
  if (!host) {
    trial.error = host.error().message();
    return trial;
  }
  trial.has_hierarchies = !host->hierarchies().empty();
  trial.has_v1_controllers = host->has_v1_controllers();
  if (auto tried = try_leaf(*host, trial); !tried) trial.error = tried.error().message();
  return trial;
}

void find_pool(HostFacts& facts) {
  const auto pool = IdPool::find(::geteuid());
  if (!pool) {
    facts.pool_error = pool.error().message();
  } else if (*pool) {
    facts.pool_ids = (*pool)->ids().count;
  }
  facts.can_map_ids =
      ::access("/usr/bin/newuidmap", X_OK) == 0 && read_subordinate_ids(::geteuid()).has_value();
}

bool has_user_manager() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime != nullptr &&
         ::access((std::string(runtime) + "/systemd/private").c_str(), F_OK) == 0;
}

}  // namespace

HostFacts observe_host() {
  HostFacts facts;
  utsname system = {};
  (void)::uname(&system);  // fails only on a bad address
  facts.kernel_release = system.release;
  static_cast<Restrictions&>(facts) = observe_restrictions();
  facts.can_choose_ids = can_choose_ids().value_or(false);
  if (!facts.is_root) find_pool(facts);
  facts.probe = probe_box();
  facts.cgroups = try_cgroups();
  facts.has_pressure = ::access("/proc/pressure/memory", R_OK) == 0;
  facts.has_user_manager = has_user_manager();
  rlimit limit = {};
  (void)::getrlimit(RLIMIT_NOFILE, &limit);  // fails only on a bad address
  facts.open_files = limit.rlim_max;
  return facts;
}

}  // namespace wardcase::sandbox

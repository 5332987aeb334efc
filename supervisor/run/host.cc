// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/host.h"

#include <sched.h>
#include <unistd.h>

#include <utility>

#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/leased_user.h"
#include "sandbox/sys/random.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {
namespace {

constexpr std::uint64_t kCountableFiles = 1'000'000;  // a second or two, and 64 MB meanwhile

sys::Result<std::vector<unsigned>> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cpus;
  // A host with more processors than the set holds gives EINVAL.
  if (::sched_getaffinity(0, sizeof set, &set) < 0) {
    return tl::unexpected(sys::errno_error("ask which processors we may use"));
  }
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace

template <typename T>
T Host::take(sys::Result<T> found, T otherwise) {
  if (found) return *std::move(found);
  if (checked_) checked_ = tl::unexpected(std::move(found).error());
  return otherwise;
}

Host::Host(const HostOverrides& overrides, EnterGroup enter_group, MakeIdPool make_id_pool)
    : can_choose_ids_(overrides.can_choose_ids ? *overrides.can_choose_ids
                                               : take(sandbox::can_choose_ids(), false)),
      cpus_(take(usable_cpus(), {0})),
      landlock_abi_(overrides.landlock_abi ? *overrides.landlock_abi
                                           : take(sandbox::landlock_abi(), 0)),
      countable_files_(overrides.countable_files.value_or(kCountableFiles)),
      mountinfo_(overrides.mountinfo),
      enter_group_(std::move(enter_group)),
      make_id_pool_(std::move(make_id_pool)) {
  if (!can_choose_ids_) find_id_pool();
}

void Host::find_id_pool() {
  auto found = sandbox::IdPool::find(::geteuid());
  if (found) {
    id_pool_ = *std::move(found);
  } else {
    no_pool_because_ = found.error().message();
  }
}

const sandbox::IdPool* Host::id_pool(bool is_demanded) {
  if (!id_pool_ && is_demanded && make_id_pool_) {
    auto made = std::exchange(make_id_pool_, nullptr)();
    if (made) {
      id_pool_ = *std::move(made);
    } else if (no_pool_because_.empty()) {
      no_pool_because_ = made.error().message();
    }
  }
  return id_pool_ ? &*id_pool_ : nullptr;
}

std::string Host::cgroup_fix() const {
  if (cgroups_ && cgroups_->has_v1_controllers()) {
    return "run as root: control groups of version 1 are not given to users";
  }
  const std::string fix = "run as root, or in a session with a delegated control group";
  return no_group_because_.empty() ? fix : fix + " (" + no_group_because_ + ")";
}

std::vector<unsigned> Host::choose_cpus(std::uint64_t millicpus) const {
  const std::uint64_t count = (millicpus + 999) / 1000;
  if (count >= cpus_.size()) return cpus_;
  const std::uint32_t random = sys::draw_number();
  std::vector<unsigned> chosen;
  for (std::uint64_t i = 0; i < count; ++i) chosen.push_back(cpus_[(random + i) % cpus_.size()]);
  return chosen;
}

sys::Status Host::be_locked() {
  if (lock_) return {};
  auto directory = sandbox::runtime_directory();
  if (!directory) return tl::unexpected(directory.error());
  auto lock = sandbox::StateLock::acquire(*directory + "/locks", make_id("sup_"));
  if (!lock) return tl::unexpected(lock.error());
  runtime_directory_ = *std::move(directory);
  lock_.emplace(*std::move(lock));
  return {};
}

sys::Result<sandbox::IdLease> Host::lease_id() {
  if (auto locked = be_locked(); !locked) return tl::unexpected(locked.error());
  const std::string directory = runtime_directory_ + "/ids";
  if (can_choose_ids_) return sandbox::IdLease::take(directory);
  if (id_pool_) return sandbox::IdLease::take(directory, id_pool_->ids());
  return tl::unexpected(sys::plain_error("lease a host id: there are none for us"));
}

sys::Result<sandbox::IdLease> Host::lease_id_to_become() {
  if (auto locked = be_locked(); !locked) return tl::unexpected(locked.error());
  return sandbox::IdLease::take(runtime_directory_ + "/ids");
}

sys::Result<sandbox::PrivateDirectory> Host::make_private_directory(const sandbox::BoxIds& ids,
                                                                    std::string* unswept_because) {
  // Users without a home are many in containers. Theirs is removed after the run all the same.
  if (const auto place = sandbox::runtime_directory(); !place) {
    *unswept_because = place.error().message();
    return sandbox::PrivateDirectory::make(make_id("sup_"), ids);
  }
  if (auto locked = be_locked(); !locked) return tl::unexpected(locked.error());
  return sandbox::PrivateDirectory::make(lock_->name() + "." + std::to_string(next_directory_++),
                                         ids);
}

sys::Status Host::find_cgroups() {
  auto found = mountinfo_
                   ? sys::Result<sandbox::CgroupHost>(sandbox::CgroupHost::discover(*mountinfo_))
                   : sandbox::CgroupHost::find();
  if (!found) return tl::unexpected(std::move(found).error());
  cgroups_ = *std::move(found);
  return can_choose_ids_ || id_pool_ || cgroups_->may_create() ? be_locked() : sys::Status();
}

sys::Result<std::unique_ptr<sandbox::Cgroup>> Host::make_leaf(const sandbox::CgroupLimits& limits,
                                                              std::string* why) {
  // Who may make no groups has nothing that a lock would stand for.
  const std::string prefix = lock_ ? lock_->name() : make_id("sup_");
  return cgroups_->create(prefix + "." + std::to_string(next_leaf_++), limits, why);
}

// Root may write to all groups there are; on v1 nobody gives any away.
bool Host::could_have_more(const sandbox::Cgroup* cgroup) const {
  return enter_group_ && !can_choose_ids_ && cgroups_->is_v2() &&
         (cgroup == nullptr || cgroup->memory() == sandbox::Enforcement::none);
}

sys::Result<std::unique_ptr<sandbox::Cgroup>> Host::make_cgroup(const sandbox::CgroupLimits& limits,
                                                                std::string* why) {
  if (!cgroups_) {
    if (auto found = find_cgroups(); !found) return tl::unexpected(std::move(found).error());
  }
  auto made = make_leaf(limits, why);
  if (!made || !could_have_more(made->get())) return made;
  const auto entered = std::exchange(enter_group_, nullptr)();
  if (!entered) {
    no_group_because_ = entered.error().message();
    return made;
  }
  made->reset();
  if (auto found = find_cgroups(); !found) return tl::unexpected(std::move(found).error());
  return make_leaf(limits, why);
}

void Host::sweep() {
  if (!lock_ || std::exchange(has_swept_, true)) return;
  std::set<std::string> unfinished;
  sandbox::sweep_private_directories(runtime_directory_ + "/locks", &unfinished);
  if (cgroups_) (void)cgroups_->sweep(runtime_directory_ + "/locks", &unfinished);
  sandbox::sweep_locks(runtime_directory_ + "/locks", unfinished);
  sandbox::sweep_leased_ids(runtime_directory_ + "/ids");
}

void Host::leave_to_sweep() {
  if (lock_) lock_->leave();
}

}  // namespace wardcase::supervisor

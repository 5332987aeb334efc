// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/cgroup.h"
#include "sandbox/id_pool.h"
#include "sandbox/private_directory.h"
#include "sandbox/state_lock.h"
#include "sandbox/sys/error.h"

namespace wardcase::supervisor {

// For tests alone: what the host is to look like instead of what it is.
struct HostOverrides {
  std::optional<bool> can_choose_ids;
  std::optional<int> landlock_abi;
  std::optional<std::string> mountinfo;  // "": no control groups
  std::optional<std::uint64_t> countable_files;
};

// What one supervisor knows of its host and holds there: the control group
// hierarchies, the lock that says that it lives, and the processors it may use.
class Host {
 public:
  // `enter_group` moves this process into a control group that is ours, as far as that can be
  // had; it is called once, for who has none on a host with v2.
  using EnterGroup = std::function<sys::Status()>;
  // Host ids from somebody else than root (id_pool.h); called once, when they are demanded.
  using MakeIdPool = std::function<sys::Result<sandbox::IdPool>()>;

  // Looks, and changes nothing yet. What could not be looked at is check()'s to tell; whoever
  // runs anything asks it first, since what stands here then is a guess.
  explicit Host(const HostOverrides& overrides = {}, EnterGroup enter_group = nullptr,
                MakeIdPool make_id_pool = nullptr);
  [[nodiscard]] const sys::Status& check() const { return checked_; }

  // Root with the capabilities to give boxes ids of their own (sandbox/capabilities.h).
  [[nodiscard]] bool can_choose_ids() const { return can_choose_ids_; }
  // Processors that this process may run on.
  [[nodiscard]] const std::vector<unsigned>& cpus() const { return cpus_; }
  // Those of a box: how many its limit allows, rounded up, beginning anywhere, so that boxes
  // do not all crowd on the first.
  [[nodiscard]] std::vector<unsigned> choose_cpus(std::uint64_t millicpus) const;
  [[nodiscard]] int landlock_abi() const { return landlock_abi_; }
  // How many files writable mounts may hold to be counted before a start.
  [[nodiscard]] std::uint64_t countable_files() const { return countable_files_; }

  // The user namespace that boxes with an id of their own are to be made from, for who is
  // not root; nullptr: there is none, for the reason that `no_pool_because` gives ("": none
  // was made for us). One that is demanded is worth the time that it takes to make it.
  [[nodiscard]] const sandbox::IdPool* id_pool(bool is_demanded);
  [[nodiscard]] const std::string& no_pool_because() const { return no_pool_because_; }

  // A host id that no other box has; where one can be had.
  [[nodiscard]] sys::Result<sandbox::IdLease> lease_id();

  // For a box without namespaces: an id of the pool, which root can become with fewer capabilities;
  // and a directory in place of what such a box has no mounts for. Where no lock can be had,
  // which `unswept_because` tells then, nobody removes what a killed supervisor leaves.
  [[nodiscard]] sys::Result<sandbox::IdLease> lease_id_to_become();
  [[nodiscard]] sys::Result<sandbox::PrivateDirectory> make_private_directory(
      const sandbox::BoxIds& ids, std::string* unswept_because);

  // Leaves for a run; as sandbox::CgroupHost::create.
  [[nodiscard]] sys::Result<std::unique_ptr<sandbox::Cgroup>> make_cgroup(
      const sandbox::CgroupLimits& limits, std::string* why);

  // Removes what dead supervisors left, once, if this one makes such things itself.
  // What can't be removed now is left to the next start.
  void sweep();
  // Something of a run could not be removed: it is left to a later sweep.
  void leave_to_sweep();

  // What an ordinary user can do to get control groups; after make_cgroup().
  [[nodiscard]] std::string cgroup_fix() const;

 private:
  void find_id_pool();
  sys::Status be_locked();
  sys::Status find_cgroups();
  [[nodiscard]] bool could_have_more(const sandbox::Cgroup* cgroup) const;
  sys::Result<std::unique_ptr<sandbox::Cgroup>> make_leaf(const sandbox::CgroupLimits& limits,
                                                          std::string* why);

  template <typename T>
  T take(sys::Result<T> found, T otherwise);

  sys::Status checked_;  // before what is found by looking
  bool can_choose_ids_;
  std::optional<sandbox::IdPool> id_pool_;
  std::string no_pool_because_;
  std::vector<unsigned> cpus_;
  int landlock_abi_;
  std::uint64_t countable_files_;
  std::optional<std::string> mountinfo_;  // else that of /proc
  EnterGroup enter_group_;                // nullptr once it was called
  MakeIdPool make_id_pool_;               // the same
  std::string no_group_because_;
  std::optional<sandbox::CgroupHost> cgroups_;
  std::optional<sandbox::StateLock> lock_;
  std::string runtime_directory_;
  std::uint64_t next_leaf_ = 1;
  std::uint64_t next_directory_ = 1;
  bool has_swept_ = false;
};

}  // namespace wardcase::supervisor

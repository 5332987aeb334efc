// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/restrictions.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "sandbox/landlock.h"
#include "sandbox/sys/files.h"

namespace wardcase::sandbox {
namespace {

std::string setting(const char* path) {
  const auto text = sys::read_file(AT_FDCWD, path);
  if (!text) return "";
  return text->substr(0, text->find('\n'));
}

bool is_said(const char* path, const char* words) {
  const auto text = sys::read_file(AT_FDCWD, path);
  return text && text->find(words) != std::string::npos;
}

// As the engines mark what they make; images that are for all of them say "oci".
ContainerKind find_container() {
  const char* const told = ::getenv("container");
  const std::string_view kind = told == nullptr ? "" : told;
  if (kind == "podman") return ContainerKind::podman;
  if (kind == "docker") return ContainerKind::docker;
  if (!kind.empty() && kind != "oci") return ContainerKind::unknown;
  if (::getenv("KUBERNETES_SERVICE_HOST") != nullptr) return ContainerKind::kubernetes;
  if (::access("/run/.containerenv", F_OK) == 0) return ContainerKind::podman;
  if (::access("/.dockerenv", F_OK) == 0) return ContainerKind::docker;
  return kind.empty() ? ContainerKind::none : ContainerKind::unknown;
}

struct Grants {
  std::string_view docker, podman, kubernetes, unit;
};

// A container that does not say whose it is may be any engine's, or a unit of systemd.
std::string grants_in(ContainerKind container, const Grants& grants) {
  switch (container) {
    case ContainerKind::docker:
      return "docker run " + std::string(grants.docker);
    case ContainerKind::podman:
      return "podman run " + std::string(grants.podman);
    case ContainerKind::kubernetes:
      return "in the pod " + std::string(grants.kubernetes);
    case ContainerKind::none:
    case ContainerKind::unknown:
      break;
  }
  std::string all = "docker run ";
  all.append(grants.docker).append("; podman run ").append(grants.podman);
  all.append("; in a pod ").append(grants.kubernetes);
  return all.append("; in a unit ").append(grants.unit);
}

constexpr Grants kForNamespaces = {
    "--security-opt seccomp=wardcase-seccomp.json --security-opt systempaths=unconfined "
    "--security-opt apparmor=unconfined --cgroupns=private",
    "--security-opt seccomp=wardcase-seccomp.json --security-opt unmask=ALL "
    "--security-opt apparmor=unconfined --cgroupns=private",
    "hostUsers: false, procMount: Unmasked, seccompProfile: {type: Localhost, localhostProfile: "
    "wardcase-seccomp.json}, appArmorProfile: {type: Unconfined}",
    "no RestrictNamespaces=, no SystemCallFilter= without @mount"};
constexpr Grants kForProc = {"--security-opt systempaths=unconfined", "--security-opt unmask=ALL",
                             "procMount: Unmasked with hostUsers: false",
                             "no ProtectKernelTunables=, ProtectKernelLogs= and ProtectProc="};

}  // namespace

Restrictions observe_restrictions() {
  Restrictions around;
  around.is_root = ::geteuid() == 0;
  around.max_user_namespaces = setting("/proc/sys/user/max_user_namespaces");
  around.unprivileged_userns_clone = setting("/proc/sys/kernel/unprivileged_userns_clone");
  around.apparmor_restrict_userns =
      setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  around.is_filtered = is_said("/proc/self/status", "\nSeccomp:\t2");
  around.is_proc_covered = is_said("/proc/self/mountinfo", " /proc/");
  around.container = find_container();
  around.landlock_abi = landlock_abi().value_or(0);
  return around;
}

Explanation explain_namespaces(const Restrictions& around, int error) {
  if (around.max_user_namespaces == "0") {
    return {"the host allows no user namespaces (user.max_user_namespaces=0)",
            "sysctl -w user.max_user_namespaces=10000"};
  }
  if (error == ENOSPC || error == EUSERS) {
    return {"the limit of namespaces, or of how deep they are nested, is reached",
            "sysctl -w user.max_user_namespaces=10000, and see the others in /proc/sys/user"};
  }
  if (!around.is_root && around.unprivileged_userns_clone == "0") {
    return {"the host allows user namespaces to root only (kernel.unprivileged_userns_clone=0)",
            "sysctl -w kernel.unprivileged_userns_clone=1"};
  }
  if (!around.is_root && around.apparmor_restrict_userns == "1") {
    return {
        "AppArmor allows user namespaces only to programs with a profile "
        "(kernel.apparmor_restrict_unprivileged_userns=1)",
        "install the package, whose profile covers /usr/bin/wardcase (a binary elsewhere stays "
        "blocked), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"};
  }
  if (around.is_filtered) {
    return {
        "a system call filter around us forbids them (a container's, or a unit's "
        "RestrictNamespaces=)",
        grants_in(around.container, kForNamespaces)};
  }
  if (around.container != ContainerKind::none) {
    return {"the container forbids them", grants_in(around.container, kForNamespaces)};
  }
  return {"", "run outside of chroots and nested sandboxes, or as root"};
}

Explanation explain_proc(const Restrictions& around) {
  if (!around.is_proc_covered) {
    return {"", "see that /proc is mounted here, and that no security module forbids another"};
  }
  return {"parts of /proc are covered, so the kernel gives no fresh one",
          grants_in(around.container, kForProc)};
}

std::string weaker_way(const Restrictions& around) {
  if (around.landlock_abi < kLowestLandlockAbi) return "";
  return "--policy landlock-only runs without namespaces, and holds less";
}

}  // namespace wardcase::sandbox

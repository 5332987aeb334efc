// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/host_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/sys/kernel.h"
#include "sandbox/sys/paths.h"
#include "supervisor/config/mounts.h"

namespace wardcase::supervisor {

namespace {

using policies::MountMode;

tl::unexpected<Problem> refuse(std::string code, const std::string& field,
                               const std::string& what) {
  return tl::unexpected(Problem{400, std::move(code), field + ": " + what, field});
}

tl::unexpected<Problem> refuse_path(const std::string& field, const std::string& what) {
  return refuse("host_path", field, what);
}

sys::UniqueFd open_root(const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  return sys::UniqueFd(sys::openat2(AT_FDCWD, path.c_str(), how));
}

sys::UniqueFd open_below(const sys::UniqueFd& root, const std::string& name) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return sys::UniqueFd(sys::openat2(root.get(), name.c_str(), how));
}

tl::expected<sys::UniqueFd, Problem> open_path(const std::string& field,
                                               const RunRequest::Bind& bind,
                                               const policies::Policy& policy) {
  bool is_below = false;
  for (const policies::Setting<policies::HostRoot>& setting : policy.host_roots) {
    const policies::HostRoot& root = setting.value;
    if (!sys::is_at_or_below(bind.path, root.path)) continue;
    is_below = true;
    if (bind.mode == MountMode::read_write && root.mode != MountMode::read_write) continue;
    std::string name = bind.path.substr(root.path.size());
    name.erase(0, std::min(name.find_first_not_of('/'), name.size()));
    const sys::UniqueFd directory = open_root(root.path);
    if (!directory.is_open()) {
      return refuse_path(field, sys::errno_error("open '" + root.path + "'").message());
    }
    sys::UniqueFd opened = open_below(directory, name.empty() ? "." : name);
    if (opened.is_open()) return opened;
    if (errno == ELOOP || errno == EXDEV) {
      return refuse_path(field, "it leads through a link, or out of '" + root.path + "'");
    }
    return refuse_path(field, sys::errno_error("open it").message());
  }
  const std::string name = policy.name ? policy.name->value : "";
  if (is_below) return refuse_path(field, "the policy '" + name + "' lets it be read alone");
  return refuse_path(field, "is below no [[host_root]] of the policy '" + name + "'");
}

const sys::UniqueFd* find_handed(std::size_t number, const HandedFiles& handed) {
  return number < handed.descriptors.size() ? &handed.descriptors[number] : nullptr;
}

tl::unexpected<Problem> none_came(const std::string& field) {
  return refuse("invalid_field", field,
                "no such descriptor came with the request; hand it over by SCM_RIGHTS, on the Unix "
                "socket, with the request's first bytes");
}

sys::UniqueFd copy_of(const sys::UniqueFd& fd) {
  return sys::UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

tl::unexpected<Problem> no_more_descriptors() {
  return tl::unexpected(
      Problem{503, "too_busy", sys::errno_error("copy a descriptor").message(), "", 1});
}

// Whether the box may have it, which reaches it as its owner does. With O_PATH he has opened
// nothing; and what he opened of others holds more than he could open.
tl::expected<sys::UniqueFd, Problem> take_handed(const std::string& field,
                                                 const RunRequest::Bind& bind,
                                                 const HandedFiles& handed) {
  const sys::UniqueFd* const given = find_handed(*bind.descriptor, handed);
  if (given == nullptr) return none_came(field + ".fd");
  struct stat info = {};
  const int flags = ::fcntl(given->get(), F_GETFL);
  if (flags < 0 || ::fstat(given->get(), &info) < 0) return none_came(field + ".fd");
  if ((flags & O_PATH) != 0) return refuse_path(field + ".fd", "was opened with O_PATH");
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) {
    return refuse_path(field + ".fd", "is neither a directory nor a regular file");
  }
  const bool is_ours = handed.giver && (*handed.giver == 0 || *handed.giver == ::geteuid());
  if (!handed.giver || (!is_ours && *handed.giver != info.st_uid)) {
    return refuse_path(field + ".fd", "belongs to somebody else; hand over what is your own");
  }
  if (bind.mode == MountMode::read_write && S_ISREG(info.st_mode) &&
      (flags & O_ACCMODE) == O_RDONLY) {
    return refuse_path(field + ".fd", "is not open for writing; bind it ro");
  }
  sys::UniqueFd copy = copy_of(*given);
  if (!copy.is_open()) return no_more_descriptors();
  return copy;
}

// What the kernel calls it now.
std::string path_of(const sys::UniqueFd& fd) {
  std::array<char, PATH_MAX> path;
  const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

bool is_the_same(const sys::UniqueFd& fd, const std::string& path) {
  struct stat held = {};
  struct stat named = {};
  return ::fstat(fd.get(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

tl::expected<void, Problem> place(const std::string& field, const RunRequest::Bind& bind,
                                  sys::UniqueFd source, RunSpec& spec) {
  auto mount = check_mount({path_of(source), bind.target, bind.mode});
  if (!mount) return refuse_path(field, mount.error().message());
  if (!is_the_same(source, mount->source)) {
    return refuse_path(field, "can't be reached by its path '" + mount->source + "'");
  }
  const auto other = std::ranges::find(spec.mounts, mount->target, &policies::Mount::target);
  if (other != spec.mounts.end()) {
    return refuse("invalid_field", field + ".target", "something else is there already");
  }
  spec.held_sources.push_back(
      {mount->target, std::make_shared<const sys::UniqueFd>(std::move(source))});
  spec.mounts.push_back(*std::move(mount));
  return {};
}

}  // namespace

tl::expected<void, Problem> place_binds(const RunRequest& request, const HandedFiles& handed,
                                        const policies::Policy& policy, RunSpec& spec) {
  if (!request.binds.empty() && policy.confinement->value != policies::Confinement::namespaces) {
    return tl::unexpected(Problem{
        422, "policy_refused", "binds: the policy '" + spec.policy + "' has no mounts", "binds"});
  }
  for (std::size_t i = 0; i < request.binds.size(); ++i) {
    const RunRequest::Bind& bind = request.binds[i];
    const std::string field = "binds[" + std::to_string(i) + "]";
    auto source = bind.descriptor ? take_handed(field, bind, handed)
                                  : open_path(field + ".path", bind, policy);
    if (!source) return tl::unexpected(std::move(source).error());
    if (auto placed = place(field, bind, *std::move(source), spec); !placed) return placed;
  }
  return {};
}

tl::expected<sys::UniqueFd, Problem> handed_content(const RunRequest::File& file,
                                                    const HandedFiles& handed) {
  const std::string field = "files." + file.name + ".fd";
  const sys::UniqueFd* const given = find_handed(*file.descriptor, handed);
  if (given == nullptr) return none_came(field);
  struct stat info = {};
  const int flags = ::fcntl(given->get(), F_GETFL);
  if (flags < 0 || ::fstat(given->get(), &info) < 0) return none_came(field);
  if (!S_ISREG(info.st_mode) || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY) {
    return refuse("invalid_field", field, "is no regular file that is open for reading");
  }
  sys::UniqueFd copy = copy_of(*given);
  if (!copy.is_open()) return no_more_descriptors();
  return copy;
}

}  // namespace wardcase::supervisor

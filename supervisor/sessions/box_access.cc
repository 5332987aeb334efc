// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/box_access.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/sys/kernel.h"

namespace wardcase::supervisor {

namespace {

constexpr __u64 kInside =
    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;

}  // namespace

AsBoxUser::AsBoxUser(const BoxUser& user) : is_other_(user.uid != ::geteuid()) {
  if (!is_other_) return;
  (void)::setfsgid(user.gid);
  (void)::setfsuid(user.uid);
  is_failed_ = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) != user.uid;
}

AsBoxUser::~AsBoxUser() {
  if (!is_other_) return;
  (void)::setfsuid(::geteuid());
  (void)::setfsgid(::getegid());
}

sys::Status AsBoxUser::status() const {
  if (!is_failed_) return {};
  return tl::unexpected(sys::plain_error(
      "the session's files belong to a host id of its own, which only root may use"));
}

sys::Result<sys::UniqueFd> open_inside(int box, const std::string& path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<__u64>(flags | O_CLOEXEC);
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  how.mode = mode;
  how.resolve = kInside;
  sys::UniqueFd file(sys::openat2(box, path.empty() ? "." : path.c_str(), how));
  if (file.is_open()) return file;
  if (errno == ELOOP) {
    return tl::unexpected(sys::plain_error("'" + path + "': a link stands in the way"));
  }
  if (errno == EXDEV) return tl::unexpected(sys::plain_error("'" + path + "' is outside of /box"));
  return tl::unexpected(sys::errno_error("open '" + path + "'"));
}

}  // namespace wardcase::supervisor

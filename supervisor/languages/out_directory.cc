// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/out_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"
#include "supervisor/languages/box_names.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {
namespace {

constexpr mode_t kDirectoryMode = 0755;

tl::unexpected<sys::Error> failed(std::string_view verb, const std::string& path) {
  sys::Error error = sys::errno_error(verb);
  error.what.append(" '").append(path).append("'");
  return tl::unexpected(std::move(error));
}

sys::UniqueFd enter(int directory, const std::string& name) {
  open_how how = {};
  how.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return sys::UniqueFd(sys::openat2(directory, name.c_str(), how));
}

// Made if it is not there.
sys::UniqueFd enter_or_make(int directory, const std::string& name) {
  sys::UniqueFd inner = enter(directory, name);
  if (inner.is_open() || errno != ENOENT) return inner;
  if (::mkdirat(directory, name.c_str(), kDirectoryMode) < 0 && errno != EEXIST) return {};
  return enter(directory, name);
}

}  // namespace

OutDirectory::OutDirectory(sys::UniqueFd root, std::string path)
    : root_(std::move(root)), path_(std::move(path)) {}

sys::Result<OutDirectory> OutDirectory::open(const std::string& path) {
  if (::mkdir(path.c_str(), kDirectoryMode) < 0 && errno != EEXIST) return failed("make", path);
  auto root = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!root) return tl::unexpected(std::move(root).error());
  if (::faccessat(root->get(), ".", W_OK | X_OK, AT_EACCESS) < 0) return failed("write to", path);
  return OutDirectory(*std::move(root), path);
}

// Part by part, with no path longer than a name.
sys::Result<sys::UniqueFd> OutDirectory::open_parent(const std::string& path) const {
  sys::UniqueFd at = enter(root_.get(), ".");
  if (!at.is_open()) return failed("enter", path_);
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin);
    if (end == std::string::npos) return at;
    at = enter_or_make(at.get(), path.substr(begin, end - begin));
    if (!at.is_open()) {
      const std::string place = path_ + "/" + path.substr(0, end);
      if (errno != ENOTDIR && errno != ELOOP) return failed("make the directory", place);
      return tl::unexpected(
          sys::plain_error("'" + place + "' is there and not a directory; remove it"));
    }
    begin = end + 1;
  }
}

sys::Result<OutFile> OutDirectory::begin(const std::string& path, bool is_executable) const {
  auto directory = open_parent(path);
  if (!directory) return tl::unexpected(std::move(directory).error());
  OutFile out;
  out.path_ = path_ + "/" + path;
  out.name_ = path.substr(path.rfind('/') + 1);
  out.temporary_ = make_id(kUnfinishedName);
  out.directory_ = *std::move(directory);
  out.file_.reset(sys::retry_eintr([&] {
    return ::openat(out.directory_.get(), out.temporary_.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    is_executable ? 0777 : 0666);
  }));
  if (!out.file_.is_open()) return failed("make", out.path_);
  return out;
}

OutFile::~OutFile() {
  if (file_.is_open()) (void)::unlinkat(directory_.get(), temporary_.c_str(), 0);
}

sys::Status OutFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        sys::retry_eintr([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
    if (written < 0) return failed("write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

sys::Status OutFile::finish() {
  struct stat there = {};
  if (::fstatat(directory_.get(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(there.st_mode)) {
    return tl::unexpected(
        sys::plain_error("'" + path_ + "' is there and not a regular file; remove it"));
  }
  if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name_.c_str()) < 0) {
    return failed("put in its place", path_);
  }
  file_.reset();
  return {};
}

}  // namespace wardcase::supervisor

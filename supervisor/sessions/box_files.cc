// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/box_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "sandbox/sys/kernel.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kMostEntries = 10'000;
constexpr __u64 kInside =
    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;

// This thread reaches files as the box's user while it lives; setfsuid(2), which also takes root's
// capabilities over files away.
class AsBoxUser {
 public:
  explicit AsBoxUser(const BoxUser& user) : is_other_(user.uid != ::geteuid()) {
    if (!is_other_) return;
    (void)::setfsgid(user.gid);
    (void)::setfsuid(user.uid);
    is_failed_ = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) != user.uid;
  }
  AsBoxUser(const AsBoxUser&) = delete;
  AsBoxUser& operator=(const AsBoxUser&) = delete;
  ~AsBoxUser() {
    if (!is_other_) return;
    (void)::setfsuid(::geteuid());
    (void)::setfsgid(::getegid());
  }
  [[nodiscard]] sys::Status status() const {
    if (!is_failed_) return {};
    return tl::unexpected(sys::plain_error(
        "the session's files belong to a host id of its own, which only root may use"));
  }

 private:
  bool is_other_;
  bool is_failed_ = false;
};

sys::Result<sys::UniqueFd> open_inside(int box, const std::string& path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<__u64>(flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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

sys::Status check_regular(int file, const std::string& path) {
  struct stat info = {};
  if (::fstat(file, &info) < 0) return tl::unexpected(sys::errno_error("look at '" + path + "'"));
  if (S_ISREG(info.st_mode)) return {};
  return tl::unexpected(sys::plain_error(
      "'" + path + (S_ISDIR(info.st_mode) ? "' is a directory" : "' is no regular file")));
}

char type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return '-';
    case S_IFDIR:
      return 'd';
    case S_IFLNK:
      return 'l';
    case S_IFIFO:
      return 'p';
    case S_IFSOCK:
      return 's';
    case S_IFBLK:
      return 'b';
    default:
      return 'c';
  }
}

BoxEntry entry_of(std::string name, const struct stat& info) {
  return {std::move(name), type_of(info.st_mode), info.st_mode & 07777,
          static_cast<std::uint64_t>(info.st_size),
          info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000};
}

}  // namespace

sys::Result<std::string> path_in_box(const std::string& path) {
  std::string_view rest = path;
  if (rest == "/box") return std::string();
  if (rest.starts_with("/box/")) rest.remove_prefix(std::string_view("/box/").size());
  if (rest.starts_with('/')) {
    return tl::unexpected(sys::plain_error("'" + path + "': only what is in /box can be reached"));
  }
  if (rest.find('\0') != std::string_view::npos) {
    return tl::unexpected(sys::plain_error("a path can't have a zero byte"));
  }
  return std::string(rest);
}

sys::Result<sys::UniqueFd> open_box_file(int box, const BoxUser& user, const std::string& path) {
  const AsBoxUser as(user);
  if (!as.status()) return tl::unexpected(as.status().error());
  auto file = open_inside(box, path, O_RDONLY, 0);
  if (!file) return file;
  if (auto regular = check_regular(file->get(), path); !regular) {
    return tl::unexpected(regular.error());
  }
  return file;
}

NewBoxFile::NewBoxFile(const BoxUser& user, sys::UniqueFd directory, std::string name)
    : user_(user),
      directory_(std::move(directory)),
      name_(std::move(name)),
      unfinished_(".wardcase-" + make_id("")) {}

sys::Result<NewBoxFile> NewBoxFile::create(int box, const BoxUser& user, const std::string& path,
                                           const std::string& name, mode_t mode) {
  const AsBoxUser as(user);
  if (!as.status()) return tl::unexpected(as.status().error());
  std::string place = path;
  std::string own_name = name;
  auto directory = open_inside(box, path, O_RDONLY | O_DIRECTORY, 0);
  if (!directory) {
    const std::size_t slash = path.rfind('/');
    place = slash == std::string::npos ? "" : path.substr(0, slash);
    own_name = path.substr(slash + 1);  // npos + 1 is 0
    directory = open_inside(box, place, O_RDONLY | O_DIRECTORY, 0);
  }
  if (!directory) return tl::unexpected(std::move(directory).error());
  if (own_name.empty() || own_name == "." || own_name == "..") {
    return tl::unexpected(sys::plain_error("'" + path + "' is no name for a file"));
  }
  NewBoxFile made(user, *std::move(directory), std::move(own_name));
  if (auto free = made.check_place(); !free) return tl::unexpected(free.error());
  auto file =
      open_inside(made.directory_.get(), made.unfinished_, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!file) return tl::unexpected(std::move(file).error());
  made.file_ = *std::move(file);
  if (::fchmod(made.fd(), mode) < 0) return tl::unexpected(sys::errno_error("set its mode"));
  return made;
}

NewBoxFile::~NewBoxFile() {
  if (!file_.is_open()) return;
  const AsBoxUser as(user_);
  (void)::unlinkat(directory_.get(), unfinished_.c_str(), 0);  // its programs may have done so
}

sys::Status NewBoxFile::check_place() const {
  struct stat info = {};
  if (::fstatat(directory_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno == ENOENT) return {};
    return tl::unexpected(sys::errno_error("look at '" + name_ + "'"));
  }
  if (S_ISREG(info.st_mode)) return {};
  return tl::unexpected(sys::plain_error("'" + name_ + "' is there, and is no regular file"));
}

sys::Status NewBoxFile::take_place() {
  const AsBoxUser as(user_);
  if (!as.status()) return as.status();
  if (auto free = check_place(); !free) return free;
  if (::renameat(directory_.get(), unfinished_.c_str(), directory_.get(), name_.c_str()) < 0) {
    return tl::unexpected(sys::errno_error("give '" + name_ + "' its place"));
  }
  file_.reset();
  return {};
}

sys::Result<std::vector<BoxEntry>> list_box_files(int box, const BoxUser& user,
                                                  const std::string& path) {
  const AsBoxUser as(user);
  if (!as.status()) return tl::unexpected(as.status().error());
  auto opened = open_inside(box, path, O_RDONLY, 0);
  if (!opened) return tl::unexpected(std::move(opened).error());
  struct stat info = {};
  if (::fstat(opened->get(), &info) < 0) {
    return tl::unexpected(sys::errno_error("look at '" + path + "'"));
  }
  std::vector<BoxEntry> entries;
  if (!S_ISDIR(info.st_mode)) return std::vector{entry_of(path, info)};
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(opened->get()), ::closedir);
  if (directory == nullptr) return tl::unexpected(sys::errno_error("read '" + path + "'"));
  const int fd = opened->release();  // the directory's own now
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) continue;  // gone meanwhile
    if (entries.size() == kMostEntries) {
      return tl::unexpected(sys::Error{EFBIG, "list '" + path + "'"});
    }
    entries.push_back(entry_of(name, info));
  }
  std::ranges::sort(entries, {}, &BoxEntry::name);
  return entries;
}

}  // namespace wardcase::supervisor

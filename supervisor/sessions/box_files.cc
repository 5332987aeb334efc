// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/box_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "supervisor/languages/box_names.h"
#include "supervisor/sessions/box_access.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostEntries = 10'000;
sys::Status check_regular(int file, const std::string& path) {
  struct stat info = {};
  if (::fstat(file, &info) < 0) return tl::unexpected(sys::errno_error("look at '" + path + "'"));
  if (S_ISREG(info.st_mode)) return {};
  if (S_ISDIR(info.st_mode)) return tl::unexpected(sys::Error{EISDIR, "read '" + path + "'"});
  return tl::unexpected(sys::plain_error("'" + path + "' is no regular file"));
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

NewBoxFile::NewBoxFile(const BoxUser& user, sys::UniqueFd directory, std::string path)
    : user_(user),
      directory_(std::move(directory)),
      path_(std::move(path)),
      name_(path_.substr(path_.rfind('/') + 1)),  // npos + 1 is 0
      unfinished_(make_id(kUnfinishedName)) {}

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
  NewBoxFile made(user, *std::move(directory), (fs::path(place) / own_name).lexically_normal());
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

sys::Status remove_box_file(int box, const BoxUser& user, const std::string& path) {
  const AsBoxUser as(user);
  if (!as.status()) return as.status();
  const std::size_t slash = path.rfind('/');
  const std::string place = slash == std::string::npos ? "" : path.substr(0, slash);
  const std::string name = path.substr(slash + 1);  // npos + 1 is 0
  if (name.empty() || name == "." || name == "..") {
    return tl::unexpected(sys::plain_error("'" + path + "' is no name of a file"));
  }
  const auto directory = open_inside(box, place, O_RDONLY | O_DIRECTORY, 0);
  if (!directory) return tl::unexpected(directory.error());
  int removed = ::unlinkat(directory->get(), name.c_str(), 0);
  if (removed < 0 && errno == EISDIR) {
    removed = ::unlinkat(directory->get(), name.c_str(), AT_REMOVEDIR);
  }
  if (removed == 0) return {};
  return tl::unexpected(sys::errno_error("remove '" + path + "'"));
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

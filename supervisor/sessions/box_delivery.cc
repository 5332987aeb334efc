// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/sessions/box_delivery.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/languages/box_names.h"
#include "supervisor/sessions/box_access.h"

namespace wardcase::supervisor {

namespace {

constexpr mode_t kDirectoryMode = 0755;

// "" and "a.csv" of "a.csv", "data" and "a.csv" of "data/a.csv".
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {"", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

// The last of it, and all above it that are missing.
sys::Result<sys::UniqueFd> enter_or_make(int box, const std::string& path) {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const auto [parent, name] = split(path.substr(0, end));
    auto above = open_inside(box, parent, O_PATH | O_DIRECTORY, 0);
    if (!above) return above;
    if (::mkdirat(above->get(), name.c_str(), kDirectoryMode) < 0 && errno != EEXIST) {
      return tl::unexpected(sys::errno_error("make the directory '" + path + "'"));
    }
  }
  return open_inside(box, path, O_RDONLY | O_DIRECTORY, 0);
}

bool is_same(int one, int other) {
  struct stat a = {};
  struct stat b = {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

BoxDelivery::BoxDelivery(sys::UniqueFd box, const BoxUser& user, std::vector<DeliveredFile> files)
    : box_(std::move(box)), user_(user), files_(std::move(files)), id_(make_id(kUnfinishedName)) {}

sys::Result<BoxDelivery> BoxDelivery::create(int box, const BoxUser& user,
                                             std::vector<DeliveredFile> files) {
  for (const DeliveredFile& file : files) {
    if (const auto why = why_no_box_name(file.name); !why.empty()) {
      return tl::unexpected(sys::plain_error("the name '" + file.name + "' " + std::string(why)));
    }
  }
  sys::UniqueFd shared(::fcntl(box, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!shared.is_open()) return tl::unexpected(sys::errno_error("share /box"));
  return BoxDelivery(std::move(shared), user, std::move(files));
}

BoxDelivery::~BoxDelivery() {
  if (!box_.is_open() || placed_ == files_.size()) return;
  const AsBoxUser as(user_);
  for (std::size_t i = placed_; i < files_.size() && i <= at_; ++i) {
    (void)::unlinkat(box_.get(), unfinished(i).c_str(), 0);  // programs may have done so
  }
}

std::string BoxDelivery::unfinished(std::size_t number) const {
  return id_ + "-" + std::to_string(number);
}

sys::Status BoxDelivery::begin_file() {
  const AsBoxUser as(user_);
  if (!as.status()) return as.status();
  const mode_t mode = files_[at_].mode;
  auto file = open_inside(box_.get(), unfinished(at_), O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!file) return tl::unexpected(std::move(file).error());
  if (::fchmod(file->get(), mode) < 0) return tl::unexpected(sys::errno_error("set its mode"));
  file_ = *std::move(file);
  return {};
}

sys::Status BoxDelivery::write(std::string_view bytes) {
  if (is_whole()) return tl::unexpected(sys::plain_error("no more files were to come"));
  if (!file_.is_open()) {
    if (auto begun = begin_file(); !begun) return begun;
  }
  if (bytes.empty()) {
    file_.reset();
    ++at_;
    return {};
  }
  while (!bytes.empty()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
    if (n < 0) return tl::unexpected(sys::errno_error("write '" + files_[at_].name + "'"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

sys::Status BoxDelivery::check_place(const std::string& name) const {
  const auto [parent, own] = split(name);
  const auto directory = open_inside(box_.get(), parent, O_PATH | O_DIRECTORY, 0);
  if (!directory && directory.error().code == ENOENT) return {};  // it will be made
  if (!directory) return tl::unexpected(directory.error());
  struct stat info = {};
  if (::fstatat(directory->get(), own.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno == ENOENT) return {};
    return tl::unexpected(sys::errno_error("look at '" + name + "'"));
  }
  if (S_ISREG(info.st_mode)) return {};
  return tl::unexpected(sys::plain_error("'" + name + "' is there, and is no regular file"));
}

sys::Status BoxDelivery::take_places(int box) {
  if (!is_same(box, box_.get())) {
    return tl::unexpected(sys::plain_error("the box that they were in has ended"));
  }
  const AsBoxUser as(user_);
  if (!as.status()) return as.status();
  for (const DeliveredFile& file : files_) {
    if (auto free = check_place(file.name); !free) return free;
  }
  while (placed_ < files_.size()) {
    if (auto placed = take_place(placed_); !placed) return placed;
    ++placed_;
  }
  return {};
}

sys::Status BoxDelivery::take_place(std::size_t number) {
  const auto [parent, own] = split(files_[number].name);
  auto directory = enter_or_make(box_.get(), parent);
  if (!directory) return tl::unexpected(std::move(directory).error());
  if (::renameat(box_.get(), unfinished(number).c_str(), directory->get(), own.c_str()) < 0) {
    return tl::unexpected(sys::errno_error("give '" + files_[number].name + "' its place"));
  }
  return {};
}

}  // namespace wardcase::supervisor

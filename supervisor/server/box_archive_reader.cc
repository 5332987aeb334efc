// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/server/box_archive.h"
#include "supervisor/sessions/box_access.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kPiece = 64 << 10;

sys::Status refuse(const std::string& name, const std::string& why) {
  return tl::unexpected(sys::plain_error("entry '" + name + "' " + why));
}

// In the form that the archive has it, or else in that of our locale.
std::string text_of(const char* utf8, const char* local) {
  const char* const text = utf8 != nullptr ? utf8 : local;
  return text == nullptr ? "" : text;
}

}  // namespace

BoxArchiveReader::BoxArchiveReader(sys::UniqueFd directory, sys::UniqueFd waiting,
                                   const BoxUser& user, std::string path)
    : directory_(std::move(directory)),
      waiting_(std::move(waiting)),
      user_(user),
      path_(std::move(path)),
      archive_(::archive_read_new()) {}

BoxArchiveReader::~BoxArchiveReader() { (void)::archive_read_free(archive_); }

sys::Result<std::unique_ptr<BoxArchiveReader>> BoxArchiveReader::create(int box,
                                                                        const BoxUser& user,
                                                                        const std::string& path) {
  const AsBoxUser as(user);
  if (!as.status()) return tl::unexpected(as.status().error());
  auto directory = open_inside(box, path, O_RDONLY | O_DIRECTORY, 0);
  if (!directory) return tl::unexpected(std::move(directory).error());
  auto waiting = open_inside(directory->get(), "", O_TMPFILE | O_RDWR, 0600);
  if (!waiting) return tl::unexpected(std::move(waiting).error());
  return std::unique_ptr<BoxArchiveReader>(
      new BoxArchiveReader(*std::move(directory), *std::move(waiting), user, path));
}

sys::Status BoxArchiveReader::add(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::write(waiting_.get(), bytes.data(), bytes.size()); });
    if (n < 0) return tl::unexpected(sys::errno_error("keep the archive"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

// Nothing that is compressed: a small request would become much.
sys::Status BoxArchiveReader::open() {
  if (archive_ == nullptr) return tl::unexpected(sys::Error{ENOMEM, "read the archive"});
  is_open_ = true;
  const bool is_opened = ::lseek(waiting_.get(), 0, SEEK_SET) == 0 &&
                         ::archive_read_support_format_tar(archive_) == ARCHIVE_OK &&
                         ::archive_read_open_fd(archive_, waiting_.get(), kPiece) == ARCHIVE_OK;
  if (is_opened) return {};
  return tl::unexpected(sys::plain_error("the body is no tar"));
}

sys::Result<bool> BoxArchiveReader::read_more() {
  if (!is_open_) {
    if (auto opened = open(); !opened) return tl::unexpected(opened.error());
  }
  sys::Status done;
  if (file_ != nullptr) {
    done = take_piece();
  } else {
    struct archive_entry* entry = nullptr;
    const int read = ::archive_read_next_header(archive_, &entry);
    if (read == ARCHIVE_EOF) return false;
    if (read < ARCHIVE_WARN) return tl::unexpected(sys::plain_error("the body is no whole tar"));
    done = take_entry(entry);
  }
  if (!done) return tl::unexpected(done.error());
  return true;
}

sys::Status BoxArchiveReader::take_entry(struct archive_entry* entry) {
  const std::string written =
      text_of(::archive_entry_pathname_utf8(entry), ::archive_entry_pathname(entry));
  const auto name = name_in_archive(written);
  if (++count_ > kMostArchiveEntries) {
    return tl::unexpected(
        sys::Error{EFBIG, "take more than " + std::to_string(kMostArchiveEntries) + " entries"});
  }
  if (!name || written.empty()) return refuse(written, "has no name below the directory");
  if (::archive_entry_hardlink(entry) != nullptr) {
    return refuse(written, "is a hard link; make the archive with --hard-dereference");
  }
  const unsigned type = ::archive_entry_filetype(entry);
  if (type == AE_IFDIR) return make_directories(*name);
  if (name->empty()) return refuse(written, "is the directory itself");
  const std::size_t slash = name->rfind('/');
  if (slash != std::string::npos) {
    if (auto made = make_directories(name->substr(0, slash)); !made) return made;
  }
  if (type == AE_IFLNK) {
    return take_link(*name,
                     text_of(::archive_entry_symlink_utf8(entry), ::archive_entry_symlink(entry)));
  }
  if (type != AE_IFREG) return refuse(written, "is neither file nor directory nor link");
  // No more than came: holes would be much that is made of little.
  taken_ += static_cast<std::uint64_t>(::archive_entry_size(entry));
  if (taken_ > size_ || ::archive_entry_sparse_count(entry) > 0) {
    return refuse(written, "is longer than what of it is in the archive");
  }
  auto file = NewBoxFile::create(directory_.get(), user_, *name, "",
                                 static_cast<mode_t>(::archive_entry_perm(entry) & 0777) | 0600);
  if (!file) return tl::unexpected(std::move(file).error());
  file_ = std::make_unique<NewBoxFile>(*std::move(file));
  written_ = 0;
  return {};
}

sys::Status BoxArchiveReader::take_piece() {
  const void* bytes = nullptr;
  std::size_t size = 0;
  la_int64_t at = 0;
  const int read = ::archive_read_data_block(archive_, &bytes, &size, &at);
  if (read == ARCHIVE_EOF) {
    auto placed = file_->take_place();
    if (placed) on_file(path_.empty() ? file_->path() : path_ + "/" + file_->path());
    file_.reset();
    return placed;
  }
  if (read < ARCHIVE_WARN || static_cast<std::uint64_t>(at) != written_) {
    return tl::unexpected(sys::plain_error("the body is no whole tar"));
  }
  std::string_view left(static_cast<const char*>(bytes), size);
  written_ += size;
  while (!left.empty()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::write(file_->fd(), left.data(), left.size()); });
    if (n < 0) return tl::unexpected(sys::errno_error("write '" + file_->path() + "'"));
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

sys::Status BoxArchiveReader::make_directories(std::string_view path) {
  const AsBoxUser as(user_);
  if (!as.status()) return as.status();
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part(path.substr(0, end));
    auto there = open_inside(directory_.get(), part, O_RDONLY | O_DIRECTORY, 0);
    if (there) continue;
    if (there.error().code != ENOENT) return tl::unexpected(std::move(there).error());
    const std::size_t slash = part.rfind('/');
    const auto parent =
        open_inside(directory_.get(), slash == std::string::npos ? "" : part.substr(0, slash),
                    O_RDONLY | O_DIRECTORY, 0);
    if (!parent) return tl::unexpected(parent.error());
    if (::mkdirat(parent->get(), part.substr(slash + 1).c_str(), 0755) < 0) {  // npos + 1 is 0
      return tl::unexpected(sys::errno_error("make directory '" + part + "'"));
    }
  }
  return {};
}

// In place of a link, and of nothing else.
sys::Status BoxArchiveReader::take_link(const std::string& path, const std::string& target) {
  const std::string below = path_.empty() ? path : path_ + "/" + path;
  if (!stays_in_box(below, target)) return refuse(path, "is a link out of the box");
  const AsBoxUser as(user_);
  if (!as.status()) return as.status();
  const std::size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);  // npos + 1 is 0
  const auto parent =
      open_inside(directory_.get(), slash == std::string::npos ? "" : path.substr(0, slash),
                  O_RDONLY | O_DIRECTORY, 0);
  if (!parent) return tl::unexpected(parent.error());
  struct stat info = {};
  const bool is_link = ::fstatat(parent->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISLNK(info.st_mode);
  if (is_link) (void)::unlinkat(parent->get(), name.c_str(), 0);
  if (::symlinkat(target.c_str(), parent->get(), name.c_str()) == 0) return {};
  return tl::unexpected(sys::errno_error("make the link '" + path + "'"));
}

}  // namespace wardcase::supervisor

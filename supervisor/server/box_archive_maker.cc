// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/server/box_archive.h"
#include "supervisor/sessions/box_access.h"

namespace wardcase::supervisor {

namespace {

constexpr std::size_t kPiece = 64 << 10;
constexpr std::size_t kDeepest = 64;

la_ssize_t keep(struct archive*, void* into, const void* bytes, std::size_t size) {
  static_cast<std::string*>(into)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

sys::Error failure_of(struct archive* of) {
  const char* const what = ::archive_error_string(of);
  return sys::plain_error(std::string("make the archive: ") + (what == nullptr ? "" : what));
}

}  // namespace

BoxArchiveMaker::BoxArchiveMaker(sys::UniqueFd directory, const BoxUser& user)
    : directory_(std::move(directory)), user_(user), archive_(::archive_write_new()) {}

BoxArchiveMaker::~BoxArchiveMaker() { (void)::archive_write_free(archive_); }

sys::Result<std::unique_ptr<BoxArchiveMaker>> BoxArchiveMaker::create(int box, const BoxUser& user,
                                                                      const std::string& path) {
  sys::UniqueFd opened;
  {
    const AsBoxUser as(user);
    if (!as.status()) return tl::unexpected(as.status().error());
    auto directory = open_inside(box, path, O_RDONLY | O_DIRECTORY, 0);
    if (!directory) return tl::unexpected(std::move(directory).error());
    opened = *std::move(directory);
  }
  std::unique_ptr<BoxArchiveMaker> made(new BoxArchiveMaker(std::move(opened), user));
  struct archive* const archive = made->archive_;
  if (archive == nullptr) return tl::unexpected(sys::Error{ENOMEM, "make the archive"});
  (void)::archive_write_set_bytes_in_last_block(archive, 1);
  if (::archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
      ::archive_write_open(archive, &made->made_, nullptr, keep, nullptr) != ARCHIVE_OK) {
    return tl::unexpected(failure_of(archive));
  }
  if (auto entered = made->enter(""); !entered) return tl::unexpected(entered.error());
  return made;
}

sys::Status BoxArchiveMaker::enter(const std::string& path) {
  auto entries = list_box_files(directory_.get(), user_, path);
  if (!entries) return tl::unexpected(std::move(entries).error());
  levels_.push_back({path.empty() ? "" : path + "/", *std::move(entries)});
  return {};
}

sys::Result<bool> BoxArchiveMaker::make_more(std::string& text) {
  sys::Status done;
  bool is_over = false;
  if (file_.is_open()) {
    done = add_piece();
  } else if (levels_.empty()) {
    is_over = true;
    if (::archive_write_close(archive_) != ARCHIVE_OK) done = tl::unexpected(failure_of(archive_));
  } else if (Level& level = levels_.back(); level.next == level.entries.size()) {
    levels_.pop_back();
  } else {
    const BoxEntry entry = level.entries[level.next++];
    done = add_entry(level.path + entry.name, entry);
  }
  if (!done) return tl::unexpected(done.error());
  text += std::exchange(made_, {});
  return !is_over;
}

sys::Status BoxArchiveMaker::add_entry(const std::string& path, const BoxEntry& entry) {
  if (entry.type != '-' && entry.type != 'd' && entry.type != 'l') return {};
  if (++count_ > kMostArchiveEntries) {
    return tl::unexpected(
        sys::Error{EFBIG, "archive more than " + std::to_string(kMostArchiveEntries) + " files"});
  }
  if (entry.type == '-') return begin_file(path, entry);
  if (entry.type == 'l') return add_link(path, entry);
  if (levels_.size() >= kDeepest) {
    return tl::unexpected(sys::Error{ENAMETOOLONG, "archive '" + path + "'"});
  }
  auto added = add_header(path + "/", AE_IFDIR, entry, "");
  if (added) (void)enter(path);  // one that can't be read is empty, and one may have gone
  return added;
}

sys::Status BoxArchiveMaker::begin_file(const std::string& path, const BoxEntry& entry) {
  auto file = open_box_file(directory_.get(), user_, path);
  struct stat info = {};
  if (!file || ::fstat(file->get(), &info) < 0) return {};
  BoxEntry now = entry;
  now.size = left_ = static_cast<std::uint64_t>(info.st_size);
  auto added = add_header(path, AE_IFREG, now, "");
  if (added && left_ > 0) file_ = *std::move(file);
  return added;
}

sys::Status BoxArchiveMaker::add_link(const std::string& path, const BoxEntry& entry) {
  std::array<char, PATH_MAX> target{};
  const AsBoxUser as(user_);
  const auto link = open_inside(directory_.get(), path, O_PATH | O_NOFOLLOW, 0);
  if (!link) return {};
  const ssize_t size = ::readlinkat(link->get(), "", target.data(), target.size());
  if (size <= 0) return {};
  return add_header(path, AE_IFLNK, entry, {target.data(), static_cast<std::size_t>(size)});
}

sys::Status BoxArchiveMaker::add_header(const std::string& path, unsigned type,
                                        const BoxEntry& entry, const std::string& target) {
  const std::unique_ptr<struct archive_entry, void (*)(struct archive_entry*)> header(
      ::archive_entry_new(), ::archive_entry_free);
  ::archive_entry_set_pathname(header.get(), path.c_str());
  ::archive_entry_set_filetype(header.get(), type);
  ::archive_entry_set_perm(header.get(), entry.mode & 0777);
  ::archive_entry_set_mtime(header.get(), entry.modified_ms / 1000, 0);
  ::archive_entry_set_size(header.get(),
                           type == AE_IFREG ? static_cast<la_int64_t>(entry.size) : 0);
  if (type == AE_IFLNK) ::archive_entry_set_symlink(header.get(), target.c_str());
  if (::archive_write_header(archive_, header.get()) >= ARCHIVE_WARN) return {};
  return tl::unexpected(failure_of(archive_));
}

// One that becomes shorter is filled up with zero bytes, as its header has its length.
sys::Status BoxArchiveMaker::add_piece() {
  std::array<char, kPiece> piece{};
  const std::size_t wanted = std::min<std::uint64_t>(left_, piece.size());
  const ssize_t got = sys::retry_eintr([&] { return ::read(file_.get(), piece.data(), wanted); });
  const std::size_t size = got > 0 ? static_cast<std::size_t>(got) : wanted;
  if (::archive_write_data(archive_, piece.data(), size) < 0) {
    return tl::unexpected(failure_of(archive_));
  }
  left_ -= size;
  if (left_ == 0) file_.reset();
  return {};
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/run/run.h"
#include "supervisor/sessions/box_files.h"

struct archive;
struct archive_entry;

namespace wardcase::supervisor {

// Tars of what is in a box, as it goes on: a piece at a time, with the rights of the box's user,
// and no link is followed. libarchive reads and writes the format; what becomes of an entry is
// ours.
inline constexpr std::size_t kMostArchiveEntries = 10'000;

// Of a directory: regular files, directories, and links as links; all else is left out. What goes
// while it is read is left out, too.
class BoxArchiveMaker {
 public:
  static sys::Result<std::unique_ptr<BoxArchiveMaker>> create(int box, const BoxUser& user,
                                                              const std::string& path);
  ~BoxArchiveMaker();
  BoxArchiveMaker(const BoxArchiveMaker&) = delete;
  BoxArchiveMaker& operator=(const BoxArchiveMaker&) = delete;

  // Adds the next piece to `text`. False: it was the last one.
  [[nodiscard]] sys::Result<bool> make_more(std::string& text);

 private:
  struct Level {
    std::string path;  // below the directory, with a slash behind it
    std::vector<BoxEntry> entries;
    std::size_t next = 0;
  };
  BoxArchiveMaker(sys::UniqueFd directory, const BoxUser& user);
  [[nodiscard]] sys::Status enter(const std::string& path);
  [[nodiscard]] sys::Status add_entry(const std::string& path, const BoxEntry& entry);
  [[nodiscard]] sys::Status begin_file(const std::string& path, const BoxEntry& entry);
  [[nodiscard]] sys::Status add_link(const std::string& path, const BoxEntry& entry);
  [[nodiscard]] sys::Status add_piece();
  [[nodiscard]] sys::Status add_header(const std::string& path, unsigned type,
                                       const BoxEntry& entry, const std::string& target);

  sys::UniqueFd directory_;
  BoxUser user_;
  struct archive* archive_;
  std::string made_;  // what libarchive has written and nobody has taken
  std::vector<Level> levels_;
  std::size_t count_ = 0;
  sys::UniqueFd file_;
  std::uint64_t left_ = 0;  // of the file, as its header says
};

// Into a directory. Names that lead out of it, links out of the box, hard links, devices and the
// like end it with an error, as do more entries or bytes than there can be; what came before stays.
class BoxArchiveReader {
 public:
  // What waits is kept in the box, of whose disk it takes.
  static sys::Result<std::unique_ptr<BoxArchiveReader>> create(int box, const BoxUser& user,
                                                               const std::string& path);
  ~BoxArchiveReader();
  BoxArchiveReader(const BoxArchiveReader&) = delete;
  BoxArchiveReader& operator=(const BoxArchiveReader&) = delete;

  // The next bytes of the tar.
  [[nodiscard]] sys::Status add(std::string_view bytes);
  // All bytes are there: reads one entry, or a piece of one. False: there is no more.
  [[nodiscard]] sys::Result<bool> read_more();
  // Told of each regular file that is in its place, by its path below /box.
  std::function<void(const std::string& path)> on_file = [](const std::string&) {};

 private:
  BoxArchiveReader(sys::UniqueFd directory, sys::UniqueFd waiting, const BoxUser& user,
                   std::string path);
  [[nodiscard]] sys::Status open();
  [[nodiscard]] sys::Status take_entry(struct archive_entry* entry);
  [[nodiscard]] sys::Status take_link(const std::string& path, const std::string& target);
  [[nodiscard]] sys::Status take_piece();
  [[nodiscard]] sys::Status make_directories(std::string_view path);

  sys::UniqueFd directory_;
  sys::UniqueFd waiting_;
  BoxUser user_;
  std::string path_;
  struct archive* archive_;
  bool is_open_ = false;
  std::uint64_t size_ = 0;   // of the tar
  std::uint64_t taken_ = 0;  // of files, as their headers say
  std::size_t count_ = 0;
  std::unique_ptr<NewBoxFile> file_;
  std::uint64_t written_ = 0;  // of that
};

// The name of an entry, relative and without "." and "//"; "": the directory itself. nullopt: it
// leads out, or is none.
[[nodiscard]] std::optional<std::string> name_in_archive(std::string_view name);
// Whether a link at that place, which has such a name, leads to a place in the box.
[[nodiscard]] bool stays_in_box(std::string_view place, std::string_view target);

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// A file has lines: "+ID JSON" for what was accepted, and "-ID JSON" with the last event in the
// line after it for what has ended.
#include "supervisor/server/run_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

constexpr std::string_view kSuffix = ".runs";

// What a killed service has begun may hold the lock for a moment longer than it.
constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kBetweenLooks{10};

sys::Status lock(int directory) {
  const auto latest = std::chrono::steady_clock::now() + kPatience;
  while (::flock(directory, LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() > latest) {
      return tl::unexpected(sys::errno_error("lock the directory of runs"));
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return {};
}

std::string name_of(std::uint64_t number) { return std::to_string(number) + std::string(kSuffix); }

std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// With its line break; "": there is none that is whole.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = text.substr(0, end + 1);
  text.remove_prefix(end + 1);
  return line;
}

struct Head {
  char kind;
  std::string id;
  std::string part;
};

std::optional<Head> read_head(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || (line[0] != '+' && line[0] != '-')) return std::nullopt;
  line.remove_suffix(1);
  return Head{line[0], std::string(line.substr(1, space - 1)), std::string(line.substr(space + 1))};
}

sys::Status write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written =
        sys::retry_eintr([&] { return ::write(file, text.data(), text.size()); });
    if (written < 0) return tl::unexpected(sys::errno_error("write what is kept of runs"));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

sys::Result<std::unique_ptr<RunStore>> RunStore::open(OwnPlace place, std::size_t segment) {
  if (auto locked = lock(place.directory.get()); !locked) return tl::unexpected(locked.error());
  std::unique_ptr<RunStore> store(new RunStore(std::move(place), segment));
  if (auto was_read = store->read(); !was_read) return tl::unexpected(was_read.error());
  return store;
}

sys::Status RunStore::read() {
  std::vector<Number> numbers;
  for (const std::string& name : sys::list_directory(place_.path, DT_REG)) {
    if (const auto number = number_of(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  std::map<std::string, std::size_t> at;
  for (const Number number : numbers) {
    const auto text = sys::read_file(place_.directory.get(), name_of(number).c_str());
    if (!text) return tl::unexpected(text.error());
    held_[number] = 0;
    read_segment(number, *text, at);
    current_ = number;
  }
  for (const Number number : numbers) let_go(number);
  return {};
}

void RunStore::read_segment(Number number, std::string_view text,
                            std::map<std::string, std::size_t>& at) {
  while (true) {
    const std::string_view line = take_line(text);
    if (line.empty()) return;
    auto head = read_head(line);
    if (!head) continue;
    const auto known = at.find(head->id);
    if (head->kind == '+' && known == at.end()) {
      at[head->id] = found_.size();
      found_.push_back({head->id, std::move(head->part), "", ""});
    } else if (head->kind == '-') {
      const std::string_view last = take_line(text);
      if (last.empty() || known == at.end()) continue;
      found_[known->second].ended = std::move(head->part);
      found_[known->second].last = last;
    }
    hold(head->id, number);
  }
}

std::vector<RunStore::Found> RunStore::take_found() { return std::exchange(found_, {}); }

sys::Status RunStore::accept(const std::string& id, std::string_view part) {
  return append(id, "+" + id + " " + std::string(part) + "\n");
}

sys::Status RunStore::end(const std::string& id, std::string_view part, std::string_view last) {
  return append(id, "-" + id + " " + std::string(part) + "\n" + std::string(last));
}

sys::Status RunStore::append(const std::string& id, std::string_view text) {
  if (!file_.is_open() || size_ >= segment_) {
    if (auto opened = open_next(); !opened) return opened;
  }
  if (auto written = write_whole(file_.get(), text); !written) {
    // What was written of it goes again; where even that fails, another file is begun.
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) < 0) size_ = segment_;
    return written;
  }
  size_ += text.size();
  hold(id, current_);
  return {};
}

sys::Status RunStore::open_next() {
  auto file = sys::open_at(place_.directory.get(), name_of(current_ + 1).c_str(),
                           O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0600);
  if (!file) return tl::unexpected(std::move(file).error());
  const Number before = std::exchange(current_, current_ + 1);
  file_ = *std::move(file);
  size_ = 0;
  held_[current_] = 0;
  let_go(before);
  return {};
}

void RunStore::hold(const std::string& id, Number number) {
  if (places_[id].insert(number).second) ++held_[number];
}

void RunStore::forget(const std::string& id) {
  const auto places = places_.extract(id);
  if (places.empty()) return;
  for (const Number number : places.mapped()) {
    --held_.at(number);
    let_go(number);
  }
}

// Removes the file if nobody needs it and nobody writes to it.
void RunStore::let_go(Number number) {
  const auto found = held_.find(number);
  if (found == held_.end() || found->second > 0) return;
  if (number == current_ && file_.is_open()) return;
  held_.erase(found);
  (void)::unlinkat(place_.directory.get(), name_of(number).c_str(),
                   0);  // or the next start does it
}

}  // namespace wardcase::supervisor

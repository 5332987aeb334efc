// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/cache_collection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "supervisor/languages/content_cache.h"
#include "supervisor/run/workspace_walk.h"

namespace wardcase::supervisor {
namespace {

using std::chrono::system_clock;

constexpr std::array kKinds = {"compiled", "environments"};
constexpr std::size_t kLongestAbout = 64 << 10;

// nullopt: it went meanwhile.
std::optional<std::uint64_t> size_of(const std::string& path, struct stat& info) {
  WorkspaceRoot root = {path, sys::UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW))};
  if (!root.place.is_open() || ::fstat(root.place.get(), &info) < 0) return std::nullopt;
  root.device = info.st_dev;
  root.owner = info.st_uid;
  root.inode = info.st_ino;
  WalkRules rules;
  rules.most_inodes = std::numeric_limits<std::uint64_t>::max();
  WorkspaceWalk walk(std::span(&root, 1), rules);
  (void)walk.step(Clock::time_point::max());
  return walk.use().bytes;
}

// A few lines that whoever made it wrote beside it.
std::vector<std::string> read_about(const std::string& path) {
  std::vector<std::string> lines;
  const auto file =
      sys::open_at(AT_FDCWD, (path + "/about").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return lines;
  std::string text(kLongestAbout, '\0');
  const ssize_t got =
      sys::retry_eintr([&] { return ::read(file->get(), text.data(), text.size()); });
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct Cache {
  std::string kind;
  ContentCache cache;
};

class Collector {
 public:
  explicit Collector(const CollectionRules& rules) : rules_(rules) {}

  void add(Cache cache);
  [[nodiscard]] Collection collect() &&;

 private:
  struct Entry {
    const Cache* cache;
    Collected what;
  };

  [[nodiscard]] std::optional<Entry> look_at(const Cache& cache, const std::string& name) const;
  void remove_leftovers(const Cache& cache);
  void remove(Entry entry, Collected::Why why);
  void keep(const Entry& entry);

  CollectionRules rules_;
  std::vector<Cache> caches_;
  Collection result_;
};

void Collector::add(Cache cache) { caches_.push_back(std::move(cache)); }

std::optional<Collector::Entry> Collector::look_at(const Cache& cache,
                                                   const std::string& name) const {
  const std::string path = cache.cache.path() + "/" + name;
  struct stat info = {};
  const auto bytes = size_of(path, info);
  if (!bytes) return std::nullopt;
  Entry entry = {&cache, {}};
  entry.what.kind = cache.kind;
  entry.what.name = name;
  entry.what.bytes = *bytes;
  entry.what.used = system_clock::from_time_t(info.st_mtim.tv_sec);
  entry.what.about = read_about(path);
  return entry;
}

void Collector::remove_leftovers(const Cache& cache) {
  for (const std::string& name : cache.cache.leftovers()) {
    auto entry = look_at(cache, name);
    if (!entry) continue;
    entry->what.why = Collected::Why::leftover;
    if (!rules_.dry_run && !cache.cache.remove_leftover(name)) {
      result_.trouble.push_back(cache.cache.path() + "/" + name + ": can't be removed");
    } else {
      result_.removed.push_back(std::move(entry->what));
    }
  }
}

void Collector::keep(const Entry& entry) {
  ++result_.kept;
  result_.kept_bytes += entry.what.bytes;
}

void Collector::remove(Entry entry, Collected::Why why) {
  const ContentCache& cache = entry.cache->cache;
  const auto removed =
      rules_.dry_run ? cache.is_free(entry.what.name) : cache.remove(entry.what.name);
  if (removed && *removed) {
    entry.what.why = why;
    result_.removed.push_back(std::move(entry.what));
    return;
  }
  keep(entry);
  if (removed) {
    ++result_.in_use;
  } else {
    result_.trouble.push_back(removed.error().message());
  }
}

Collection Collector::collect() && {
  std::vector<Entry> entries;
  std::uint64_t left = 0;
  for (const Cache& cache : caches_) {
    remove_leftovers(cache);
    for (const std::string& name : cache.cache.entries()) {
      auto entry = look_at(cache, name);
      if (!entry) continue;
      left += entry->what.bytes;
      entries.push_back(*std::move(entry));
    }
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.what.used; });
  const auto oldest = system_clock::now() - rules_.unused_for;
  for (Entry& entry : entries) {
    const std::uint64_t bytes = entry.what.bytes;
    const std::size_t before = result_.removed.size();
    if (entry.what.used <= oldest) {
      remove(std::move(entry), Collected::Why::age);
    } else if (rules_.keep_bytes && left > *rules_.keep_bytes) {
      remove(std::move(entry), Collected::Why::size);
    } else {
      keep(entry);
    }
    if (result_.removed.size() > before) left -= bytes;
  }
  return std::move(result_);
}

}  // namespace

std::string_view why_name(Collected::Why why) {
  switch (why) {
    case Collected::Why::age:
      return "age";
    case Collected::Why::size:
      return "size";
    case Collected::Why::leftover:
      return "leftover";
  }
  return "";
}

sys::Result<Collection> collect_caches(const CollectionRules& rules) {
  Collector collector(rules);
  for (const char* kind : kKinds) {
    auto cache = ContentCache::open_existing(kind);
    if (!cache) return tl::unexpected(std::move(cache).error());
    if (*cache) collector.add({kind, **std::move(cache)});
  }
  return std::move(collector).collect();
}

}  // namespace wardcase::supervisor

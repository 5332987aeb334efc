// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/own_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr mode_t kWritableByOthers = 022;
constexpr mode_t kOpenToOthers = 077;

// Empty or relative ones are to be ignored (XDG Base Directory Specification).
std::optional<std::string> absolute_variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value != '/') return std::nullopt;
  std::string path = value;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

sys::Status check_owner(int directory, const std::string& path, mode_t closed) {
  struct stat info = {};
  if (::fstat(directory, &info) < 0) return tl::unexpected(sys::errno_error("'" + path + "'"));
  if (info.st_uid != ::geteuid()) {
    return tl::unexpected(sys::plain_error("'" + path + "' belongs to somebody else"));
  }
  if ((info.st_mode & closed) != 0) {
    return tl::unexpected(sys::plain_error("'" + path + "' is open to others"));
  }
  return {};
}

// Root with the environment of a user must not leave him directories that he can't enter.
bool may_make_in(const std::string& directory) {
  struct stat info = {};
  return ::stat(directory.c_str(), &info) == 0 && (info.st_uid == ::geteuid() || info.st_uid == 0);
}

sys::Result<OwnPlace> open_base(const std::string& path) {
  sys::UniqueFd directory(
      sys::retry_eintr([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!directory.is_open()) return tl::unexpected(sys::errno_error("'" + path + "'"));
  if (auto ours = check_owner(directory.get(), path, kWritableByOthers); !ours) {
    return tl::unexpected(ours.error());
  }
  return OwnPlace{path, std::move(directory)};
}

// A directory of ours in another, made where it is not there.
sys::Status enter(OwnPlace& place, const std::string& name, mode_t closed, Missing missing) {
  place.path += "/" + name;
  const int parent = place.directory.get();
  if (missing == Missing::is_made && ::mkdirat(parent, name.c_str(), 0700) < 0 && errno != EEXIST) {
    return tl::unexpected(sys::errno_error("make '" + place.path + "'"));
  }
  sys::UniqueFd directory(sys::retry_eintr([&] {
    return ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }));
  if (!directory.is_open()) return tl::unexpected(sys::errno_error("'" + place.path + "'"));
  place.directory = std::move(directory);
  return check_owner(place.directory.get(), place.path, closed);
}

sys::Result<OwnPlace> open_below(const std::string& base, std::span<const std::string> names,
                                 mode_t closed, Missing missing) {
  auto place = open_base(base);
  if (!place) return place;
  for (const std::string& name : names) {
    if (auto entered = enter(*place, name, closed, missing); !entered) {
      return tl::unexpected(std::move(entered).error());
    }
  }
  return place;
}

// The variable's directory, or the one below HOME by those names. "": neither is there.
std::string base_directory(const char* variable, std::span<const char* const> below_home,
                           Missing missing) {
  std::string path;
  bool makes = missing == Missing::is_made;
  if (auto base = absolute_variable(variable)) {
    path = *std::move(base);
    makes = makes && may_make_in(path.substr(0, path.rfind('/') + 1));
    // What can't be made can't be opened either, and that is told.
    if (makes) (void)::mkdir(path.c_str(), 0700);
  } else if (auto home = absolute_variable("HOME")) {
    path = *std::move(home);
    makes = makes && may_make_in(path);
    for (const char* name : below_home) {
      path += std::string("/") + name;
      if (makes) (void)::mkdir(path.c_str(), 0700);
    }
  }
  return path;
}

bool is_own(const std::string& directory) {
  struct stat info = {};
  return ::stat(directory.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

tl::unexpected<sys::Error> no_base(const char* variable) {
  return tl::unexpected(
      sys::plain_error("neither " + std::string(variable) + " nor HOME is an absolute path"));
}

}  // namespace

sys::Result<OwnPlace> open_state(const std::string& name, Missing missing) {
  if (auto given = absolute_variable("STATE_DIRECTORY")) {
    return open_below(given->substr(0, given->find(':')), std::array{name}, kOpenToOthers, missing);
  }
  constexpr const char* kBelowHome[] = {".local", "state"};
  const std::string base = base_directory("XDG_STATE_HOME", kBelowHome, missing);
  if (base.empty()) return no_base("XDG_STATE_HOME");
  return open_below(base, std::array{std::string("wardcase"), name}, kOpenToOthers, missing);
}

sys::Result<OwnPlace> open_cache(const std::string& name, Missing missing) {
  if (auto given = absolute_variable("CACHE_DIRECTORY")) {
    return open_below(given->substr(0, given->find(':')), std::array{name}, kWritableByOthers,
                      missing);
  }
  constexpr const char* kBelowHome[] = {".cache"};
  std::string base = base_directory("XDG_CACHE_HOME", kBelowHome, missing);
  // sudo may leave HOME as it was, and a unit has none.
  if (::geteuid() == 0 && !is_own(base)) base = "/var/cache";
  if (base.empty()) return no_base("XDG_CACHE_HOME");
  return open_below(base, std::array{std::string("wardcase"), name}, kWritableByOthers, missing);
}

}  // namespace wardcase::supervisor

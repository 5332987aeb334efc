// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/installed.h"

#include <unistd.h>

#include <array>
#include <climits>

namespace wardcase::supervisor {
namespace {

constexpr const char* kLibexec = "/usr/libexec/wardcase";

std::string own_directory() {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string text(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return text.substr(0, text.rfind('/'));
}

}  // namespace

sys::Result<std::string> find_installed(std::string_view name) {
  const std::string own = own_directory();
  for (const std::string& directory : {own, own + "/../libexec/wardcase", std::string(kLibexec)}) {
    std::string path = directory + "/" + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return tl::unexpected(
      sys::plain_error(std::string(name) + " is not installed beside us or in " + kLibexec));
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/compiled_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "sandbox/sys/files.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {
namespace {

constexpr mode_t kOnlyToRun = 0555;  // the box may have another id than ours

sys::Result<sys::UniqueFd> open_left(int box_directory, const std::string& name) {
  open_how how = {};
  how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  sys::UniqueFd file(sys::openat2(box_directory, name.c_str(), how));
  if (!file.is_open()) return tl::unexpected(sys::errno_error("take '" + name + "'"));
  struct stat info = {};
  if (::fstat(file.get(), &info) < 0) {
    return tl::unexpected(sys::errno_error("look at '" + name + "'"));
  }
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
    return tl::unexpected(sys::plain_error("'" + name + "' is no regular file of one name"));
  }
  if (static_cast<std::uint64_t>(info.st_size) > kMaxCompiledBytes) {
    return tl::unexpected(sys::plain_error("'" + name + "' is larger than 512 MiB"));
  }
  return file;
}

sys::Status copy_all(int from, int to) {
  while (true) {
    const ssize_t sent =
        sys::retry_eintr([&] { return ::sendfile(to, from, nullptr, kMaxCompiledBytes); });
    if (sent < 0) return tl::unexpected(sys::errno_error("copy what was compiled"));
    if (sent == 0) return {};
  }
}

sys::Result<sys::UniqueFd> make_copy(const std::string& path) {
  if (!path.empty()) return sys::open_at(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0700);
  sys::UniqueFd memory(::memfd_create("compiled", MFD_CLOEXEC));
  if (!memory.is_open()) return tl::unexpected(sys::errno_error("make a file in memory"));
  return memory;
}

}  // namespace

sys::Result<sys::UniqueFd> copy_compiled(int box_directory, const std::string& name,
                                         const std::string& path) {
  auto left = open_left(box_directory, name);
  if (!left) return left;
  auto copy = make_copy(path);
  if (!copy) return copy;
  if (auto copied = copy_all(left->get(), copy->get()); !copied) {
    return tl::unexpected(std::move(copied).error());
  }
  if (!path.empty() && ::fchmod(copy->get(), kOnlyToRun) < 0) {
    return tl::unexpected(sys::errno_error("set the mode of '" + path + "'"));
  }
  return copy;
}

sys::Result<std::string> identity_of(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  struct stat info = {};
  if (error || ::stat(real.c_str(), &info) < 0) {
    return tl::unexpected(sys::errno_error("look at '" + path + "'"));
  }
  std::string identity = real;
  for (const auto number :
       {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino),
        static_cast<std::uint64_t>(info.st_size), static_cast<std::uint64_t>(info.st_mtim.tv_sec),
        static_cast<std::uint64_t>(info.st_mtim.tv_nsec)}) {
    identity += ' ' + std::to_string(number);
  }
  return identity;
}

}  // namespace wardcase::supervisor

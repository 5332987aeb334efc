// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/program_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace {

// Nobody, ourselves included, can change it from here on.
sys::Result<sys::UniqueFd> seal(sys::UniqueFd memory) {
  constexpr int kAllSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(memory.get(), F_ADD_SEALS, kAllSeals) < 0) {
    return tl::unexpected(sys::errno_error("seal a file in memory"));
  }
  return memory;
}

}  // namespace

sys::Result<sys::UniqueFd> make_memory() {
  sys::UniqueFd memory(::memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.is_open()) return tl::unexpected(sys::errno_error("make a file in memory"));
  return memory;
}

sys::Status append_to_memory(int memory, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written =
        sys::retry_eintr([&] { return ::write(memory, text.data(), text.size()); });
    if (written < 0) return tl::unexpected(sys::errno_error("write a file in memory"));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

sys::Result<sys::UniqueFd> read_into_memory(int fd) {
  auto memory = make_memory();
  if (!memory) return memory;
  std::uint64_t total = 0;
  std::vector<char> chunk(64 * 1024);
  while (true) {
    const ssize_t got = sys::retry_eintr([&] { return ::read(fd, chunk.data(), chunk.size()); });
    if (got < 0) return tl::unexpected(sys::errno_error("read the program"));
    if (got == 0) return seal(*std::move(memory));
    total += static_cast<std::uint64_t>(got);
    if (total > kMaxProgramBytes) {
      return tl::unexpected(sys::Error{EFBIG, "a program that is piped in may have 64 MiB"});
    }
    const std::string_view part(chunk.data(), static_cast<std::size_t>(got));
    if (auto kept = append_to_memory(memory->get(), part); !kept) {
      return tl::unexpected(std::move(kept).error());
    }
  }
}

sys::Result<sys::UniqueFd> text_in_memory(std::string_view text) {
  auto memory = make_memory();
  if (!memory) return memory;
  if (auto kept = append_to_memory(memory->get(), text); !kept) {
    return tl::unexpected(std::move(kept).error());
  }
  return seal(*std::move(memory));
}

sys::Result<sys::UniqueFd> open_program(const std::string& path) {
  sys::UniqueFd file(
      sys::retry_eintr([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!file.is_open()) return tl::unexpected(sys::errno_error("open it"));
  struct stat info = {};
  if (::fstat(file.get(), &info) < 0) return tl::unexpected(sys::errno_error("look at it"));
  if (S_ISDIR(info.st_mode)) return tl::unexpected(sys::Error{EISDIR, "open it"});
  if (S_ISREG(info.st_mode)) return file;
  return read_into_memory(file.get());
}

sys::Result<bool> starts_like_executable(int fd) {
  std::array<char, 4> start = {};
  const ssize_t got = sys::retry_eintr([&] { return ::pread(fd, start.data(), start.size(), 0); });
  if (got < 0) return tl::unexpected(sys::errno_error("read it"));
  const std::string_view head(start.data(), static_cast<std::size_t>(got));
  return head.starts_with("#!") || head == "\177ELF";
}

}  // namespace wardcase::supervisor

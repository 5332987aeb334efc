// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/saved_output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "sandbox/sys/files.h"
#include "supervisor/cli/console.h"

namespace wardcase::supervisor {
namespace {

// Opening a FIFO that nobody reads must not wait.
constexpr int kNewFile = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK;

std::string seconds(std::chrono::microseconds time) {
  std::array<char, 32> text;
  (void)std::snprintf(text.data(), text.size(), "%.3f",
                      std::chrono::duration<double>(time).count());  // fits: 64 bits of it do
  return text.data();
}

// isolate's two letters; none for a program that exited with 0.
std::string_view meta_status(const RunRecord& record) {
  switch (record.status) {
    case RunStatus::exited:
      return record.success() ? "" : "RE";
    case RunStatus::timeout:
    case RunStatus::cpu_time:
    case RunStatus::idle:
      return "TO";
    case RunStatus::signaled:
    case RunStatus::oom:
    case RunStatus::output_limit:
    case RunStatus::disk_limit:
    case RunStatus::denied:
    case RunStatus::stopped:
      return "SG";
    default:
      return "XX";
  }
}

bool was_killed_by_us(const RunRecord& record) {
  return record.status != RunStatus::exited && record.status != RunStatus::signaled &&
         meta_status(record) != "XX";
}

}  // namespace

sys::Result<SavedOutput> SavedOutput::create(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0777) < 0 && errno != EEXIST) {
    return tl::unexpected(sys::errno_error("make '" + directory + "'"));
  }
  auto opened = sys::open_at(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!opened) return tl::unexpected(std::move(opened).error());
  SavedOutput saved;
  saved.directory_ = directory;
  for (const Stream stream : {Stream::out, Stream::err}) {
    const char* name = stream == Stream::out ? "stdout" : "stderr";
    // The directory may be one that a program can write to: no link is followed.
    auto file = sys::open_at(opened->get(), name, kNewFile | O_NOFOLLOW, 0666);
    if (!file) return tl::unexpected(std::move(file).error());
    const std::string path = "'" + directory + "/" + name + "'";
    struct stat info = {};
    if (::fstat(file->get(), &info) < 0) {
      return tl::unexpected(sys::errno_error("look at " + path));
    }
    if (!S_ISREG(info.st_mode)) {
      return tl::unexpected(sys::plain_error(path + " is there and not a regular file"));
    }
    saved.files_[static_cast<std::size_t>(stream)] = *std::move(file);
  }
  return saved;
}

void SavedOutput::write(Stream stream, std::string_view bytes) {
  if (!status_) return;
  if (write_all(files_[static_cast<std::size_t>(stream)].get(), bytes)) return;
  status_ = tl::unexpected(sys::errno_error("save output in '" + directory_ + "'"));
}

std::string meta_text(const RunRecord& record) {
  std::string text;
  const auto line = [&](std::string_view key, const std::string& value) {
    text += std::string(key) + ":" + value + "\n";
  };
  if (record.cpu) line("time", seconds(*record.cpu));
  line("time-wall", seconds(record.duration));
  if (record.memory_peak_bytes) line("cg-mem", std::to_string(*record.memory_peak_bytes / 1024));
  if (record.status == RunStatus::oom) line("cg-oom-killed", "1");
  if (record.exit_code && record.status == RunStatus::exited) {
    line("exitcode", std::to_string(*record.exit_code));
  }
  if (record.signal) line("exitsig", std::to_string(*record.signal));
  if (was_killed_by_us(record)) line("killed", "1");
  if (const std::string_view status = meta_status(record); !status.empty()) {
    line("status", std::string(status));
  }
  if (!record.error.empty()) line("message", printable(record.error));
  return text;
}

sys::Status write_meta(const std::string& path, const RunRecord& record) {
  auto file = sys::open_at(AT_FDCWD, path.c_str(), kNewFile, 0666);
  if (!file) return tl::unexpected(std::move(file).error());
  if (!write_all(file->get(), meta_text(record))) {
    return tl::unexpected(sys::errno_error("write '" + path + "'"));
  }
  return {};
}

}  // namespace wardcase::supervisor

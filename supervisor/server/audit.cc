// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/audit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/server/timestamp.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr const char* kName = "audit.log";
constexpr int kOlderOnes = 9;

std::string older(int number) {
  return number == 0 ? kName : std::string(kName) + "." + std::to_string(number);
}

json::value milliseconds_or_null(const std::optional<std::chrono::microseconds>& time) {
  if (!time) return nullptr;
  return std::chrono::duration_cast<std::chrono::milliseconds>(*time).count();
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(to_json_text(text));
}

json::object limits_of(const RunRecord& record) {
  json::object limits;
  add_limits(limits, record);
  return std::move(limits["limits"].get_object());
}

json::array refused_calls(const RunRecord& record) {
  json::array names;
  if (!record.denied_syscalls) return names;
  for (const DeniedCall& call : *record.denied_syscalls)
    names.emplace_back(to_json_text(call.name));
  return names;
}

std::string to_line(const AskedProgram& asked, const RunRecord& record) {
  json::object line = {
      {"time", timestamp(std::chrono::system_clock::now())},
      {"kind", asked.kind},
      {"id", to_json_text(record.id)},
      {"session_id", text_or_null(record.session_id.value_or(""))},
      {"owner", to_json_text(asked.owner)},
      {"language", text_or_null(record.language.value_or(""))},
      {"code_sha256", text_or_null(asked.code_sha256)},
      {"policy", to_json_text(asked.policy)},
      {"network", text_or_null(asked.network)},
      {"trace_id", text_or_null(asked.trace)},
      {"status", status_name(record.status)},
      {"exit_code", record.exit_code ? json::value(*record.exit_code) : json::value(nullptr)},
      {"signal", record.signal ? json::value(signal_name(*record.signal)) : json::value(nullptr)},
      {"queued_ms", milliseconds_or_null(record.queued)},
      {"duration_ms", milliseconds_or_null(record.duration)},
      {"cpu_ms", milliseconds_or_null(record.cpu)},
      {"memory_peak_bytes", number_or_null(record.memory_peak_bytes)},
      {"processes_peak", number_or_null(record.processes_peak)},
      {"stdout_bytes", record.out.bytes},
      {"stderr_bytes", record.err.bytes},
      {"denied_syscalls", refused_calls(record)},
      {"limits", limits_of(record)}};
  return json::serialize(line) + "\n";
}

}  // namespace

Audit::Audit(OwnPlace place, Trouble trouble, std::uint64_t largest)
    : place_(std::move(place)), trouble_(std::move(trouble)), largest_(largest) {}

void Audit::add(const AskedProgram& asked, const RunRecord& record) {
  const auto added = append(to_line(asked, record));
  if (!added) trouble_(added.error());
}

sys::Status Audit::append(const std::string& line) {
  if (size_ >= largest_) rotate();
  if (!file_.is_open()) {
    if (auto opened = open(); !opened) return opened;
  }
  const ssize_t written =
      sys::retry_eintr([&] { return ::write(file_.get(), line.data(), line.size()); });
  if (written == static_cast<ssize_t>(line.size())) {
    size_ += line.size();
    return {};
  }
  auto error = sys::errno_error("write to the audit log");
  // Half a line would make one with the next: where it can't be cut off, another file is begun.
  if (written > 0 && ::ftruncate(file_.get(), static_cast<off_t>(size_)) < 0) size_ = largest_;
  return tl::unexpected(std::move(error));
}

sys::Status Audit::open() {
  auto file =
      sys::open_at(place_.directory.get(), kName, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
  if (!file) return tl::unexpected(std::move(file).error());
  file_ = *std::move(file);
  struct stat info = {};
  if (::fstat(file_.get(), &info) < 0) return tl::unexpected(sys::errno_error("audit log"));
  size_ = static_cast<std::uint64_t>(info.st_size);
  return {};
}

void Audit::rotate() {
  const int directory = place_.directory.get();
  for (int number = kOlderOnes; number > 0; --number) {
    // The one before may not be there yet.
    (void)::renameat(directory, older(number - 1).c_str(), directory, older(number).c_str());
  }
  file_.reset();
  size_ = 0;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/service_log.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <climits>
#include <cstdlib>

#include "supervisor/cli/console.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/server/timestamp.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

bool is_journal() {
  const char* const told = std::getenv("JOURNAL_STREAM");
  struct stat info = {};
  if (told == nullptr || ::fstat(STDERR_FILENO, &info) < 0) return false;
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) == told;
}

void add_to(std::vector<std::string>& entry, std::string_view name, std::string_view value) {
  entry.push_back(std::string(name) + "=" + std::string(value));
}

// A field of ours, as WARDCASE_RUN.
std::string journal_name(std::string_view name) {
  std::string upper = "WARDCASE_";
  for (const char c : name) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

void tell_journal(int priority, std::string_view message, const ServiceLog::Fields& fields) {
  std::vector<std::string> entry;
  add_to(entry, "MESSAGE", printable(message));
  add_to(entry, "PRIORITY", std::to_string(priority));
  add_to(entry, "SYSLOG_IDENTIFIER", "wardcase");
  for (const auto& [name, value] : fields) add_to(entry, journal_name(name), printable(value));
  std::vector<iovec> parts;
  for (std::string& part : entry) parts.push_back({part.data(), part.size()});
  (void)::sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

std::string to_line(int priority, std::string_view message, const ServiceLog::Fields& fields) {
  json::object line = {{"time", timestamp(std::chrono::system_clock::now())},
                       {"level", priority <= 4 ? "warning" : "info"},
                       {"message", to_json_text(message)}};
  for (const auto& [name, value] : fields) line[name] = to_json_text(value);
  return json::serialize(line) + "\n";
}

}  // namespace

ServiceLog::ServiceLog()
    : form_(is_journal()                   ? Form::journal
            : ::isatty(STDERR_FILENO) == 1 ? Form::people
                                           : Form::json) {}

void ServiceLog::say(int priority, std::string_view message, const Fields& fields) {
  if (form_ == Form::journal) return tell_journal(priority, message, fields);
  if (form_ == Form::json) return write_line(to_line(priority, message, fields));
  std::string sentence = "serve: " + std::string(message);
  for (const auto& [name, value] : fields) sentence += " " + std::string(name) + "=" + value;
  Console(Verbosity::normal).say(sentence, priority <= kWarn ? Tone::doubtful : Tone::plain);
}

// A pipe that can be written to has room for PIPE_BUF (pipe(7)).
void ServiceLog::write_line(const std::string& line) {
  pollfd room = {STDERR_FILENO, POLLOUT, 0};
  const bool has_room = ::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0;
  if (!has_room || line.size() > PIPE_BUF) {
    ++left_out_;
    return;
  }
  std::string told = line;
  if (left_out_ > 0 && line.size() < PIPE_BUF / 2) {
    told.insert(0, to_line(kWarn, std::to_string(left_out_) + " lines were left out", {}));
    left_out_ = 0;
  }
  (void)!::write(STDERR_FILENO, told.data(), told.size());  // who has gone reads nothing
}

}  // namespace wardcase::supervisor

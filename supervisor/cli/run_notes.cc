// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_notes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "supervisor/run/json_text.h"
#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostNotes = 100;
constexpr std::size_t kLargestNote = 128 * 1024;
constexpr int kFormat = 1;
constexpr std::string_view kEnding = ".json";

// What a program wrote may be anybody's secret.
RunRecord without_output(RunRecord record) {
  for (KeptOutput* kept : {&record.out, &record.err}) {
    kept->text.clear();
    kept->raw.clear();
    kept->truncated = kept->bytes != 0;
  }
  record.output.clear();
  if (record.error_message) record.error_message = "";
  record.traceback.reset();
  record.result.reset();
  return record;
}

// Not by strftime(3), which reads the host's time zone whatever it is to write.
std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm at = {};
  std::array<char, 80> text = {};  // whatever the fields hold
  if (::gmtime_r(&now, &at) == nullptr) return "";
  (void)std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d:%02d UTC",
                      at.tm_year + 1900, at.tm_mon + 1, at.tm_mday, at.tm_hour, at.tm_min,
                      at.tm_sec);
  return text.data();
}

std::string_view id_of(std::string_view name) {
  const std::size_t dash = std::min(name.find('-'), name.size() - 1);
  name.remove_prefix(dash + 1);
  return name.substr(0, name.size() - std::min(name.size(), kEnding.size()));
}

sys::Result<std::string> read_bounded(int directory, const std::string& name) {
  auto file = sys::open_at(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return tl::unexpected(std::move(file).error());
  struct stat info = {};
  if (::fstat(file->get(), &info) < 0 || !S_ISREG(info.st_mode) ||
      info.st_size > static_cast<off_t>(kLargestNote)) {
    return tl::unexpected(sys::plain_error("'" + name + "' is no note"));
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  const auto got =
      sys::retry_eintr([&]() noexcept { return ::read(file->get(), text.data(), text.size()); });
  if (got < 0) return tl::unexpected(sys::errno_error("read '" + name + "'"));
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace

std::string format_note(const RunRecord& record, const std::vector<std::string>& lines) {
  std::string text =
      "{\"format\":" + std::to_string(kFormat) + ",\"ended_at\":\"" + now_text() + "\",\"lines\":[";
  for (const std::string& line : lines) {
    text += (text.ends_with('[') ? "" : ",") + json_string(to_utf8(line));
  }
  text += "],\"record\":" + to_json(without_output(record)) + "}\n";
  return text.size() <= kLargestNote ? text : "";
}

sys::Result<RunNote> parse_note(std::string_view text) {
  const auto damaged = [] { return tl::unexpected(sys::plain_error("damaged note")); };
  json::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return damaged();
  const json::object& object = value.get_object();
  const json::value* format = object.if_contains("format");
  const json::value* ended_at = object.if_contains("ended_at");
  const json::value* lines = object.if_contains("lines");
  const json::value* record = object.if_contains("record");
  if (format == nullptr || *format != kFormat || ended_at == nullptr || !ended_at->is_string() ||
      lines == nullptr || !lines->is_array() || record == nullptr || !record->is_object()) {
    return damaged();
  }
  RunNote note;
  note.ended_at = std::string_view(ended_at->get_string());
  for (const json::value& line : lines->get_array()) {
    if (!line.is_string()) return damaged();
    note.lines.emplace_back(std::string_view(line.get_string()));
  }
  note.record = json::serialize(*record);
  return note;
}

sys::Result<RunNotes> RunNotes::open(Missing missing) {
  return open_state("runs", missing).map([](OwnPlace place) {
    return RunNotes(std::move(place.path), std::move(place.directory));
  });
}

std::vector<std::string> RunNotes::names() const {
  auto names = sys::list_directory("/proc/self/fd/" + std::to_string(directory_.get()), DT_REG);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(kEnding); });
  std::ranges::sort(names);
  return names;
}

// The name begins with the time, so that names in order are runs in order.
sys::Status RunNotes::add(const std::string& run_id, std::string_view note) const {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::array<char, 24> time;
  (void)std::snprintf(time.data(), time.size(), "%015lld",
                      static_cast<long long>(now.count()));  // fits until the year 31000
  const std::string name = std::string(time.data()) + "-" + run_id + std::string(kEnding);
  auto file =
      sys::open_at(directory_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file) return tl::unexpected(std::move(file).error());
  const auto written =
      sys::retry_eintr([&]() noexcept { return ::write(file->get(), note.data(), note.size()); });
  if (written != static_cast<ssize_t>(note.size())) {
    const sys::Error error = sys::errno_error("write '" + path_ + "/" + name + "'");
    (void)::unlinkat(directory_.get(), name.c_str(), 0);
    return tl::unexpected(error);
  }
  const std::vector<std::string> all = names();
  for (std::size_t i = 0; i + kMostNotes < all.size(); ++i) {
    (void)::unlinkat(directory_.get(), all[i].c_str(), 0);  // another run may have been first
  }
  return {};
}

sys::Result<RunNote> RunNotes::find(const std::optional<std::string>& run_id) const {
  const std::vector<std::string> all = names();
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const std::string& name) {
    return !run_id || id_of(name) == *run_id;
  });
  if (found == all.rend()) {
    return tl::unexpected(
        sys::plain_error((run_id ? "'" + *run_id + "': no run of this name is remembered"
                                 : std::string("no run is remembered")) +
                         " in '" + path_ + "', which has the last " + std::to_string(kMostNotes)));
  }
  const auto text = read_bounded(directory_.get(), *found);
  if (!text) return tl::unexpected(text.error());
  auto note = parse_note(*text);
  if (!note)
    return tl::unexpected(std::move(note).error().while_doing("'" + path_ + "/" + *found + "'"));
  return note;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/box_file_commands.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/session_client.h"
#include "supervisor/run/run.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr int kFailed = 125;

int fail(const std::string& why) {
  Console(Verbosity::normal).say(why);
  return kFailed;
}

// ID:PATH; a word with a slash before its colon is a file's.
struct InBox {
  std::string id;
  std::string path;
};
std::optional<InBox> in_box(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos || colon == 0 || word.find('/') < colon) return std::nullopt;
  return InBox{word.substr(0, colon), word.substr(colon + 1)};
}

sys::Result<sys::UniqueFd> open_source(const std::string& path) {
  const int fd = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                             : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  sys::UniqueFd file(fd);
  struct stat info = {};
  if (!file.is_open() || ::fstat(fd, &info) < 0) {
    return tl::unexpected(sys::errno_error("open '" + path + "'"));
  }
  if (S_ISDIR(info.st_mode)) return tl::unexpected(sys::Error{EISDIR, "copy '" + path + "'"});
  return file;
}

// Sends the file once the keeper has a place for it.
sys::Status put(const std::string& path, const InBox& to) {
  auto file = open_source(path);
  if (!file) return tl::unexpected(std::move(file).error());
  struct stat info = {};
  if (::fstat(file->get(), &info) < 0) return tl::unexpected(sys::errno_error("look at it"));
  KeeperRequest request;
  request.op = "write";
  request.path = to.path;
  request.name = path == "-" ? "stdin" : std::filesystem::path(path).filename().string();
  request.mode = S_ISREG(info.st_mode) ? info.st_mode & 0777 : 0644;
  auto loop = EventLoop::create();
  if (!loop) return tl::unexpected(loop.error());
  SessionClient client(*loop);
  int error = 0;
  std::array<char, kFileChunk> chunk;
  const std::function<void()> send_more = [&] {
    while (client.waiting() == 0 && error == 0) {
      const ssize_t n =
          sys::retry_eintr([&] { return ::read(file->get(), chunk.data(), chunk.size()); });
      if (n < 0) {
        error = errno;
        return loop->stop();
      }
      client.send({chunk.data(), static_cast<std::size_t>(n)});
      if (n == 0) return client.on_drained(nullptr);
    }
  };
  client.on_drained(send_more);
  bool has_begun = false;
  auto asked = client.ask(to.id, request, [&](char, std::string_view) {
    if (!std::exchange(has_begun, true)) send_more();
  });
  if (!asked) return asked;
  const auto last = client.await();
  if (error != 0) return tl::unexpected(sys::Error{error, "read '" + path + "'"});
  return last ? sys::Status() : tl::unexpected(last.error());
}

sys::Status get(const InBox& from, int fd) {
  auto loop = EventLoop::create();
  if (!loop) return tl::unexpected(loop.error());
  SessionClient client(*loop);
  KeeperRequest request;
  request.op = "read";
  request.path = from.path;
  bool is_written = true;
  auto asked = client.ask(from.id, request, [&](char, std::string_view bytes) {
    is_written = is_written && write_all(fd, bytes);
    if (!is_written) loop->stop();
  });
  if (!asked) return asked;
  const auto last = client.await();
  if (!is_written) return tl::unexpected(sys::errno_error("write what was read"));
  return last ? sys::Status() : tl::unexpected(last.error());
}

sys::Status get_beside(const InBox& from, const std::string& path) {
  const std::string unfinished = path + "." + make_id("part-");
  const sys::UniqueFd file(
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.is_open()) return tl::unexpected(sys::errno_error("make '" + unfinished + "'"));
  auto got = get(from, file.get());
  if (got && ::rename(unfinished.c_str(), path.c_str()) < 0) {
    got = tl::unexpected(sys::errno_error("make '" + path + "'"));
  }
  if (!got) (void)::unlink(unfinished.c_str());
  return got;
}

// A file comes beside its place first: half of it is none. What is no file is written to.
sys::Status get_file(const InBox& from, std::string path) {
  if (path == "-") return get(from, STDOUT_FILENO);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    path += "/" + std::filesystem::path(from.path).filename().string();
  }
  struct stat info = {};
  if (::stat(path.c_str(), &info) < 0) {
    if (::lstat(path.c_str(), &info) < 0) return get_beside(from, path);
    return tl::unexpected(sys::plain_error("'" + path + "' is a link that leads nowhere"));
  }
  if (S_ISREG(info.st_mode)) {
    const auto real = std::filesystem::canonical(path, ignored);
    return get_beside(from, ignored ? path : real.string());
  }
  const sys::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) return tl::unexpected(sys::errno_error("write to '" + path + "'"));
  return get(from, file.get());
}

std::string line_of(const json::object& entry, bool is_long) {
  std::string name = printable(entry.at("name").as_string());
  const std::string type(entry.at("type").as_string());
  if (type == "d") name += "/";
  if (!is_long) return name + "\n";
  std::string size = std::to_string(entry.at("size").to_number<std::uint64_t>());
  if (size.size() < 12) size.insert(0, 12 - size.size(), ' ');
  return type + " " + size + "  " + name + "\n";
}

}  // namespace

int cp_command(std::span<const std::string> words) {
  if (words.size() != 2) return fail("cp: write wardcase cp FILE ID:PATH, or ID:PATH FILE");
  const auto from = in_box(words[0]);
  const auto to = in_box(words[1]);
  if (from.has_value() == to.has_value()) {
    return fail("cp: one of the two must be ID:PATH; ./" + words[0] + " names a file with a colon");
  }
  const auto copied = from ? get_file(*from, words[1]) : put(words[0], *to);
  return copied ? 0 : fail("cp: " + copied.error().message());
}

int cat_command(std::span<const std::string> words) {
  const auto from = words.size() == 1 ? in_box(words[0]) : std::nullopt;
  if (!from) return fail("cat: write wardcase cat ID:PATH");
  const auto got = get(*from, STDOUT_FILENO);
  return got ? 0 : fail("cat: " + got.error().message());
}

// lint: table
std::vector<OptionRow> ls_option_table() {
  return {
      {"long", "l", "", "with type and size"},
      {"json", "", "", "print JSON"},
  };
}

int ls_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(ls_option_table(), words);
  if (!line) return fail("ls: " + line.error().message());
  if (line->operands().size() != 1) return fail("ls: write wardcase ls ID[:PATH]");
  const std::string& word = line->operands()[0];
  const InBox from = in_box(word).value_or(InBox{word, ""});
  KeeperRequest request;
  request.op = "list";
  request.path = from.path;
  const auto last = ask_session(from.id, request);
  if (!last) return fail("ls: " + last.error().message());
  const std::string entries = member_json(*last, "entries");
  if (line->has("json")) return write_all(STDOUT_FILENO, entries + "\n") ? 0 : kFailed;
  std::string text;
  const json::value all = json::parse(entries);
  for (const json::value& entry : all.as_array()) {
    text += line_of(entry.as_object(), line->has("long"));
  }
  return write_all(STDOUT_FILENO, text) ? 0 : kFailed;
}

}  // namespace wardcase::supervisor

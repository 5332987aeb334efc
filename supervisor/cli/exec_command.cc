// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/exec_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "policies/limits.h"
#include "policies/units.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/run_files.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/cli/session_client.h"
#include "supervisor/cli/session_transfer.h"
#include "supervisor/cli/signals.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/program_file.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;
constexpr std::string_view kWhat = "What comes out";

tl::unexpected<sys::Error> wrong(const std::string& what) {
  return tl::unexpected(sys::plain_error("exec: " + what));
}

// FILE, -c CODE or -.
sys::Status take_program(const CommandLine& line, ExecCall& options) {
  const auto operands = line.operands().subspan(1);
  const std::string* const code = line.last("code");
  if (code == nullptr && operands.empty()) {
    return wrong("nothing to run; give a FILE, -c CODE or - (read it from stdin)");
  }
  if (operands.size() > (code == nullptr ? 1U : 0U)) {
    return wrong("'" + operands.back() + "': programs of a session take no arguments");
  }
  KeeperRequest& request = options.request;
  if (code != nullptr) {
    request.code = *code;
    return {};
  }
  if (operands[0] == "-") {
    if (options.passes_stdin) return wrong("-i: stdin is the program already");
    auto read = read_program(STDIN_FILENO);
    if (!read) return tl::unexpected(read.error());
    request.code = *std::move(read);
    return {};
  }
  auto file = open_program(operands[0]);
  if (!file) {
    return tl::unexpected(std::move(file).error().while_doing("exec '" + operands[0] + "'"));
  }
  auto read = read_program(file->get());
  if (!read) return tl::unexpected(read.error());
  request.code = *std::move(read);
  request.name = std::filesystem::path(operands[0]).filename().string();
  return {};
}

sys::Status take_limits(const CommandLine& line, KeeperRequest& request) {
  for (const policies::LimitRow& row : policies::limit_table()) {
    if (!is_limit_of_programs(row.id)) continue;
    const std::string* const text = line.last(std::string(row.flag));
    if (text == nullptr) continue;
    auto value = policies::parse_limit(row, *text, {std::nullopt});  // the keeper has the maximum
    if (!value) return tl::unexpected(std::move(value).error());
    request.limits.emplace_back(row.id, *value);
  }
  return {};
}

// --file and --out.
sys::Status take_transfer(const CommandLine& line, ExecCall& options) {
  const auto named = parse_named_files(line.all("file"));
  if (!named) return tl::unexpected(named.error());
  auto files = open_for_session(*named);
  if (!files) return tl::unexpected(std::move(files).error());
  options.files = *std::move(files);
  const std::string* const path = line.last("out");
  if (path == nullptr) return {};
  if (options.request.yield || options.request.yield_idle) {
    return wrong("--out: not with --yield, where the program goes on; see wardcase cp");
  }
  return open_out(*path, options);
}

sys::Status take_requirements(const CommandLine& line, KeeperRequest& request) {
  auto asked = read_requirements(requirements_of(line));
  if (!asked) return tl::unexpected(std::move(asked).error());
  request.requirements = *std::move(asked);
  return {};
}

sys::Status take_time(const CommandLine& line, const std::string& flag,
                      std::optional<std::chrono::milliseconds>& into) {
  const std::string* const text = line.last(flag);
  if (text == nullptr) return {};
  const auto time = policies::parse_duration(*text);
  if (!time) return tl::unexpected(sys::Error(time.error()).while_doing("--" + flag));
  into = *time;
  return {};
}

sys::Result<ExecCall> parse_exec_options(std::span<const std::string> words) {
  const auto line = CommandLine::parse_named(exec_option_table(), words);
  if (!line) return tl::unexpected(sys::Error(line.error()).while_doing("exec"));
  if (line->operands().empty() || line->operands()[0].starts_with('-')) {
    return wrong("name the session: wardcase exec ID FILE, or -c CODE, or -");
  }
  ExecCall options;
  options.id = line->operands()[0];
  KeeperRequest& request = options.request;
  request.op = "exec";
  if (const std::string* language = line->last("language")) request.language = *language;
  options.passes_stdin = line->has("interactive");
  if (line->has("validate")) request.validation = Validation::alone;
  options.is_json = line->has("json");
  request.wants_events = line->has("events");
  if (options.is_json && request.wants_events) {
    return wrong("--json and --events: both want stdout");
  }
  request.wants_output = !options.is_json && !request.wants_events;
  request.base64 = line->has("base64");
  if (line->has("quiet")) options.verbosity = Verbosity::quiet;
  const auto taken =
      take_limits(*line, request)
          .and_then([&] { return take_time(*line, "yield", request.yield); })
          .and_then([&] { return take_time(*line, "yield-idle", request.yield_idle); })
          .and_then([&] { return take_requirements(*line, request); })
          .and_then([&] { return take_program(*line, options); })
          .and_then([&] { return take_transfer(*line, options); });
  if (!taken) return tl::unexpected(taken.error());
  request.open_input = options.passes_stdin || request.yield || request.yield_idle;
  return options;
}

// What is on our stdin, to the program, until it ends: a piece whenever the one before was taken.
class StdinPasser {
 public:
  StdinPasser(EventLoop& loop, SessionClient& client) : loop_(loop), client_(client) {}
  StdinPasser(const StdinPasser&) = delete;
  StdinPasser& operator=(const StdinPasser&) = delete;
  ~StdinPasser() { loop_.forget(STDIN_FILENO); }

  // A file is always ready, which epoll does not say of it.
  void pass_next() {
    if (!loop_.watch(STDIN_FILENO, EPOLLIN, [this](std::uint32_t) { pass(); })) pass();
  }

 private:
  void pass() {
    std::array<char, 32 << 10> chunk;
    const ssize_t n =
        sys::retry_eintr([&] { return ::read(STDIN_FILENO, chunk.data(), chunk.size()); });
    if (n < 0 && errno == EAGAIN) return;
    loop_.forget(STDIN_FILENO);
    KeeperRequest said;
    said.op = n > 0 ? "input" : "end_input";
    if (n > 0) said.data.assign(chunk.data(), static_cast<std::size_t>(n));
    client_.say(said);
  }

  EventLoop& loop_;
  SessionClient& client_;
};

void tell_end(const ExecCall& options, const std::string& last) {
  const Console console(options.verbosity);
  const std::string status = text_member(member_json(last, "record"), "status");
  if (status == "running") {
    console.say("it goes on: " + text_member(member_json(last, "record"), "id") +
                    "; wardcase logs " + options.id + " --since " +
                    std::to_string(number_member(last, "seq")) + " -f follows it",
                Tone::plain);
    return;
  }
  if (const std::string why = text_member(last, "message"); !why.empty()) console.say(why);
  const std::string hint = text_member(last, "hint");
  const std::string left_out = text_member(last, "left_out");
  if (options.out && !left_out.empty() && left_out != hint) console.say(left_out);
  const bool is_told = options.is_json || options.request.wants_events;  // the record has it
  if (!hint.empty() && !is_told) console.say("hint: " + hint, Tone::hint);
}

}  // namespace

sys::Result<std::string> read_program(int fd) {
  std::string code;
  std::array<char, 64 << 10> chunk;
  while (true) {
    const ssize_t n = sys::retry_eintr([&] { return ::read(fd, chunk.data(), chunk.size()); });
    if (n < 0) return tl::unexpected(sys::errno_error("read the program"));
    if (n == 0) return code;
    code.append(chunk.data(), static_cast<std::size_t>(n));
    if (code.size() > kMostCode) return wrong("the program is longer than 16 MiB");
  }
}

sys::Status open_out(const std::string& path, ExecCall& call) {
  auto out = OutDirectory::open(path);
  if (!out) return tl::unexpected(std::move(out).error().while_doing("--out"));
  call.out.emplace(*std::move(out));
  return {};
}

sys::Result<int> exec_in_session(const ExecCall& options) {
  auto loop = EventLoop::create();
  if (!loop) return tl::unexpected(loop.error());
  bool is_broken = false;
  SessionClient client(*loop);
  StdinPasser passer(*loop, client);
  FileSender sender(*loop, client, options.files);
  int early_signal = 0;  // came before anything ran
  const auto write = [&](char kind, std::string_view bytes) {
    if (kind == reply::kTaken) {
      if (options.passes_stdin) passer.pass_next();
      return;
    }
    if (kind == reply::kData) return sender.begin();
    const int fd = kind == reply::kErr ? STDERR_FILENO : STDOUT_FILENO;
    if (!is_broken && !write_all(fd, bytes)) {
      is_broken = true;
      KeeperRequest stop;
      stop.op = "stop";
      client.say(stop);
    }
  };
  Signals signals(*loop);
  auto opened = signals.open([&](int signal) {
    if (signal == SIGWINCH || signal == SIGCONT) return;
    if (signal == SIGTSTP) return stop_ourselves();
    if (!sender.is_done()) {
      early_signal = signal;
      return loop->stop();
    }
    KeeperRequest said;
    said.op = signal == SIGINT ? "interrupt" : "stop";
    client.say(said);
  });
  KeeperRequest request = options.request;
  request.files = FileSender::announce(options.files);
  if (opened) opened = client.ask(options.id, request, write);
  if (!opened) return tl::unexpected(opened.error());
  const auto last = client.await();
  if (early_signal != 0) return 128 + early_signal;
  if (!sender.status()) return tl::unexpected(sender.status().error());
  if (!last) return tl::unexpected(last.error());
  if (options.is_json && !write_all(STDOUT_FILENO, member_json(*last, "record") + "\n")) {
    return kFailed;
  }
  if (options.tells_result) {
    const std::string result =
        text_member(member_json(member_json(*last, "record"), "result"), "text");
    if (!result.empty()) (void)write_all(STDOUT_FILENO, result + "\n");
  }
  tell_end(options, *last);
  if (options.out) {
    auto brought = bring_artifacts(options.id, *last, *options.out);
    if (!brought) return tl::unexpected(std::move(brought).error().while_doing("--out"));
  }
  if (is_broken) return 128 + SIGPIPE;
  return options.exit_zero ? 0 : static_cast<int>(number_member(*last, "exit_code"));
}

// lint: table
std::vector<OptionRow> exec_option_table() {
  std::vector<OptionRow> table = {
      {"language", "l", "NAME",
       "language of the program; else told by the file's suffix, or the "
       "session's own",
       "", "", "python|javascript|bash"},
      {"code", "c", "CODE", "run CODE instead of a file"},
      {"interactive", "i", "", "pass our stdin to the program; without it, stdin is empty"},
      {"file", "", "NAME=PATH",
       "put a copy of the host's file PATH at /box/NAME before it begins; may be repeated"},
      {"validate", "", "", "look at the program's syntax; execute nothing of it"},
      {"requirement", "", "SPEC",
       "install this for the session before the program, as numpy or numpy==1.26; may be repeated"},
      {"requirements", "", "FILE",
       "install what a requirements.txt or package.json lists; may be repeated"},
      {"yield", "", "TIME", "come back after this time, while the program goes on"},
      {"yield-idle", "", "TIME", "come back once nothing was printed for this time"},
      {"json", "", "", "print one JSON record at the end instead of the output", kWhat},
      {"events", "", "", "print a line of JSON for each event, as it comes", kWhat},
      {"base64", "", "", "with output bytes in base64 in the record", kWhat},
      {"out", "", "DIR", "bring what it made or changed in /box to DIR, which may be missing",
       kWhat},
      {"quiet", "q", "", "say nothing ourselves", kWhat},
  };
  for (const policies::LimitRow& row : policies::limit_table()) {
    if (!is_limit_of_programs(row.id)) continue;
    table.push_back({std::string(row.flag), std::string(row.short_flag), std::string(row.argument),
                     std::string(row.help), "Limits"});
  }
  return table;
}

int exec_command(std::span<const std::string> words) {
  const auto options = parse_exec_options(words);
  if (!options) {
    Console(Verbosity::normal).say(options.error().message());
    return kFailed;
  }
  const auto code = exec_in_session(*options);
  if (code) return *code;
  Console(options->verbosity).say(code.error().message());
  return kFailed;
}

}  // namespace wardcase::supervisor

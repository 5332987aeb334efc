// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/session_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "policies/units.h"
#include "supervisor/cli/companion.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/session_client.h"
#include "supervisor/cli/session_options.h"
#include "supervisor/sessions/keeper_protocol.h"
#include "supervisor/sessions/session_place.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;
constexpr std::chrono::seconds kPatience{5};  // with a keeper that is asked beside others
constexpr std::string_view kWords = "new, ls, rm, extend, reset, interrupt or input";

int fail(const std::string& why) {
  Console(Verbosity::normal).say(why);
  return kFailed;
}

int print(const std::string& text) { return write_all(STDOUT_FILENO, text) ? 0 : kFailed; }

// The keeper is the companion's.
int make_new(std::span<const std::string> words) {
  auto companion = CompanionCall::make("session-new", words);
  return fail("session new: " + (companion ? companion->become() : companion.error()).message());
}

// What a question without more words to it came to.
int tell(const std::string& what, const sys::Result<std::string>& answer) {
  return answer ? 0 : fail(what + ": " + answer.error().message());
}

sys::Result<std::string> ask(const std::string& id, std::string op) {
  KeeperRequest request;
  request.op = std::move(op);
  return ask_session(id, request);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + "  ";
}

std::string time_of(std::int64_t milliseconds) {
  return policies::format_duration(std::chrono::milliseconds(milliseconds / 1000 * 1000));
}

std::string row_of(const std::string& state) {
  return padded(text_member(state, "id"), 30) + padded(text_member(state, "language"), 10) +
         padded(text_member(state, "state"), 7) +
         padded(time_of(number_member(state, "age_ms")), 8) +
         padded(time_of(number_member(state, "expires_in_ms")), 8) +
         padded(std::to_string(number_member(state, "processes")), 5) +
         policies::format_size(
             static_cast<std::uint64_t>(number_member(state, "memory_peak_bytes")));
}

int list(bool is_json) {
  const auto ids = list_sessions();
  if (!ids) return fail("session ls: " + ids.error().message());
  std::vector<std::string> states;
  int code = 0;
  for (const std::string& id : *ids) {
    KeeperRequest request;
    request.op = "state";
    auto state = ask_session(id, request, kPatience);
    if (state) {
      states.push_back(*std::move(state));
    } else if (state.error().code == ETIMEDOUT) {  // else it has ended meanwhile
      code = fail("session ls: '" + id + "': " + state.error().message());
    }
  }
  std::string text;
  if (is_json) {
    for (const std::string& state : states) text += (text.empty() ? "" : ",") + state;
    return std::max(code, print("[" + text + "]\n"));
  }
  if (states.empty()) return code;
  text = padded("ID", 30) + padded("LANGUAGE", 10) + padded("STATE", 7) + padded("AGE", 8) +
         padded("EXPIRES", 8) + padded("PIDS", 5) + "PEAK\n";
  for (const std::string& state : states) text += row_of(state) + "\n";
  return std::max(code, print(text));
}

int remove(std::span<const std::string> ids) {
  if (ids.empty()) return fail("session rm: name a session");
  int code = 0;
  for (const std::string& id : ids) {
    if (tell("session rm '" + id + "'", ask(id, "close")) != 0) code = kFailed;
  }
  return code;
}

int extend(const CommandLine& line, std::span<const std::string> operands) {
  const std::string* const text = line.last("ttl");
  if (operands.size() != 1 || text == nullptr) {
    return fail("session extend: write wardcase session extend --ttl TIME ID");
  }
  const auto ttl = parse_ttl("ttl", *text);
  if (!ttl) return fail(ttl.error().message());
  KeeperRequest request;
  request.op = "extend";
  request.ttl = *ttl;
  return tell("session extend", ask_session(operands[0], request));
}

int input(const CommandLine& line, std::span<const std::string> operands) {
  const bool ends = line.has("eof");
  if (operands.empty() || operands.size() > 2 || (operands.size() == 1 && !ends)) {
    return fail("session input: write wardcase session input ID TEXT, or --eof ID");
  }
  KeeperRequest request;
  request.op = "input";
  if (operands.size() == 2) {
    request.data = operands[1] + (line.has("no-newline") ? "" : "\n");
    const int code = tell("session input", ask_session(operands[0], request));
    if (code != 0 || !ends) return code;
  }
  return tell("session input", ask(operands[0], "end_input"));
}

}  // namespace

// lint: table
std::vector<OptionRow> session_command_table() {
  std::vector<OptionRow> table = session_option_table();
  table.push_back({"eof", "", "", "input: then the end of file"});
  table.push_back({"no-newline", "n", "", "input: without a line break after TEXT"});
  return table;
}

int session_command(std::span<const std::string> words) {
  if (words.empty()) return fail("session: write " + std::string(kWords));
  const std::string& word = words[0];
  if (word == "new") return make_new(words.subspan(1));
  // A text for input may look like an option.
  const auto read = word == "input" ? CommandLine::parse : CommandLine::parse_named;
  const auto line = read(session_command_table(), words.subspan(1));
  if (!line) return fail("session " + word + ": " + line.error().message());
  const auto operands = line->operands();
  if (word == "ls") return list(line->has("json"));
  if (word == "rm") return remove(operands);
  if (word == "extend") return extend(*line, operands);
  if (word == "input") return input(*line, operands);
  if (word != "reset" && word != "interrupt") {
    return fail("session '" + word + "': write " + std::string(kWords));
  }
  if (operands.size() != 1) return fail("session " + word + ": name one session");
  return tell("session " + word, ask(operands[0], word));
}

// lint: table
std::vector<OptionRow> logs_option_table() {
  return {
      {"since", "", "SEQ", "what came after this number (default 0: all that is kept)"},
      {"follow", "f", "", "go on with what comes, until the session ends"},
  };
}

int logs_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse_named(logs_option_table(), words);
  if (!line || line->operands().size() != 1) {
    return fail("logs: " +
                (line ? "write wardcase logs ID [--since SEQ] [-f]" : line.error().message()));
  }
  KeeperRequest request;
  request.op = "logs";
  request.follow = line->has("follow");
  if (const std::string* text = line->last("since")) {
    const auto [end, error] =
        std::from_chars(text->data(), text->data() + text->size(), request.since);
    if (error != std::errc() || end != text->data() + text->size()) {
      return fail("logs: --since " + *text + ": write the number of an event");
    }
  }
  auto loop = EventLoop::create();
  if (!loop) return fail(loop.error().message());
  SessionClient client(*loop);
  const auto asked = client.ask(line->operands()[0], request, [&](char, std::string_view bytes) {
    if (!write_all(STDOUT_FILENO, bytes)) loop->stop();
  });
  if (!asked) return fail("logs: " + asked.error().message());
  const auto last = client.await();
  return last || request.follow ? 0 : fail("logs: " + last.error().message());
}

int kill_command(std::span<const std::string> words) {
  if (words.size() != 1) return fail("kill: name one session");
  return tell("kill", ask(words[0], "kill"));
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/repl_command.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "policies/language_set.h"
#include "supervisor/cli/console.h"
#include "supervisor/cli/exec_command.h"
#include "supervisor/cli/session_client.h"

namespace wardcase::supervisor {

namespace {

constexpr int kFailed = 125;

int fail(const std::string& why) {
  Console(Verbosity::normal).say(why);
  return kFailed;
}

// At the prompt Ctrl-C gives up the line and not the session.
class InterruptibleRead {
 public:
  InterruptibleRead() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};  // without SA_RESTART: the read ends
    (void)::sigaction(SIGINT, &action, &before_);
  }
  InterruptibleRead(const InterruptibleRead&) = delete;
  InterruptibleRead& operator=(const InterruptibleRead&) = delete;
  ~InterruptibleRead() { (void)::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ = {};
};

// Lines of stdin; what was read beyond one waits for the next.
class Lines {
 public:
  enum class Got { line, end, interrupt };

  Got next(std::string& line) {
    const InterruptibleRead reading;
    while (true) {
      const std::size_t end = read_.find('\n');
      if (end != std::string::npos) {
        line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return Got::line;
      }
      std::array<char, 4096> chunk;
      const ssize_t n = ::read(STDIN_FILENO, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) return Got::interrupt;
      if (n <= 0 && read_.empty()) return Got::end;
      if (n <= 0) read_ += '\n';
      if (n > 0) read_.append(chunk.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  std::string read_;
};

// The session's own where none is named.
sys::Result<std::string> language_of(const std::string& id, const std::string* named) {
  if (named != nullptr) {
    const policies::LanguageSet languages;
    const policies::Language* const language = languages.find(*named);
    return language != nullptr ? std::string(language->name) : *named;  // the keeper knows more
  }
  KeeperRequest request;
  request.op = "state";
  const auto state = ask_session(id, request);
  if (!state) return tl::unexpected(state.error());
  return text_member(*state, "language");
}

int converse(const std::string& id, const std::string& language) {
  const bool is_typed = ::isatty(STDIN_FILENO) == 1;
  const auto prompt = [&](bool goes_on) {
    if (is_typed) (void)write_all(STDOUT_FILENO, goes_on ? "... " : ">>> ");
  };
  Lines lines;
  std::string code;
  int exit_code = 0;
  while (true) {
    prompt(!code.empty());
    std::string line;
    const Lines::Got got = lines.next(line);
    if (got == Lines::Got::interrupt) {
      code.clear();
      if (is_typed) (void)write_all(STDOUT_FILENO, "\n");
      continue;
    }
    if (got == Lines::Got::line) code += line + "\n";
    const bool is_over = got == Lines::Got::end;
    if (!is_over && wants_more(language, code)) continue;
    if (code.find_first_not_of(" \t\r\n") != std::string::npos) {
      ExecCall call;
      call.id = id;
      call.request.op = "exec";
      call.request.language = language;
      call.request.code = code;
      call.request.wants_output = true;
      call.request.open_input = is_typed;
      call.passes_stdin = is_typed;
      call.tells_result = true;
      const auto ended = exec_in_session(call);
      if (!ended) return fail("repl: " + ended.error().message());
      exit_code = *ended;
    }
    code.clear();
    if (is_over) return is_typed ? 0 : exit_code;
  }
}

}  // namespace

bool wants_more(std::string_view language, std::string_view code) {
  if (code.ends_with("\\\n")) return true;
  int open = 0;
  bool has_block = false;
  char quote = 0;
  char before = '\n';
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote || c == '\n') quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++open;
    } else if (c == ')' || c == ']' || c == '}') {
      --open;
    } else if (c == '\n' && before == ':' && open == 0) {
      has_block = true;
    }
    if (c != ' ' && c != '\r') before = c;
  }
  if (language == "bash") return false;
  if (open > 0) return true;
  return language == "python" && has_block && !code.ends_with("\n\n");
}

// lint: table
std::vector<OptionRow> repl_option_table() {
  return {{"language", "l", "NAME", "language of what is typed; else the session's own", "", "",
           "python|javascript|bash"}};
}

int repl_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse_named(repl_option_table(), words);
  if (!line) return fail("repl: " + line.error().message());
  if (line->operands().size() != 1) return fail("repl: name one session: wardcase repl ID");
  const std::string& id = line->operands()[0];
  const auto language = language_of(id, line->last("language"));
  if (!language) return fail("repl: " + language.error().message());
  return converse(id, *language);
}

}  // namespace wardcase::supervisor

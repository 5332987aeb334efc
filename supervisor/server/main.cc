// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// wardcase-server: what needs shared libraries, so that the command itself starts without
// any. It is called by wardcase and by service units; what went wrong is on stdout.
//
//   wardcase-server serve OPTIONS                  see serve.h
//   wardcase-server session-new OPTIONS            see session_new.h
//   wardcase-server session-keep ID SOCKET         for the service: see session_keep.h
//   wardcase-server languages | doctor OPTIONS     for the service: as wardcase's own
//   wardcase-server scope SOCKET PID               see user_manager.h
//   wardcase-server make-ids USER [FIRST COUNT]    as root: see id_pools.h
//   wardcase-server drop-ids USER
//   wardcase-server resolve HOST                   its addresses, one a line
#include <charconv>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/doctor.h"
#include "supervisor/cli/languages_command.h"
#include "supervisor/cli/process_start.h"
#include "supervisor/server/id_pools.h"
#include "supervisor/server/name_resolver.h"
#include "supervisor/server/serve.h"
#include "supervisor/server/session_keep.h"
#include "supervisor/server/session_new.h"
#include "supervisor/server/user_manager.h"

namespace {

using wardcase::sandbox::IdRange;
using wardcase::sys::Status;
using Words = std::span<char* const>;

constexpr int kFailed = 125;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

Status start_scope(Words words) {
  const auto pid = parse_number<pid_t>(words[1]);
  if (pid && *pid > 1) return wardcase::supervisor::start_scope(words[0], *pid);
  return tl::unexpected(
      wardcase::sys::plain_error("'" + std::string(words[1]) + "' is no process"));
}

Status make_ids(Words words) {
  if (words.size() == 1) return wardcase::supervisor::make_ids(words[0], std::nullopt);
  const auto first = parse_number<std::uint32_t>(words[1]);
  const auto count = parse_number<std::uint32_t>(words[2]);
  if (first && count) return wardcase::supervisor::make_ids(words[0], IdRange{*first, *count});
  return tl::unexpected(wardcase::sys::plain_error("FIRST and COUNT must be numbers"));
}

Status drop_ids(Words words) { return wardcase::supervisor::drop_ids(words[0]); }

Status resolve(Words words) {
  return wardcase::supervisor::resolve_name(words[0]).map([](const auto& addresses) {
    for (const std::string& address : addresses) std::cout << address << '\n';
  });
}

int serve(Words words) {
  const auto settled = wardcase::supervisor::settle_what_was_inherited();
  if (!settled) {
    std::cerr << "wardcase: serve: " << settled.error().message() << '\n';
    return kFailed;
  }
  try {
    return wardcase::supervisor::serve(std::vector<std::string>(words.begin(), words.end()));
  } catch (const std::exception& error) {  // memory is out; all else comes as a result
    std::cerr << "wardcase: serve: " << error.what() << '\n';
    return kFailed;
  }
}

int make_session(std::string_view verb, Words words) {
  const auto settled = wardcase::supervisor::settle_what_was_inherited();
  if (!settled) {
    std::cerr << "wardcase: session new: " << settled.error().message() << '\n';
    return kFailed;
  }
  const std::vector<std::string> texts(words.begin(), words.end());
  if (verb == "session-new") return wardcase::supervisor::session_new(texts);
  return wardcase::supervisor::session_keep(texts[0], texts[1]);
}

int report(std::string_view verb, Words words) {
  const std::vector<std::string> options(words.begin(), words.end());
  if (verb == "doctor") return wardcase::supervisor::doctor_command(options);
  return wardcase::supervisor::languages_command(options);
}

int tell(std::string_view what, const Status& done) {
  if (done) return 0;
  std::cout << what << ": " << done.error().message() << '\n';
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  const Words all(argv, static_cast<std::size_t>(argc));
  const std::string_view verb = argc > 1 ? argv[1] : "";
  const Words words = argc > 2 ? all.subspan(2) : Words();
  if (verb == "serve") return serve(words);
  if (verb == "session-new" || (verb == "session-keep" && words.size() == 2)) {
    return make_session(verb, words);
  }
  if (verb == "languages" || verb == "doctor") return report(verb, words);
  if (verb == "scope" && words.size() == 2) return tell(verb, start_scope(words));
  if (verb == "make-ids" && (words.size() == 1 || words.size() == 3)) {
    return tell(verb, make_ids(words));
  }
  if (verb == "drop-ids" && words.size() == 1) return tell(verb, drop_ids(words));
  if (verb == "resolve" && words.size() == 1) return tell(verb, resolve(words));
  std::cerr << "wardcase-server: is called by wardcase; see wardcase(1)\n";
  return kFailed;
}

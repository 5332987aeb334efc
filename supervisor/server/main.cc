// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// wardcase-server: what needs shared libraries, so that the command itself starts without
// any. It is called by wardcase, not by people.
//
//   wardcase-server scope SOCKET PID    see user_manager.h; what went wrong is on stdout
//   wardcase-server serve OPTIONS       see serve.h
#include <charconv>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/process_start.h"
#include "supervisor/server/serve.h"
#include "supervisor/server/user_manager.h"

namespace {

constexpr int kFailed = 125;

int start_scope(std::string_view socket, std::string_view pid_text) {
  pid_t pid = 0;
  const char* const end = pid_text.data() + pid_text.size();
  const auto [stop, error] = std::from_chars(pid_text.data(), end, pid);
  if (error != std::errc() || stop != end || pid <= 1) {
    std::cout << "scope: '" << pid_text << "' is no process\n";
    return kFailed;
  }
  const auto started = wardcase::supervisor::start_scope(std::string(socket), pid);
  if (started) return 0;
  std::cout << started.error().message() << '\n';
  return kFailed;
}

int serve(int argc, char** argv) {
  const auto settled = wardcase::supervisor::settle_what_was_inherited();
  if (!settled) {
    std::cerr << "wardcase: serve: " << settled.error().message() << '\n';
    return kFailed;
  }
  const std::vector<std::string> words(argv + 2, argv + argc);
  try {
    return wardcase::supervisor::serve(words);
  } catch (const std::exception& error) {  // memory is out; all else comes as a result
    std::cerr << "wardcase: serve: " << error.what() << '\n';
    return kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "serve") return serve(argc, argv);
  if (argc == 4 && std::string_view(argv[1]) == "scope") return start_scope(argv[2], argv[3]);
  std::cerr << "wardcase-server: is called by wardcase; see wardcase(1)\n";
  return kFailed;
}

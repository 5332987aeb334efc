// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/interpreters.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "policies/version_number.h"
#include "sandbox/sys/paths.h"
#include "supervisor/cli/ask_program.h"
#include "supervisor/languages/interpreter_search.h"

namespace wardcase::supervisor {

namespace {

constexpr std::string_view kShown[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64"};

std::optional<std::string> ask_version(const std::string& path, policies::Words words) {
  std::vector<std::string> command = {path};
  command.insert(command.end(), words.begin(), words.end());
  auto answer = ask_program(command, {});
  if (!answer || !answer->is_success || answer->line.empty()) return std::nullopt;
  return std::move(answer->line);
}

std::string joined(policies::Words words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string install(const policies::Runner& runner) {
  if (runner.package.empty()) return "install one below /usr, or name one with --interpreter PATH";
  return "install it below /usr (on Debian: apt install " + std::string(runner.package) +
         "), or name another with --interpreter PATH";
}

// What a box shows of the host's programs is /usr; a link out of it leads nowhere there. Where
// somebody asks for another PATH (tests), all of it counts.
std::string hidden_target(const std::string& path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  const auto is_in = [](const std::string& place) {
    return std::ranges::any_of(
        kShown, [&](std::string_view directory) { return sys::is_at_or_below(place, directory); });
  };
  return error || (is_in(path) && !is_in(real)) ? real : "";
}

void judge(const policies::Runner& runner, FoundInterpreter& found) {
  if (const std::string hidden = hidden_target(found.path); !hidden.empty()) {
    found.usability = Usability::hidden;
    found.problem = found.path + " leads to " + hidden + ", which a box does not show";
    found.fix = "name it with --interpreter " + hidden;
    return;
  }
  found.usability = Usability::usable;
  if (runner.version.empty()) return;
  found.version = ask_version(found.path, runner.version);
  if (!found.version) {
    found.usability = Usability::broken;
    found.problem = found.path + " " + joined(runner.version) + " fails or says nothing";
    found.fix = "install it anew, or name another with --interpreter PATH";
  } else if (policies::is_version_below(policies::find_version(*found.version),
                                        runner.minimum_version)) {
    found.usability = Usability::too_old;
    found.problem = found.path + " is too old: " + *found.version + ", and " +
                    std::string(runner.minimum_version) + " is needed";
    found.fix = install(runner);
  }
}

FoundInterpreter find_one(const policies::Language& language, std::string_view path) {
  FoundInterpreter found;
  found.language = language.name;
  std::string tried;
  for (const policies::Runner& runner : language.runners) {
    tried += (tried.empty() ? "" : ", ") + joined(runner.interpreters);
    found.path = find_on_path(runner.interpreters, path);
    if (found.path.empty()) continue;
    judge(runner, found);
    return found;
  }
  found.problem = "no interpreter on the box's PATH; looked for " + tried;
  found.fix = install(language.runners.front());
  return found;
}

}  // namespace

std::vector<FoundInterpreter> find_interpreters(std::span<const policies::Language> languages,
                                                std::string_view path) {
  std::vector<FoundInterpreter> found;
  found.reserve(languages.size());
  for (const policies::Language& language : languages) found.push_back(find_one(language, path));
  return found;
}

}  // namespace wardcase::supervisor

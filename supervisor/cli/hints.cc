// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/hints.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <vector>

#include "sandbox/sys/paths.h"
#include "supervisor/cli/console.h"

namespace wardcase::supervisor {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 16;  // that are looked for on the host
constexpr std::size_t kLongestName = 255;

constexpr std::string_view kMissingFile = "o such file or directory";  // No, or node's no
constexpr std::string_view kMissingScript = "Cannot find module";
constexpr std::string_view kMissingModule = "No module named";

constexpr std::string_view kNoNetwork[] = {
    "Temporary failure in name resolution",
    "Name or service not known",
    "ould not resolve host",
    "unable to resolve host",
    "Network is unreachable",
    "ENETUNREACH",
    "EAI_AGAIN",
    "getaddrinfo ENOTFOUND",
};

bool contains(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// What stands in the first quotes; "" without any.
std::string_view quoted(std::string_view text) {
  const std::size_t begin = text.find_first_of("'\"`");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find(text[begin], begin + 1);
  if (end == std::string_view::npos) return {};
  return text.substr(begin + 1, end - begin - 1);
}

std::string_view trimmed(std::string_view text, std::string_view marks) {
  const std::size_t begin = text.find_first_not_of(marks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(marks) - begin + 1);
}

// A name as the program may have meant it relative to /box; "" for any other.
std::string relative_name(std::string_view name) {
  if (name.starts_with("/box/")) name.remove_prefix(5);
  while (name.starts_with("./")) name.remove_prefix(2);
  if (name.empty() || name.size() > kLongestName || name[0] == '/') return "";
  if (printable(name) != name) return "";
  const fs::path path(name);
  if (std::ranges::any_of(path, [](const fs::path& part) { return part == ".." || part == "."; })) {
    return "";
  }
  return std::string(name);
}

// "cat: data.csv: No such file or directory", "No such file or directory: 'data.csv'",
// "no such file or directory, open 'data.csv'", "Can't open data.csv: No such file ...".
void add_file_names(std::string_view line, std::size_t phrase, std::vector<std::string>& names) {
  names.push_back(relative_name(quoted(line.substr(phrase))));
  std::string_view before = line.substr(0, phrase);
  const std::size_t colon = before.rfind(':');
  if (colon == std::string_view::npos) return;
  before = trimmed(before.substr(0, colon), " ");
  const std::string_view field = trimmed(before.substr(before.rfind(':') + 1), " '\"`");
  names.push_back(relative_name(field));
  names.push_back(relative_name(trimmed(field.substr(field.rfind(' ') + 1), "'\"`")));
}

void add_module(std::string_view module, std::vector<std::string>& names) {
  const std::string top = relative_name(module.substr(0, module.find('.')));
  if (top.empty()) return;
  names.push_back(top + ".py");
  names.push_back(top);
}

void add_module_names(std::string_view line, std::size_t phrase, std::vector<std::string>& names) {
  add_module(quoted(line.substr(phrase)), names);
}

void add_script(std::string_view written, std::vector<std::string>& names) {
  const std::string name = relative_name(written);
  if (name.empty()) return;
  if (written[0] != '.' && written[0] != '/') {
    names.push_back("node_modules/" + name);
    return;
  }
  for (const char* suffix : {"", ".js", ".mjs", ".cjs", ".json"}) names.push_back(name + suffix);
}

void add_script_names(std::string_view line, std::size_t phrase, std::vector<std::string>& names) {
  add_script(quoted(line.substr(phrase)), names);
}

// Those that its words seem to be about, in their order.
std::vector<std::string> guessed_names(std::string_view text) {
  using AddNames = void (*)(std::string_view, std::size_t, std::vector<std::string>&);
  constexpr std::pair<std::string_view, AddNames> kPhrases[] = {
      {kMissingFile, add_file_names},
      {kMissingScript, add_script_names},
      {kMissingModule, add_module_names},
  };
  std::vector<std::string> names;
  while (!text.empty() && names.size() < kMostNames) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const auto& [phrase, add_names] : kPhrases) {
      const std::size_t at = line.find(phrase);
      if (at != std::string_view::npos) add_names(line, at, names);
    }
  }
  return names;
}

// The names of what a program missed.
std::vector<std::string> missed_names(const HintScene& scene) {
  std::vector<std::string> names;
  if (!scene.missed_module.empty()) {
    (scene.is_python ? add_module : add_script)(scene.missed_module, names);
  } else if (!scene.missed_path.empty()) {
    names.push_back(relative_name(scene.missed_path));
  } else {
    names = guessed_names(scene.errors);
  }
  std::erase(names, "");
  return names;
}

// As a shell takes it for one word.
std::string shell_word(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("._/-+,@").find(static_cast<char>(letter)) != std::string_view::npos;
  });
  if (is_plain) return text;
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

std::string miss_file(const HintScene& scene) {
  if (scene.has_own_files) return "";
  for (const std::string& name : missed_names(scene)) {
    for (const std::string& directory : {scene.program_directory, std::string(".")}) {
      if (!scene.exists((fs::path(directory) / name).string())) continue;
      return name + " is outside the box; add --workspace " + shell_word(directory);
    }
  }
  return "";
}

// An absolute path means the same on the host, but for what is the box's own.
std::string miss_path(const HintScene& scene) {
  constexpr std::string_view kOwn[] = {"/box", "/tmp", "/proc", "/sys", "/dev", "/run"};
  const std::string path(scene.missed_path);
  const bool is_own = std::ranges::any_of(
      kOwn, [&](std::string_view place) { return sys::is_at_or_below(path, place); });
  if (!path.starts_with('/') || is_own || printable(path) != path || !scene.exists(path)) return "";
  return path + " is outside the box; add -v " + shell_word(path + ":" + path);
}

std::string miss_virtual_environment(const HintScene& scene) {
  if (!scene.is_python || scene.has_interpreter || scene.virtual_environment.empty()) return "";
  if (scene.missed_module.empty() && !contains(scene.errors, kMissingModule)) return "";
  const std::string interpreter = scene.virtual_environment + "/bin/python";
  if (!scene.exists(interpreter)) return "";
  return "your virtual environment is outside the box; add --interpreter " +
         shell_word(interpreter);
}

std::string miss_network(const HintScene& scene) {
  const bool is_missed = std::ranges::any_of(
      kNoNetwork, [&](std::string_view words) { return contains(scene.errors, words); });
  if (!is_missed || !scene.may_use_network) return "";
  return "the box has no network; add --network host";
}

std::string miss_stdin(const HintScene& scene) {
  return scene.has_waiting_stdin ? "stdin was not passed; add -i" : "";
}

// From what is said most clearly to what is only likely.
constexpr std::string (*kRecognisers[])(const HintScene&) = {
    miss_file, miss_path, miss_virtual_environment, miss_network, miss_stdin,
};

bool exists_on_host(const std::string& path) {
  std::error_code ignored;  // what can't be looked at can't be shown, either
  return fs::exists(path, ignored);
}

// Something is there that the program might have wanted to read.
bool has_waiting_stdin() {
  struct stat info = {};
  if (::fstat(STDIN_FILENO, &info) < 0) return false;
  if (S_ISREG(info.st_mode)) return ::lseek(STDIN_FILENO, 0, SEEK_CUR) < info.st_size;
  int waiting = 0;
  return (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) &&
         ::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0;
}

std::string directory_of(const ProgramSource& source) {
  if (source.kind != ProgramSource::Kind::file) return ".";
  const std::string directory = fs::path(source.text).parent_path().string();
  return directory.empty() ? "." : directory;
}

}  // namespace

HintScene scene_of(const RunOptions& options, const RunRecord& record, std::string_view errors) {
  HintScene scene;
  scene.missed_module = record.missed_module;
  scene.missed_path = record.missed_path;
  scene.errors = errors.substr(errors.size() - std::min(errors.size(), kHintTailBytes));
  scene.program_directory = directory_of(options.source);
  scene.has_own_files =
      std::ranges::find(options.mounts, "/box", &policies::Mount::target) != options.mounts.end();
  scene.is_python = record.language == "python";
  scene.has_interpreter = options.source.interpreter.has_value();
  const auto& allowed = options.configuration.policy.allowed_networks->value;
  scene.may_use_network = options.network == policies::Network::none &&
                          std::ranges::find(allowed, policies::Network::host) != allowed.end();
  scene.has_waiting_stdin = !options.pass_stdin && !options.stdin_file &&
                            options.source.kind != ProgramSource::Kind::standard_input &&
                            has_waiting_stdin();
  if (const char* path = std::getenv("VIRTUAL_ENV")) scene.virtual_environment = path;
  scene.exists = exists_on_host;
  return scene;
}

std::string find_hint(const HintScene& scene) {
  for (const auto recognise : kRecognisers) {
    std::string hint = recognise(scene);
    if (!hint.empty()) return hint;
  }
  return "";
}

}  // namespace wardcase::supervisor

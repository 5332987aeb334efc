// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_options.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "supervisor/cli/environment.h"
#include "supervisor/cli/planted_links.h"
#include "supervisor/cli/run_files.h"
#include "supervisor/config/allowed_calls.h"
#include "supervisor/config/mounts.h"
#include "supervisor/config/run_settings.h"

namespace wardcase::supervisor {

namespace {

tl::unexpected<sys::Error> wrong(const std::string& what) {
  return tl::unexpected(sys::plain_error(what));
}

// --policy, WARDCASE_POLICY, or what the configuration chooses.
sys::Status take_configuration(const CommandLine& line, RunOptions& options) {
  std::optional<std::string> asked = policy_variable();
  if (const std::string* name = line.last("policy")) asked = *name;
  auto loaded = load_configuration(config_places(), asked);
  if (!loaded) return tl::unexpected(std::move(loaded).error());
  options.configuration = *std::move(loaded);
  options.limits = policies::limits_of(options.configuration.policy);
  for (const std::string& names : line.all("allow-syscalls")) {
    if (auto allowed = allow_calls("--allow-syscalls", names, options.configuration); !allowed)
      return allowed;
  }
  return {};
}

// The variables first: a value from there is a default, which a flag overrides.
sys::Status take_limits(const CommandLine& line, RunOptions& options) {
  policies::Limits& limits = options.limits;
  const auto origin = [&](const policies::LimitRow& row) -> std::string& {
    return options.limit_origins[static_cast<std::size_t>(row.id)];
  };
  for (const policies::LimitRow& row : policies::limit_table()) {
    const auto& setting = options.configuration.policy.limits[static_cast<std::size_t>(row.id)];
    origin(row) = setting ? setting->origin : std::string(policies::kBuiltIn);
  }
  auto taken = take_limit_variables(
      limits, [&](const policies::LimitRow& row) { origin(row) = row.environment; });
  if (!taken) return taken;
  for (const policies::LimitRow& row : policies::limit_table()) {
    if (row.flag.empty()) continue;
    const std::string* text = line.last(std::string(row.flag));
    if (text == nullptr) continue;
    auto value = policies::parse_limit(row, *text, limits.maximum(row.id));
    if (!value) return tl::unexpected(std::move(value).error());
    limits.require(row.id, *value);
    origin(row) = "--" + std::string(row.flag);
  }
  return {};
}

// The policy's first: of two variables of one name the later counts.
sys::Status take_environment(const CommandLine& line, RunOptions& options) {
  std::vector<std::string>& environment = options.environment;
  environment = policy_environment(options.configuration.policy);
  for (const std::string& path : line.all("env-file")) {
    auto variables = read_variables(path);
    if (!variables) {
      return tl::unexpected(std::move(variables).error().while_doing("--env-file " + path));
    }
    environment.insert(environment.end(), variables->begin(), variables->end());
  }
  for (const std::string& text : line.all("env")) {
    auto variable = parse_variable(text);
    if (!variable) return tl::unexpected(std::move(variable).error().while_doing("--env"));
    environment.push_back(*std::move(variable));
  }
  return {};
}

sys::Status take_mounts(const CommandLine& line, RunOptions& options) {
  const auto add = [&](const std::string& flag, sys::Result<policies::Mount> mount) -> sys::Status {
    if (!mount) return tl::unexpected(std::move(mount).error().while_doing(flag));
    const auto has_same_target = [&](const policies::Mount& other) {
      return other.target == mount->target;
    };
    if (std::ranges::any_of(options.mounts, has_same_target)) {
      return wrong(flag + ": something is already mounted at '" + mount->target + "'");
    }
    options.mounts.push_back(*std::move(mount));
    return {};
  };
  if (const std::string* text = line.last("workspace")) {
    if (auto added = add("--workspace " + *text, parse_workspace(*text)); !added) return added;
  }
  for (const std::string& text : line.all("volume")) {
    if (auto added = add("-v " + text, parse_mount(text)); !added) return added;
  }
  if (const std::string* path = line.last("interpreter")) {
    auto interpreter = find_interpreter(*path);
    if (!interpreter) {
      return tl::unexpected(std::move(interpreter).error().while_doing("--interpreter " + *path));
    }
    options.source.interpreter = interpreter->path;
    options.interpreter_mounts = std::move(interpreter->mounts);
  }
  return add_policy_mounts(options.configuration.policy, options.mounts);
}

// FILE ARGS, -c CODE ARGS, - ARGS or -- COMMAND ARGS.
sys::Status take_source(const CommandLine& line, RunOptions& options) {
  ProgramSource& source = options.source;
  auto operands = line.operands();
  const std::string* code = line.last("code");
  if (const std::string* language = line.last("language")) source.language = *language;
  if (const std::string* path = line.last("prelude")) source.prelude = *path;
  if (code != nullptr) {
    source.kind = ProgramSource::Kind::code;
    source.text = *code;
    if (!operands.empty() && operands[0] == "--") operands = operands.subspan(1);
  } else if (operands.empty()) {
    return wrong("run: nothing to run; give a FILE, -c CODE, - (read it from stdin) or -- COMMAND");
  } else {
    const std::string& first = operands[0];
    source.kind = first == "--"  ? ProgramSource::Kind::command
                  : first == "-" ? ProgramSource::Kind::standard_input
                                 : ProgramSource::Kind::file;
    source.text = first;
    operands = operands.subspan(1);
  }
  source.arguments.assign(operands.begin(), operands.end());
  source.requirements = requirements_of(line);

  using Kind = ProgramSource::Kind;
  if (line.has("validate")) source.validation = Validation::alone;
  if (source.kind == Kind::command) {
    if (line.has("validate")) return wrong("--validate: has no meaning with -- COMMAND");
    if (source.arguments.empty()) return wrong("run: -- is followed by nothing; write -- COMMAND");
    if (source.language) return wrong("--language: has no meaning with -- COMMAND; leave it out");
    if (source.prelude) return wrong("--prelude: has no meaning with -- COMMAND; leave it out");
    if (source.interpreter) {
      return wrong("--interpreter: has no meaning with -- COMMAND; use -v to show a directory");
    }
  } else if (source.kind != Kind::file && !source.language) {
    return wrong(std::string(source.kind == Kind::code ? "-c" : "-") +
                 ": needs a language; add -l " + options.configuration.languages.names("|"));
  }
  return {};
}

sys::Status take_status_fd(const std::string& text, std::optional<int>& status_fd) {
  int fd = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, fd);
  if (error != std::errc() || stop != end || fd <= STDERR_FILENO) {
    return wrong("--status-fd " + text + ": not a descriptor above 2");
  }
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    return wrong("--status-fd " + text + ": not open for writing; redirect it, as in " + text +
                 ">status");
  }
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
    return tl::unexpected(sys::errno_error("--status-fd " + text));
  }
  status_fd = fd;
  return {};
}

sys::Status take_dry_run(const CommandLine& line, RunOptions& options) {
  if (!line.has("dry-run")) return {};
  const std::string* const form = line.last("dry-run");
  if (form != nullptr && *form != "json") {
    return wrong("--dry-run=" + *form + ": write --dry-run or --dry-run=json");
  }
  if (options.mode == OutputMode::events) {
    return wrong("--dry-run and --events: no event comes; use --dry-run=json");
  }
  const bool wants_json = form != nullptr || options.mode == OutputMode::json;
  options.dry_run = wants_json ? DryRunForm::json : DryRunForm::text;
  return {};
}

sys::Status take_output(const CommandLine& line, RunOptions& options) {
  if (line.has("json") && line.has("events")) {
    return wrong("--json and --events: both want stdout; use --status-fd for the events");
  }
  if (line.has("quiet") && line.has("verbose")) {
    return wrong("--quiet and --verbose: give one of them");
  }
  if (line.has("base64")) options.form = OutputForm::base64;
  if (line.has("events")) {
    options.mode = OutputMode::events;
  } else if (line.has("json") || line.has("base64")) {
    options.mode = OutputMode::json;
  }
  if (line.has("quiet")) options.verbosity = Verbosity::quiet;
  if (line.has("verbose")) options.verbosity = Verbosity::verbose;
  options.merge_stderr = line.has("merge-stderr");
  const auto color = color_of(line);
  if (!color) return tl::unexpected(color.error());
  options.color = *color;
  options.timing = line.has("timing");
  options.exit_zero = line.has("exit-zero");
  if (const std::string* name = line.last("encoding-fallback")) options.encoding_fallback = *name;
  if (const std::string* path = line.last("save-output")) options.saved_output = *path;
  if (const std::string* path = line.last("meta")) options.meta = *path;
  if (const std::string* text = line.last("status-fd")) {
    return take_status_fd(*text, options.status_fd);
  }
  return {};
}

// --file and --out.
sys::Status take_files(const CommandLine& line, RunOptions& options) {
  auto files = parse_named_files(line.all("file"));
  if (!files) return tl::unexpected(std::move(files).error());
  options.files = *std::move(files);
  const std::string* const out = line.last("out");
  if (out == nullptr) return {};
  const auto is_read_only_box = [](const policies::Mount& mount) {
    return mount.target == "/box" && mount.mode == policies::MountMode::read_only;
  };
  if (std::ranges::any_of(options.mounts, is_read_only_box)) {
    return wrong("--out " + *out + ": nothing can be new in a workspace that is only read; write " +
                 "--workspace DIR:rw");
  }
  options.out = *out;
  return {};
}

// What a program could have put in the way of a file that is named here.
sys::Status refuse_planted_links(const CommandLine& line, const RunOptions& options) {
  struct Named {
    std::string flag;
    std::string path;
    bool is_mounted = false;
  };
  std::vector<Named> named;
  if (options.source.kind == ProgramSource::Kind::file) {
    named.push_back({"run", options.source.text});
  }
  for (const char* flag : {"stdin", "env-file", "save-output", "out", "meta", "requirements"}) {
    for (const std::string& path : line.all(flag)) named.push_back({flag, path});
  }
  for (const NamedFile& file : options.files) named.push_back({"file " + file.name, file.path});
  for (const std::string& text : line.all("volume")) {
    named.push_back({"volume", text.substr(0, text.find(':')), true});
  }
  for (const std::string& text : line.all("workspace")) {
    const bool has_mode = text.ends_with(":ro") || text.ends_with(":rw");
    named.push_back({"workspace", text.substr(0, text.size() - (has_mode ? 3 : 0)), true});
  }
  for (const auto& [flag, path, is_mounted] : named) {
    // That the program could write to it once it is mounted is no excuse to mount it.
    std::vector<policies::Mount> others = options.mounts;
    std::error_code error;
    const std::string source = std::filesystem::canonical(path, error).string();
    if (is_mounted) std::erase_if(others, [&](const auto& one) { return one.source == source; });
    const std::string link = planted_link(path, others);
    if (link.empty()) continue;
    return wrong((flag == "run" ? "run" : "--" + flag) + " " + path + ": '" + link +
                 "' is a link out of a directory that the program may write to, and may have put "
                 "there; name what it leads to");
  }
  return {};
}

// The flag, or what the policy has; a policy may forbid either.
sys::Status take_network(const CommandLine& line, RunOptions& options) {
  const policies::Policy& policy = options.configuration.policy;
  options.network = policy.network->value;
  if (const std::string* network = line.last("network")) {
    if (*network != "none" && *network != "host") {
      return wrong("--network " + *network + ": write none or host");
    }
    options.network = *network == "host" ? policies::Network::host : policies::Network::none;
  }
  auto allowed = check_network(policy, options.network);
  if (allowed) return {};
  return tl::unexpected(std::move(allowed).error().while_doing(
      "--network " + std::string(policies::network_name(options.network))));
}

sys::Status take_box(const CommandLine& line, RunOptions& options) {
  if (const std::string* directory = line.last("workdir")) {
    if (!directory->starts_with('/')) {
      return wrong("--workdir " + *directory + ": not absolute; write a path in the box, as /box/" +
                   *directory);
    }
    options.cwd = *directory;
  }
  options.terminal = line.has("tty");
  options.pass_stdin = options.terminal || line.has("interactive");
  if (const std::string* path = line.last("stdin")) options.stdin_file = *path;
  const std::string flag = options.terminal ? "-t" : "-i";
  if (options.pass_stdin && options.stdin_file) {
    return wrong(flag + " and --stdin: give one of them");
  }
  if (options.pass_stdin && options.source.kind == ProgramSource::Kind::standard_input) {
    return wrong(flag + ": stdin is the program already; " +
                 (options.terminal ? "put it in a FILE" : "use --stdin FILE for its input"));
  }
  return {};
}

// What is typed and shown has to meet a person: neither a file nor a record can.
sys::Status take_terminal(RunOptions& options) {
  if (!options.terminal) return {};
  if (options.mode != OutputMode::pass_through) {
    return wrong("-t: the program's terminal is shown on stdout; in place of " +
                 std::string(options.mode == OutputMode::json ? "--json" : "--events") +
                 " use --status-fd N");
  }
  if (::isatty(STDIN_FILENO) != 1) {
    return wrong("-t: stdin is not a terminal; use -i to pass it as it is");
  }
  // First, so that -e wins over it.
  const char* const kind = std::getenv("TERM");
  options.environment.insert(options.environment.begin(),
                             std::string("TERM=") + (kind != nullptr ? kind : "dumb"));
  return {};
}

}  // namespace

RequirementSource requirements_of(const CommandLine& line) {
  const auto words = line.all("requirement");
  const auto files = line.all("requirements");
  return {{words.begin(), words.end()}, {files.begin(), files.end()}};
}

sys::Status take_box_options(const CommandLine& line, RunOptions& options) {
  return take_configuration(line, options)
      .and_then([&] { return take_limits(line, options); })
      .and_then([&] { return take_environment(line, options); })
      .and_then([&] { return take_mounts(line, options); })
      .and_then([&] { return take_network(line, options); });
}

sys::Result<RunOptions> parse_run_options(std::span<const std::string> words) {
  auto line = CommandLine::parse(run_option_table(), words);
  if (!line) return tl::unexpected(std::move(line).error().while_doing("run"));
  RunOptions options;
  options.help = line->has("help");
  if (options.help) return options;
  const auto taken = take_box_options(*line, options)
                         .and_then([&] { return take_source(*line, options); })
                         .and_then([&] { return take_box(*line, options); })
                         .and_then([&] { return take_output(*line, options); })
                         .and_then([&] { return take_files(*line, options); })
                         .and_then([&] { return take_dry_run(*line, options); })
                         .and_then([&] { return take_terminal(options); })
                         .and_then([&] { return refuse_planted_links(*line, options); });
  if (!taken) return tl::unexpected(taken.error());
  if (const std::string* id = line->last("session")) options.session = *id;
  options.line = *std::move(line);
  return options;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/install_stage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <utility>

#include "sandbox/sys/files.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/languages/program_file.h"

// What is installed may run code of its own while it is: a setup.py, an install script. So the box
// is as one for any program, but that one directory of the host is writable in it, and that its
// index can be reached (install_proxy.h). Configuration of the caller's does not reach it.
namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

using policies::Installer;
using policies::MountMode;

constexpr std::string_view kMadePlace = "/opt/wardcase";
constexpr std::string_view kLinksPlace = "/opt/wardcase-links/";
constexpr std::string_view kAgentPlace = "/opt/wardcase-agent";
constexpr std::string_view kDriver = "/run/wardcase/install.py";
constexpr std::string_view kList = "/run/wardcase/requirements.txt";
constexpr std::string_view kPins = "/run/wardcase/constraints.txt";
constexpr const char* kCertificates = "/etc/ssl/certs/ca-certificates.crt";

// Says by its exit code what nobody should have to read from a message.
constexpr std::string_view kDriverText =
    "import importlib.util, os, runpy, sys\n"
    "os.umask(0o022)\n"
    "if importlib.util.find_spec('pip') is None:\n"
    "    sys.exit(96)\n"
    "sys.argv[0] = 'pip'\n"
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)\n";

std::string place_in(std::string_view name) {
  return std::string(kMadePlace) + "/" + std::string(name);
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

sys::Status make_directory(const std::string& path) {
  // Others may look: the program reads it under an id of its own.
  if (::mkdir(path.c_str(), 0755) == 0 && ::chmod(path.c_str(), 0755) == 0) return {};
  return tl::unexpected(sys::errno_error("make '" + path + "'"));
}

sys::Status write_package_json(const EnvironmentRequest& request, const std::string& path) {
  json::object dependencies;
  for (const Requirement& each : request.requirements) {
    dependencies[each.name] = each.text.substr(each.name.size() + 1);
  }
  const std::string text =
      json::serialize(json::object{{"private", true}, {"dependencies", std::move(dependencies)}});
  auto file = sys::open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (!file) return tl::unexpected(std::move(file).error());
  if (::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return {};
  }
  return tl::unexpected(sys::errno_error("write '" + path + "'"));
}

sys::Status place_text(RunSpec& spec, std::string_view path, std::string_view text) {
  auto content = text_in_memory(text);
  if (!content) return tl::unexpected(std::move(content).error());
  spec.files.push_back({std::string(path), *std::move(content), 0644});
  return {};
}

std::string lines(const auto& texts, auto text_of) {
  std::string all;
  for (const auto& each : texts) all += text_of(each) + "\n";
  return all;
}

sys::Status add_pip(const EnvironmentRequest& request, RunSpec& spec) {
  const auto add = [&](std::initializer_list<std::string> words) {
    spec.argv.insert(spec.argv.end(), words);
  };
  // Isolated: neither what PYTHONPATH shows nor the working directory is imported.
  add({request.interpreter, "-I", std::string(kDriver), "install", "--isolated", "--no-input",
       "--disable-pip-version-check", "--no-cache-dir", "--no-warn-script-location",
       "--progress-bar", "off", "--root-user-action", "ignore", "--target",
       place_in(kMadeEnvironment), "--requirement", std::string(kList)});
  auto placed = place_text(spec, kDriver, kDriverText);
  if (placed) {
    placed = place_text(spec, kList,
                        lines(request.requirements, [](const auto& each) { return each.text; }));
  }
  if (placed && !request.constraints.empty()) {
    add({"--constraint", std::string(kPins)});
    placed =
        place_text(spec, kPins, lines(request.constraints, [](const auto& pin) { return pin; }));
  }
  const auto& urls = request.settings.urls_of(Installer::pip);
  if (urls && !urls->value.empty()) {
    add({"--index-url", urls->value.front()});
  } else {
    add({"--no-index"});
  }
  if (request.settings.find_links) {
    for (const std::string& directory : request.settings.find_links->value) {
      const std::string place = std::string(kLinksPlace) + std::to_string(spec.mounts.size());
      spec.mounts.push_back({directory, place, MountMode::read_only});
      add({"--find-links", place});
    }
  }
  return placed;
}

void add_npm(const EnvironmentRequest& request, const std::string& npm, RunSpec& spec) {
  spec.argv.insert(
      spec.argv.end(),
      {npm, "install", "--prefix", place_in(kMadeEnvironment), "--no-audit", "--no-fund",
       "--no-update-notifier", "--no-progress", "--loglevel=error", "--cache",
       place_in(kMadeTemporary) +
           "/npm",  // Of two names, and neither is there: it takes no file for both.
       "--userconfig", place_in(kMadeTemporary) + "/user", "--globalconfig",
       place_in(kMadeTemporary) + "/global"});
  const auto& urls = request.settings.urls_of(Installer::npm);
  if (urls && !urls->value.empty()) spec.argv.push_back("--registry=" + urls->value.front());
}

sys::Status set_environment(const EnvironmentRequest& request, unsigned host_cpus, RunSpec& spec) {
  policies::Limits limits = spec.limits;
  auto resolved = limits.resolve(host_cpus, /*captured=*/true);
  if (!resolved) return resolved;
  spec.environment = standard_environment(limits, {}, Audience::nobody);
  // The interpreter that was asked for also runs what is installed.
  set_variable(spec.environment,
               "PATH=" + directory_of(request.interpreter) + ":" + std::string(kBoxPath));
  set_variable(spec.environment, "TMPDIR=" + place_in(kMadeTemporary));
  if (::access(kCertificates, R_OK) != 0) return {};
  for (const char* name : {"PIP_CERT=", "REQUESTS_CA_BUNDLE=", "NODE_EXTRA_CA_CERTS="}) {
    set_variable(spec.environment, std::string(name) + kCertificates);
  }
  return {};
}

bool is_directory(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

sys::Status begin_environment(const EnvironmentRequest& request, const std::string& made) {
  const std::string environment = made + "/" + std::string(kMadeEnvironment);
  auto begun = make_directory(made);
  if (begun) begun = make_directory(environment);
  if (begun) begun = make_directory(made + "/" + std::string(kMadeTemporary));
  if (!begun || request.installer != Installer::npm) return begun;
  begun = make_directory(environment + "/node_modules");
  return begun ? write_package_json(request, environment + "/package.json") : begun;
}

sys::Result<RunSpec> install_spec(const EnvironmentRequest& request, const std::string& made,
                                  unsigned host_cpus, const std::string& agent,
                                  sys::UniqueFd channel) {
  RunSpec spec;
  spec.policy = request.policy;
  spec.require = request.require;
  spec.limits = request.limits;
  spec.keeps_id = true;
  spec.system_mounts = request.shown;
  spec.mounts.push_back({made, std::string(kMadePlace), MountMode::read_write});
  auto filled = set_environment(request, host_cpus, spec);
  if (!filled) return tl::unexpected(filled.error());
  if (!agent.empty()) {
    spec.system_mounts.push_back({agent, std::string(kAgentPlace), MountMode::read_only});
    spec.argv = {std::string(kAgentPlace), "proxy", "--"};
    spec.channel = std::move(channel);
  }
  if (request.installer == Installer::pip) {
    filled = add_pip(request, spec);
    if (!filled) return tl::unexpected(filled.error());
    return spec;
  }
  const std::string npm = find_in_box({"npm"}, spec.environment, request.shown);
  if (npm.empty()) return tl::unexpected(sys::plain_error("npm is not in the box"));
  add_npm(request, npm, spec);
  return spec;
}

sys::Status check_environment(Installer installer, const std::string& made) {
  const std::string environment = made + "/" + std::string(kMadeEnvironment);
  if (is_directory(made) && is_directory(environment) &&
      (installer != Installer::npm || is_directory(environment + "/node_modules"))) {
    return {};
  }
  return tl::unexpected(
      sys::plain_error("what was installed put something else in place of its own directory"));
}

}  // namespace wardcase::supervisor

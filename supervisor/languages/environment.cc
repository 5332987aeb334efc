// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/environment.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "sandbox/sys/files.h"
#include "sandbox/sys/kernel.h"
#include "sandbox/sys/paths.h"
#include "supervisor/languages/program_environment.h"
#include "supervisor/languages/sha256.h"
#include "supervisor/languages/stage_box.h"
#include "supervisor/run/preparation.h"
#include "supervisor/run/without_namespaces.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;

namespace {

using policies::Installer;

// Raised when the same request comes to another environment than before.
constexpr std::string_view kRecipe = "wardcase environment 1";
constexpr std::size_t kMostLinks = 65'536;  // names in a directory of wheels

// A field of what is hashed: its length keeps two fields from being taken for one.
void add_field(Sha256& hash, std::string_view field) {
  hash.add(std::to_string(field.size()) + ":");
  hash.add(field);
}

// What tells a file from the one that is put in its place.
std::string identity_of(const struct stat& info) {
  std::string text;
  for (const std::uint64_t number :
       {std::uint64_t{info.st_dev}, std::uint64_t{info.st_ino},
        static_cast<std::uint64_t>(info.st_size), static_cast<std::uint64_t>(info.st_mtim.tv_sec),
        static_cast<std::uint64_t>(info.st_mtim.tv_nsec)}) {
    text += std::to_string(number) + " ";
  }
  return text;
}

sys::Status add_interpreter(Sha256& hash, const EnvironmentRequest& request) {
  std::error_code error;
  const fs::path real = fs::canonical(host_path_of(request.interpreter, request.shown), error);
  struct stat info = {};
  if (error || ::stat(real.c_str(), &info) < 0) {
    return tl::unexpected(sys::Error{error ? error.value() : errno,
                                     "look at the interpreter '" + request.interpreter + "'"});
  }
  add_field(hash, request.interpreter);
  add_field(hash, real.string());
  add_field(hash, identity_of(info));
  return {};
}

// Names, sizes and times of what lies in it: what pip could choose.
sys::Status add_links(Sha256& hash, const std::string& directory) {
  const auto failed = [&] {
    return tl::unexpected(sys::errno_error("install.find_links '" + directory + "'"));
  };
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(directory.c_str()), ::closedir);
  if (listing == nullptr) return failed();
  std::vector<std::string> found;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (found.size() == kMostLinks) {
      return tl::unexpected(
          sys::plain_error("install.find_links '" + directory + "' has more than 65536 files"));
    }
    struct stat info = {};
    if (::fstatat(::dirfd(listing.get()), entry->d_name, &info, 0) < 0) {
      if (errno == ENOENT) continue;  // a link that leads nowhere, or gone meanwhile
      return failed();
    }
    found.push_back(std::string(name) + "/" + identity_of(info));
  }
  std::ranges::sort(found);
  add_field(hash, directory);
  add_field(hash, std::to_string(found.size()));
  for (const std::string& each : found) add_field(hash, each);
  return {};
}

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  const auto found = std::ranges::find_if(
      environment, [&](const std::string& entry) { return entry.starts_with(name); });
  return found == environment.end() ? "" : found->substr(name.size());
}

bool is_executable(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111) != 0;
}

}  // namespace

std::string_view environment_place(Installer installer) {
  // Where Node.js looks from /box/main.js on upwards, for require and for import.
  return installer == Installer::npm ? "/node_modules" : "/opt/wardcase/env";
}

std::string host_path_of(const std::string& path, const std::vector<policies::Mount>& shown) {
  const policies::Mount* innermost = nullptr;
  for (const policies::Mount& mount : shown) {
    if (!sys::is_at_or_below(path, mount.target)) continue;
    if (innermost == nullptr || mount.target.size() > innermost->target.size()) innermost = &mount;
  }
  if (innermost != nullptr) return innermost->source + path.substr(innermost->target.size());
  // As the host has them (box_layout.cc).
  for (const std::string_view top : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    if (sys::is_at_or_below(path, top)) return path;
  }
  return "";
}

std::string find_in_box(const std::vector<std::string>& names,
                        const std::vector<std::string>& environment,
                        const std::vector<policies::Mount>& shown) {
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (is_executable(host_path_of(name, shown))) return name;
      continue;
    }
    for (const std::string& directory : path_directories(environment)) {
      std::string path = directory + "/" + name;
      if (is_executable(host_path_of(path, shown))) return path;
    }
  }
  return "";
}

sys::Result<std::string> environment_key(const EnvironmentRequest& request) {
  Sha256 hash;
  add_field(hash, kRecipe);
  add_field(hash, policies::installer_name(request.installer));
  add_field(hash, std::to_string(request.requirements.size()));
  for (const Requirement& each : request.requirements) add_field(hash, each.text);
  add_field(hash, std::to_string(request.constraints.size()));
  for (const std::string& each : request.constraints) add_field(hash, each);
  if (auto added = add_interpreter(hash, request); !added) return tl::unexpected(added.error());
  if (const auto& urls = request.settings.urls_of(request.installer)) {
    for (const std::string& url : urls->value) add_field(hash, url);
  }
  if (request.installer == Installer::pip && request.settings.find_links) {
    for (const std::string& directory : request.settings.find_links->value) {
      if (auto added = add_links(hash, directory); !added) return tl::unexpected(added.error());
    }
  }
  return hash.finish();
}

void show_environment(Installer installer, const std::string& directory, RunSpec& spec) {
  const std::string place(environment_place(installer));
  const bool is_npm = installer == Installer::npm;
  spec.system_mounts.push_back(
      {is_npm ? directory + "/node_modules" : directory, place, policies::MountMode::read_only});
  spec.keeps_id = true;
  const std::string programs = place + (is_npm ? "/.bin" : "/bin");
  const std::string path = variable(spec.environment, "PATH=");
  set_variable(spec.environment, "PATH=" + programs + (path.empty() ? "" : ":" + path));
  if (is_npm) return;
  // Behind what is there: files of the caller's own win, as they do over installed packages.
  const std::string modules = variable(spec.environment, "PYTHONPATH=");
  set_variable(spec.environment, "PYTHONPATH=" + (modules.empty() ? "" : modules + ":") + place);
}

std::string why_not_shown(std::string_view place, const RunSpec& program) {
  if (!has_namespaces(program)) {
    return "requirements need a box with namespaces; the policy '" + program.policy +
           "' has confinement = \"landlock\"";
  }
  const auto covers = [&](const policies::Mount& mount) {
    return sys::is_at_or_below(place, mount.target) || sys::is_at_or_below(mount.target, place);
  };
  const auto mount = std::ranges::find_if(program.mounts, covers);
  if (mount == program.mounts.end()) return "";
  return "requirements are shown at '" + std::string(place) + "', which the mount at '" +
         mount->target + "' covers; mount it elsewhere";
}

std::vector<std::string> installed_distributions(const std::string& directory) {
  constexpr std::string_view kSuffix = ".dist-info";
  std::vector<std::string> found;
  for (std::string name : sys::list_directory(directory, DT_DIR)) {
    if (!name.ends_with(kSuffix)) continue;
    name.resize(name.size() - kSuffix.size());
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) continue;
    const auto parsed =
        parse_python_requirement(name.substr(0, dash) + "==" + name.substr(dash + 1));
    if (parsed) found.push_back(parsed->text);
  }
  std::ranges::sort(found);
  return found;
}

std::string installed_package(const std::string& directory, const std::string& name) {
  const sys::UniqueFd environment(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string path = "node_modules/" + name + "/package.json";
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve =
      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;  // it is what was installed, and could lead anywhere
  const sys::UniqueFd file(sys::openat2(environment.get(), path.c_str(), how));
  if (!file.is_open()) return "";
  const auto text = read_source(file.get(), path);
  if (!text) return "";
  boost::system::error_code error;
  const boost::json::value package = boost::json::parse(*text, error);
  if (error || !package.is_object()) return "";
  const boost::json::value* const version = package.get_object().if_contains("version");
  return version == nullptr || !version->is_string() ? "" : std::string(version->get_string());
}

}  // namespace wardcase::supervisor

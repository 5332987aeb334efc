// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_files.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "supervisor/languages/box_names.h"
#include "supervisor/languages/program_file.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kMostFiles = 1024;
constexpr std::size_t kFewFiles = 64;
const std::string kBox = "/box/";

std::string flag_of(const NamedFile& file) { return "--file " + file.name + "=" + file.path; }

// Each of them is open until the box has its copy.
void allow_open_files() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) < 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);  // without it, opening them will tell
}

sys::Status check_place(const NamedFile& file, const RunSpec& spec) {
  const auto refuse = [&](const std::string& why) -> sys::Status {
    return tl::unexpected(sys::plain_error(flag_of(file) + ": " + why));
  };
  if (const policies::Mount* const workspace = find_workspace(spec)) {
    return refuse("'" + workspace->source +
                  "' is /box; put the file into it, or leave --workspace out");
  }
  const std::string path = kBox + file.name;
  const auto clashes = [&](const std::string& other) { return clash_in_box(path, other); };
  const auto mount = std::ranges::find_if(spec.mounts, clashes, &policies::Mount::target);
  if (mount != spec.mounts.end()) {
    return refuse("'" + mount->source + "' is mounted at '" + mount->target + "'");
  }
  const auto other = std::ranges::find_if(spec.files, clashes, &PlacedFile::path);
  if (other == spec.files.end()) return {};
  return refuse("'" + other->path + "' is there already; choose another NAME");
}

sys::Result<PlacedFile> open_file(const NamedFile& file) {
  auto content = open_program(file.path);
  if (!content) {
    switch (content.error().code) {
      case EISDIR:
        return tl::unexpected(sys::plain_error(flag_of(file) + ": is a directory; use -v " +
                                               file.path + ":/box/" + file.name));
      case EFBIG:
        return tl::unexpected(
            sys::plain_error(flag_of(file) + ": more than 64 MiB come through the pipe"));
      default:
        return tl::unexpected(std::move(content).error().while_doing(flag_of(file)));
    }
  }
  struct stat info = {};
  const bool is_executable = ::fstat(content->get(), &info) == 0 && (info.st_mode & S_IXUSR) != 0;
  return PlacedFile{kBox + file.name, *std::move(content),
                    is_executable ? mode_t{0755} : mode_t{0644}};
}

}  // namespace

sys::Result<std::vector<NamedFile>> parse_named_files(std::span<const std::string> texts) {
  if (texts.size() > kMostFiles) {
    return tl::unexpected(sys::plain_error("--file: given " + std::to_string(texts.size()) +
                                           " times, at most " + std::to_string(kMostFiles) +
                                           "; use -v to show a directory"));
  }
  std::vector<NamedFile> files;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return tl::unexpected(sys::plain_error("--file " + text + ": write NAME=PATH"));
    }
    NamedFile file = {text.substr(0, equals), text.substr(equals + 1)};
    if (const auto why = why_no_box_name(file.name); !why.empty()) {
      return tl::unexpected(sys::plain_error("--file " + text + ": the name " + std::string(why)));
    }
    files.push_back(std::move(file));
  }
  return files;
}

sys::Status place_named_files(const std::vector<NamedFile>& files, RunSpec& spec) {
  if (files.size() > kFewFiles) allow_open_files();
  for (const NamedFile& file : files) {
    if (auto checked = check_place(file, spec); !checked) return checked;
    auto placed = open_file(file);
    if (!placed) return tl::unexpected(std::move(placed).error());
    spec.files.push_back(*std::move(placed));
  }
  return {};
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/box_layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "sandbox/sys/files.h"
#include "sandbox/sys/paths.h"

namespace wardcase::sandbox {
namespace {

using policies::MountMode;

// The places of the box that stand on the one writable file system.
struct ScratchPlace {
  std::string_view target;
  std::string_view name;  // of its directory there
  mode_t mode;
};
constexpr std::array kScratchPlaces = {
    ScratchPlace{"/tmp", "tmp", 01777},        ScratchPlace{kHomeDirectory, "home", 0755},
    ScratchPlace{"/dev/shm", "shm", 01777},    ScratchPlace{kProgramDirectory, "program", 0755},
    ScratchPlace{kWorkDirectory, "box", 0755},  // last: it covers the file system's own place
};

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    "user:x:1000:1000:user:/home/user:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
constexpr std::string_view kGroup = "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n";
constexpr std::string_view kHosts = "127.0.0.1 localhost box\n::1 localhost ip6-localhost\n";
// Here whoever asks for the number of processors reads it (get_nprocs(3)). Without it he counts
// those of the host, and starts as many processes.
constexpr std::string_view kCpuDirectory = "sys/devices/system/cpu";
// What packages keep here that their parts in /usr can't do without, or complain of: names
// of services and protocols, fonts, and some programs' own settings. Nothing in them is secret.
constexpr const char* kSettings[] = {
    "/etc/ld.so.cache", "/etc/alternatives",    "/etc/ssl/certs",       "/etc/ssl/openssl.cnf",
    "/etc/services",    "/etc/protocols",       "/etc/fonts",           "/etc/R",
    "/etc/fpc.cfg",     "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/java-25-openjdk",
};
constexpr std::string_view kNames =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n";

// Where on the writable file system `path` is; empty where it is not on it.
std::string on_scratch_file_system(std::string_view path) {
  for (const ScratchPlace& place : kScratchPlaces) {
    if (sys::is_at_or_below(path, place.target)) {
      return std::string(place.name) + std::string(path.substr(place.target.size()));
    }
  }
  return {};
}

bool is_scratch_place(std::string_view path) {
  return std::any_of(kScratchPlaces.begin(), kScratchPlaces.end(),
                     [&](const ScratchPlace& place) { return place.target == path; });
}

tl::unexpected<sys::Error> failed(std::string_view verb, const std::string& path) {
  sys::Error error = sys::errno_error(verb);
  error.what.append(" '").append(path).append("'");
  return tl::unexpected(std::move(error));
}

// As the kernel writes lists of processors: 0-3,8.
std::string list_of(std::vector<unsigned> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (last > i) text += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text + "\n";
}

// A system directory that this host does not have, or not for its caller. Whatever else keeps us
// from seeing it is an error: a box without it would be another box than was asked for.
bool is_absence(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES;
}

// Empty for what is no link, or is not there.
sys::Result<std::string> link_target(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size >= 0) return std::string(target.data(), static_cast<std::size_t>(size));
  if (errno == EINVAL || is_absence(errno)) return std::string();
  return failed("read link", path);
}

}  // namespace

sys::Result<BoxLayout> BoxLayout::make(const LaunchRequest& request) {
  BoxLayout layout;
  layout.add_base(request);
  auto system = layout.add_cpus(request.cpus);
  if (system) system = layout.add_system_binds();
  if (!system) return tl::unexpected(system.error());
  layout.add_devices(request);
  std::vector<BindRequest> binds = request.binds;
  // Outer before inner, so that no bind covers another.
  std::stable_sort(binds.begin(), binds.end(),
                   [](const auto& a, const auto& b) { return a.target.size() < b.target.size(); });
  for (const BindRequest& bind : binds) {
    if (auto added = layout.add_bind(bind); !added) return tl::unexpected(added.error());
  }
  for (const FileRequest& file : request.files) {
    auto path = scratch_path(file.path);
    if (!path) return tl::unexpected(path.error());
    layout.make_parents(/*on_scratch=*/true, *path);
  }
  return layout;
}

sys::Result<std::string> BoxLayout::scratch_path(std::string_view path) {
  std::string inside = on_scratch_file_system(path);
  if (inside.empty() || is_scratch_place(path)) {
    return tl::unexpected(
        sys::plain_error("file '" + std::string(path) + "': not below /box or /run/wardcase"));
  }
  return inside;
}

void BoxLayout::add_base(const LaunchRequest& request) {
  for (const char* name :
       {"dev", "etc", "etc/ssl", "home", "opt", "proc", "run", "tmp", "usr", "var"}) {
    make_directory(/*on_scratch=*/false, name, 0755);
  }
  has_program_directory_ = std::any_of(
      request.files.begin(), request.files.end(),
      [](const FileRequest& file) { return sys::is_at_or_below(file.path, kProgramDirectory); });
  for (const ScratchPlace& place : kScratchPlaces) {
    if (place.target == kProgramDirectory && !has_program_directory_) continue;
    make_directory(/*on_scratch=*/true, std::string(place.name), place.mode);
    // make_scratch makes /box itself.
    if (place.target == kWorkDirectory) continue;
    make_directory(/*on_scratch=*/false, std::string(place.target.substr(1)), 0755);
  }
  make_directory(/*on_scratch=*/true, "none", 0555);  // covers directories of /proc
  symlinks_.emplace_back("/tmp", "var/tmp");
  symlinks_.emplace_back("/usr/lib/os-release", "etc/os-release");
  std::string resolver = "# the box has no network\n";
  if (request.network == policies::Network::host) {
    resolver = sys::read_file(AT_FDCWD, "/etc/resolv.conf").value_or("");
  }
  texts_ = {{"etc/passwd", std::string(kPasswd)}, {"etc/group", std::string(kGroup)},
            {"etc/hosts", std::string(kHosts)},   {"etc/nsswitch.conf", std::string(kNames)},
            {"etc/resolv.conf", resolver},        {"etc/hostname", "box\n"}};
}

// Its own processors are online, and the host's are possible: their numbers are the host's, and
// tables of one entry a processor are that long.
sys::Status BoxLayout::add_cpus(const std::vector<unsigned>& cpus) {
  if (cpus.empty()) return {};
  const std::string directory(kCpuDirectory);
  make_parents(/*on_scratch=*/false, directory);
  // Not to be listed: older C libraries count entries, if they can, and would find none.
  make_directory(/*on_scratch=*/false, directory, 0111);
  texts_.push_back({directory + "/online", list_of(cpus)});
  auto possible = sys::read_file(AT_FDCWD, ("/" + directory + "/possible").c_str());
  if (possible) {
    texts_.push_back({directory + "/possible", *std::move(possible)});
  } else if (!is_absence(possible.error().code)) {
    return tl::unexpected(std::move(possible).error());
  }
  return {};
}

sys::Status BoxLayout::add_system_bind(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) < 0) {
    if (is_absence(errno)) return {};
    return failed("look at", path);
  }
  LayoutBind entry{path, path, MountMode::read_only, LayoutKind::system, S_ISDIR(found.st_mode)};
  make_mount_point(entry);
  binds_.push_back(std::move(entry));
  return {};
}

// As the host has it: a link, where that leads to `below`, or else what is there.
sys::Status BoxLayout::add_system_link(const std::string& path, std::string_view below) {
  const auto target = link_target(path);
  if (!target) return tl::unexpected(target.error());
  if (target->empty() || !(below.empty() || sys::is_at_or_below(*target, below))) {
    return add_system_bind(path);
  }
  symlinks_.emplace_back(*target, path.substr(1));
  return {};
}

sys::Status BoxLayout::add_system_binds() {
  sys::Status added = add_system_bind("/usr");
  // With merged /usr these are links; without it they are trees of their own.
  for (const char* path : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    if (added) added = add_system_link(path, "");
  }
  for (const char* path : kSettings) {
    if (added) added = add_system_bind(path);
  }
  return added ? add_system_link("/etc/localtime", "/usr/share/zoneinfo") : added;
}

void BoxLayout::add_devices(const LaunchRequest& request) {
  std::vector<std::string_view> names = {"null", "zero", "full", "random", "urandom"};
  if (request.terminal) {
    names.emplace_back("tty");  // the opener's own: of no use without one
    make_directory(/*on_scratch=*/false, "dev/pts", 0755);
    symlinks_.emplace_back("pts/ptmx", "dev/ptmx");
  }
  for (const std::string_view name : names) {
    const std::string path = "/dev/" + std::string(name);
    // /dev/full reads the same, and has no mapping.
    const bool is_other = request.unmappable_zero && name == "zero";
    LayoutBind entry{is_other ? "/dev/full" : path, path, MountMode::read_only, LayoutKind::device,
                     /*is_directory=*/false};
    make_mount_point(entry);
    binds_.push_back(std::move(entry));
  }
  symlinks_.emplace_back("/proc/self/fd", "dev/fd");
  symlinks_.emplace_back("/proc/self/fd/0", "dev/stdin");
  symlinks_.emplace_back("/proc/self/fd/1", "dev/stdout");
  symlinks_.emplace_back("/proc/self/fd/2", "dev/stderr");
}

sys::Status BoxLayout::add_bind(const BindRequest& request) {
  const std::string& target = request.target;
  if (target.size() < 2 || target.front() != '/' || target.find("//") != std::string::npos) {
    return tl::unexpected(sys::plain_error("bind target '" + target + "': not a path in the box"));
  }
  for (const auto& [leads_to, link] : symlinks_) {
    const std::string path = "/" + link;
    if (!sys::is_at_or_below(target, path)) continue;
    const std::string real =
        leads_to.front() == '/' ? leads_to : path.substr(0, path.rfind('/') + 1) + leads_to;
    std::string what = "mount at '" + target + "': in the box '";
    what.append(path).append("' is a link; write '").append(real);
    what.append(target, path.size()).append("'");
    return tl::unexpected(sys::plain_error(what));
  }
  struct stat found = {};
  if (::stat(request.source.c_str(), &found) < 0) {
    return tl::unexpected(sys::errno_error("bind '" + request.source + "'"));
  }
  LayoutBind entry{request.source, target, request.mode,
                   request.kind == BindKind::user ? LayoutKind::user : LayoutKind::system,
                   S_ISDIR(found.st_mode)};
  entry.looked_at = request.looked_at;
  make_mount_point(entry);
  binds_.push_back(std::move(entry));
  return {};
}

// A mount point inside another bind must exist there: nothing is ever made in a
// bound directory. Elsewhere it is made.
void BoxLayout::make_mount_point(LayoutBind& bind) {
  const std::string inside = on_scratch_file_system(bind.target);
  bind.on_scratch = !inside.empty();
  if (is_scratch_place(bind.target)) return;  // stands there already
  for (const LayoutBind& outer : binds_) {
    if (outer.is_directory && sys::is_at_or_below(bind.target, outer.target)) return;
  }
  const std::string path = bind.on_scratch ? inside : bind.target.substr(1);
  for (const Text& text : texts_) {
    if (text.path == path && text.on_scratch == bind.on_scratch) return;  // one of our own files
  }
  make_parents(bind.on_scratch, path);
  if (bind.is_directory) {
    make_directory(bind.on_scratch, path, 0755);
  } else {
    texts_.push_back({path, "", bind.on_scratch});
  }
}

void BoxLayout::make_parents(bool on_scratch, std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    make_directory(on_scratch, std::string(path.substr(0, slash)), 0755);
  }
}

void BoxLayout::make_directory(bool on_scratch, const std::string& path, mode_t mode) {
  (on_scratch ? scratch_directories_ : root_directories_).try_emplace(path, mode);
}

void BoxLayout::put_into(PlanBuilder& plan) const {
  const auto directories = [&](const auto& paths) {
    std::vector<PlanDirectory> list;
    list.reserve(paths.size());
    for (const auto& [path, mode] : paths) list.push_back({plan.text(path), mode});
    return plan.list(list);
  };
  plan.header.root_directories = directories(root_directories_);
  plan.header.scratch_directories = directories(scratch_directories_);
  std::vector<PlanSymlink> links;
  for (const auto& [target, path] : symlinks_)
    links.push_back({plan.text(target), plan.text(path)});
  plan.header.symlinks = plan.list(links);
  std::vector<PlanText> texts;
  for (const Text& file : texts_) {
    texts.push_back({plan.text(file.path), plan.text(file.text),
                     static_cast<std::uint32_t>(file.text.size()), file.on_scratch ? 1U : 0U});
  }
  plan.header.texts = plan.list(texts);
  std::vector<PlanSubBind> subs;
  for (const ScratchPlace& place : kScratchPlaces) {
    if (place.target == kProgramDirectory && !has_program_directory_) continue;
    subs.push_back({plan.text(place.name), plan.text(place.target.substr(1))});
  }
  plan.header.sub_binds = plan.list(subs);
}

}  // namespace wardcase::sandbox

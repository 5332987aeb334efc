// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/environment_build.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sandbox/sys/files.h"
#include "sandbox/tree_removal.h"
#include "supervisor/config/installed.h"
#include "supervisor/languages/install_stage.h"

// An environment is made in a directory that only the build's owner knows (content_cache.h), and
// gets its name once the box that filled it is dead: whoever is killed on the way, wardcase or the
// box, leaves what never becomes an environment.
namespace wardcase::supervisor {
namespace {

using policies::Installer;

// In an entry of the cache; beside it nothing that a box could write to.
constexpr std::string_view kMade = "/made";
constexpr std::string_view kAbout = "/about";
constexpr std::chrono::milliseconds kCleanSlice{20};
constexpr std::size_t kLongestSaying = 300;

std::string environment_in(const std::string& entry) {
  return entry + std::string(kMade) + "/" + std::string(kMadeEnvironment);
}

std::string example_of(Installer installer) {
  return installer == Installer::npm
             ? "npm = [\"URL\"], the URL that `npm config get registry` tells"
             : "pip = [\"https://pypi.org/simple\", \"https://files.pythonhosted.org\"]";
}

std::string configuration_file() {
  return ::geteuid() == 0 ? "/etc/wardcase/wardcase.toml" : "~/.config/wardcase/wardcase.toml";
}

std::string key_of(Installer installer) {
  return "network.install." + std::string(policies::installer_name(installer));
}

PartFailure no_index(Installer installer) {
  return {.status = RunStatus::install_failed,
          .error = "requirements can't be installed: " + key_of(installer) + " is not set",
          .hint = "add to " + configuration_file() +
                  ", in [network.install]: " + example_of(installer)};
}

bool has_urls(const EnvironmentRequest& request) {
  const auto& urls = request.settings.urls_of(request.installer);
  return urls && !urls->value.empty();
}

bool has_links(const EnvironmentRequest& request) {
  return request.installer == Installer::pip && request.settings.find_links &&
         !request.settings.find_links->value.empty();
}

std::vector<policies::WebAddress> allowed_hosts(const EnvironmentRequest& request) {
  std::vector<policies::WebAddress> allowed;
  for (const std::string& url : request.settings.urls_of(request.installer)->value) {
    if (auto address = policies::parse_web_address(url)) allowed.push_back(*std::move(address));
  }
  return allowed;
}

// What gc tells of the entry.
sys::Status write_about(const EnvironmentRequest& request, const std::string& entry) {
  std::string text(policies::installer_name(request.installer));
  for (const Requirement& each : request.requirements) text += "\n" + each.text;
  text += "\n";
  const std::string path = entry + std::string(kAbout);
  const auto file = sys::open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (!file) return tl::unexpected(file.error());
  if (::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return {};
  }
  return tl::unexpected(sys::errno_error("write '" + path + "'"));
}

// The line by which the installer itself sums up; printable ASCII, "" where none stands out.
std::string saying_of(Installer installer, const std::string& err) {
  const std::string_view mark = installer == Installer::npm ? "npm err" : "ERROR: ";
  std::string found;
  for (std::size_t at = 0; at < err.size();) {
    const std::size_t end = std::min(err.find('\n', at), err.size());
    std::string line = err.substr(at, std::min(end - at, kLongestSaying));
    at = end + 1;
    std::string start = line.substr(0, mark.size());
    if (installer == Installer::npm) {
      std::ranges::transform(start, start.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
      if (line.find(" code E") != std::string::npos) continue;
    }
    if (start != mark) continue;
    found = std::move(line);
    if (installer == Installer::npm) break;  // the first of npm, the last of pip
  }
  std::ranges::replace_if(
      found, [](char c) { return c < ' ' || c > '~'; }, '?');
  return found;
}

std::string name_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// The limit of the installation that ended it, by its key.
std::string_view limit_hit(RunStatus status) {
  switch (status) {
    case RunStatus::timeout:
      return "timeout";
    case RunStatus::cpu_time:
      return "cpu_time";
    case RunStatus::idle:
      return "idle_timeout";
    case RunStatus::oom:
      return "memory";
    case RunStatus::disk_limit:
      return "disk";
    case RunStatus::output_limit:
      return "output";
    default:
      return "";
  }
}

}  // namespace

void EnvironmentBuild::start(EnvironmentRequest request, Done done) {
  request_ = std::move(request);
  done_ = std::move(done);
  if (!has_urls(request_) && !has_links(request_)) return fail(no_index(request_.installer));
  auto key = environment_key(request_);
  if (!key) return fail_setup(key.error());
  auto cache = ContentCache::open(std::string(kEnvironments));
  if (!cache) return fail_setup(cache.error());
  claim_ = std::make_unique<CacheClaim>(loop_, *std::move(cache), *std::move(key));
  claim_->start([this](sys::Result<CacheAnswer> answer) { on_answer(std::move(answer)); });
}

void EnvironmentBuild::stop(int signal) {
  if (stage_ != nullptr) return stage_->stop(signal);
  if (claim_ == nullptr || !claim_->is_waiting()) return;
  claim_.reset();
  fail({.status = RunStatus::stopped,
        .error = "stopped by " + signal_name(signal),
        .stop_signal = signal});
}

void EnvironmentBuild::on_answer(sys::Result<CacheAnswer> answer) {
  if (!answer) return fail_setup(answer.error());
  if (answer->entry) {
    StageRecord record;
    record.status = RunStatus::exited;
    record.exit_code = 0;
    record.cached = true;
    return use(*std::move(answer->entry), std::move(record));
  }
  build_.emplace(*std::move(answer->build));
  install();
}

void EnvironmentBuild::use(CacheEntry entry, std::optional<StageRecord> record) {
  const auto sound = check_environment(request_.installer, entry.path + std::string(kMade));
  if (!sound) return fail_setup(sys::Error(sound.error()).while_doing("'" + entry.path + "'"));
  EnvironmentOutcome outcome;
  outcome.directory = environment_in(entry.path);
  outcome.entry = std::move(entry);
  outcome.record = std::move(record);
  end(std::move(outcome));
}

void EnvironmentBuild::install() {
  const std::string made = build_->path() + std::string(kMade);
  if (::mkdir(build_->path().c_str(), 0755) < 0) {
    return fail_setup(sys::errno_error("make '" + build_->path() + "'"));
  }
  if (auto begun = begin_environment(request_, made); !begun) return fail_setup(begun.error());
  if (auto written = write_about(request_, build_->path()); !written) {
    return fail_setup(written.error());
  }
  std::string agent;
  sys::UniqueFd channel;
  if (has_urls(request_)) {
    auto found = find_installed("wardcase-agent");
    if (!found) return fail_setup(found.error());
    agent = *std::move(found);
    proxy_ = std::make_unique<InstallProxy>(loop_, allowed_hosts(request_));
    auto opened = proxy_->open();
    if (!opened) return fail_setup(opened.error());
    channel = *std::move(opened);
  }
  auto spec = install_spec(request_, made, static_cast<unsigned>(host_.cpus().size()), agent,
                           std::move(channel));
  if (!spec) {
    return fail({.status = RunStatus::install_failed, .error = spec.error().message()});
  }
  stage_ = std::make_unique<StageRun>(loop_, host_);
  stage_->start(*std::move(spec), nullptr,
                [this](const RunRecord& record) { on_installed(record); });
}

void EnvironmentBuild::on_installed(const RunRecord& record) {
  record_ = stage_record_of(record);
  if (!record.success()) return fail(why_failed(record));
  clean();
}

// What was only needed on the way, a slice at a time.
void EnvironmentBuild::clean() {
  const std::string path = build_->path() + std::string(kMade) + "/" + std::string(kMadeTemporary);
  const sys::UniqueFd tree = sandbox::open_tree(AT_FDCWD, path.c_str());
  if (tree.is_open()) {
    const auto removed = sandbox::remove_tree(path, tree.get(), Clock::now() + kCleanSlice);
    if (!removed) return fail_setup(removed.error());
    if (!*removed) return loop_.post([this] { clean(); });
  }
  finish_install();
}

void EnvironmentBuild::finish_install() {
  const auto sound = check_environment(request_.installer, build_->path() + std::string(kMade));
  if (!sound) {
    return fail({.status = RunStatus::install_failed, .error = sound.error().message()});
  }
  auto entry = build_->publish();
  if (!entry) return fail_setup(entry.error());
  use(*std::move(entry), std::move(record_));
}

PartFailure EnvironmentBuild::why_failed(const RunRecord& record) const {
  PartFailure failure = {.status = RunStatus::install_failed};
  const std::string installer(policies::installer_name(request_.installer));
  const std::string_view limit = limit_hit(record.status);
  const bool has_no_pip = request_.installer == Installer::pip && record.exit_code == kNoPip;
  if (record.status == RunStatus::stopped) {
    return {.status = RunStatus::stopped, .error = record.error, .stop_signal = record.stop_signal};
  }
  if (record.status == RunStatus::setup_failed || record.status == RunStatus::lost) {
    return {.status = record.status, .error = "install the requirements: " + record.error};
  }
  if (has_no_pip) {
    failure.error = "'" + request_.interpreter + "' has no pip";
    failure.hint = "install it (Debian: python3-pip)";
  } else if (!limit.empty()) {
    failure.error =
        "the installation of the requirements was ended by its limit install." + std::string(limit);
    failure.hint = "raise " + std::string(limit) + " in [install] of " + configuration_file();
  } else {
    const std::string saying = saying_of(request_.installer, record.err.text);
    failure.error =
        installer + " could not install the requirements" + (saying.empty() ? "" : ": " + saying);
  }
  if (proxy_ != nullptr && !proxy_->refused().empty()) {
    failure.error += "; refused on the way: " + name_list(proxy_->refused());
    failure.hint = "if the index needs it, add its URL to " + key_of(request_.installer) + " in " +
                   configuration_file();
  }
  return failure;
}

void EnvironmentBuild::fail(PartFailure failure) {
  EnvironmentOutcome outcome;
  outcome.record = std::move(record_);
  if (outcome.record && outcome.record->error.empty()) outcome.record->error = failure.error;
  outcome.failure = std::move(failure);
  end(std::move(outcome));
}

void EnvironmentBuild::fail_setup(const sys::Error& error) {
  fail(
      {.status = RunStatus::setup_failed, .error = "install the requirements: " + error.message()});
}

// What was built and not published goes, and the lock with it, before anybody hears of it.
void EnvironmentBuild::end(EnvironmentOutcome outcome) {
  build_.reset();
  proxy_.reset();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(outcome));
}

}  // namespace wardcase::supervisor

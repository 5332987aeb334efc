// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/run/run.h"

#include <signal.h>

#include "sandbox/input_wait.h"
#include "sandbox/live_mount.h"
#include "sandbox/sys/random.h"
#include "supervisor/run/run_state.h"

namespace wardcase::supervisor {

Run::Run(EventLoop& loop, Host& host) : impl_(std::make_unique<Impl>(loop, host)) {}
Run::~Run() = default;

void Run::start(RunSpec spec, RunObserver& observer) { impl_->start(std::move(spec), observer); }
void Run::stop(int signal) { impl_->stop(signal); }
void Run::set_frozen(bool frozen) { impl_->set_frozen(frozen); }
void Run::resize_terminal(const winsize& size) { impl_->resize_terminal(size); }
std::vector<TimedStep> Run::timing() const { return impl_->timing(); }

BoxUsage Run::usage() {
  BoxUsage usage;
  usage.cpu = impl_->cpu_used();
  usage.memory_peak_bytes = impl_->peak_tree_bytes;
  usage.processes_peak = impl_->peak_tree_threads;
  if (impl_->made.cgroup == nullptr) return usage;
  const sandbox::CgroupUsage counted = impl_->made.cgroup->read_usage();
  if (counted.memory_peak_bytes) usage.memory_peak_bytes = counted.memory_peak_bytes;
  if (counted.processes_peak) usage.processes_peak = counted.processes_peak;
  usage.oom_kills = counted.oom_kills;
  return usage;
}

std::optional<std::vector<DeniedCall>> Run::denied_calls() const {
  if (!impl_->refused) return std::nullopt;
  return impl_->refused->calls();
}

int Run::box_directory() const { return impl_->work_directory(); }

std::optional<bool> Run::is_waiting_for_input() const {
  const int sink = impl_->stdin_pump != nullptr ? impl_->stdin_pump->idle_sink() : -1;
  if (sink < 0) return false;
  return sandbox::is_input_awaited(impl_->box.init, sink);
}

std::uint64_t Run::input_bytes() const {
  return impl_->stdin_pump != nullptr ? impl_->stdin_pump->passed() : 0;
}

sandbox::ProcessTree Run::processes() const { return impl_->tree(); }
pid_t Run::init() const { return impl_->box.init; }
const RunRecord& Run::record_so_far() const { return impl_->record; }
void Run::tell_output(RunRecord& record) const { impl_->transcript.tell(record); }

BoxUser Run::user() const {
  const sandbox::BoxIds& ids = impl_->made.request.ids;
  return {ids.host_uid, ids.host_gid};
}

sys::Status Run::show_directory(const std::string& directory, const std::string& place) {
  return sandbox::show_in_box(impl_->program_pidfd.get(), impl_->made.request.ids, directory,
                              place);
}

void Run::pause_output(Stream stream) {
  if (auto& pump = impl_->pumps[static_cast<std::size_t>(stream)]; pump) pump->pause();
}

void Run::resume_output(Stream stream) {
  if (auto& pump = impl_->pumps[static_cast<std::size_t>(stream)]; pump) pump->resume();
}

void Run::Impl::start(RunSpec its_spec, RunObserver& its_observer) {
  WARDCASE_CHECK(observer == nullptr);  // one Run, one run
  spec = std::move(its_spec);
  observer = &its_observer;
  if (spec.id.empty()) spec.id = make_id("run_");
  record.id = spec.id;
  record.language = spec.language;
  record.limits = spec.limits;
  started_at = Clock::now();
  loop.post([this] { begin(); });
}

void Run::Impl::stop(int signal) {
  if (phase == Phase::over || observer == nullptr) return;
  if (phase == Phase::terminating) {
    kill_tree();  // asked twice: no more patience
    return;
  }
  if (!has_cause) record.stop_signal = signal;
  terminate(RunStatus::stopped, "stopped by " + signal_name(signal));
}

// Where no control group can hold still all of it, the program's own group is stopped.
void Run::Impl::set_frozen(bool frozen) {
  if (phase != Phase::running && phase != Phase::terminating) return;
  is_frozen = frozen;
  if (made.cgroup != nullptr && made.cgroup->set_frozen(frozen)) return;
  signal_group(frozen ? SIGSTOP : SIGCONT);
}

// Before the terminal is there the size is kept for it.
void Run::Impl::resize_terminal(const winsize& size) {
  spec.terminal = size;
  if (terminal.is_open()) (void)::ioctl(terminal.get(), TIOCSWINSZ, &size);
}

std::string make_id(std::string_view prefix) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr int kLength = 26;  // 26 x 5 bits hold 128
  std::array<unsigned char, kLength> random = {};
  // Ids and locks bear this name: none at all is better than one that another has.
  WARDCASE_CHECK(sys::draw_random(random.data(), random.size()));
  std::string id(prefix);
  for (const unsigned char byte : random) id += kDigits[byte % kDigits.size()];
  return id;
}

}  // namespace wardcase::supervisor

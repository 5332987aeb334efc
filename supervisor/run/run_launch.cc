// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstdlib>

#include "sandbox/sys/files.h"
#include "supervisor/run/run_state.h"
#include "supervisor/run/setup_failure.h"

// From the asking to the confirmed exec. The setup socket tells all of it: the
// /box directory, the program's pidfd, `ready`, or the step that failed; its end of file after
// `ready` is the exec, or a death that init reports right after.
namespace wardcase::supervisor {
namespace {

using sandbox::SetupMessage;
using sandbox::SetupStep;

// Mounts on slow file systems must not hold us for ever.
constexpr std::chrono::seconds kSetupDeadline{10};

// The host's pid of a pidfd: pidfd_open(2), /proc/self/fdinfo.
pid_t pid_of(int pidfd) {
  const auto text =
      sys::read_file(AT_FDCWD, ("/proc/self/fdinfo/" + std::to_string(pidfd)).c_str());
  if (!text) return -1;
  const std::size_t at = text->find("\nPid:");
  return at == std::string::npos ? -1 : std::atoi(text->c_str() + at + 5);
}

}  // namespace

void Run::Impl::begin() {
  if (has_cause) return;  // stopped before it began
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return fail_before_launch(RunStatus::invalid_request, "no program is named");
  }
  if (spec.encoding_fallback) {
    auto opened = EncodingFallback::open(*spec.encoding_fallback);
    if (!opened) {
      return fail_before_launch(RunStatus::invalid_request,
                                "--encoding-fallback " + opened.error().message());
    }
    fallback.emplace(*std::move(opened));
  }
  const auto prepared = prepare(spec, host, made);
  record.limits = made.limits;
  record.enforced_by = made.enforced_by;
  record.isolation = made.isolation;
  if (!prepared) return fail_before_launch(RunStatus::setup_failed, prepared.error().message());
  marks.push_back({"prepared", Clock::now()});
  measure_workspaces([this] { launch_box(); });
}

void Run::Impl::launch_box() {
  open_workspace();
  auto launched = sandbox::launch(made.request, &marks);
  if (!launched) {
    return fail_before_launch(RunStatus::setup_failed, describe_launch_failure(launched.error()));
  }
  box = *std::move(launched);
  if (!made.request.has_namespaces())
    box_proc.reset(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (made.cgroup != nullptr) {
    made.cgroup->close_tasks();
    if (made.cgroup->clone_into_fd() >= 0 && !box.joined_cgroup_at_birth) {
      record.isolation.degraded.push_back(
          {"clone_into_cgroup", "the kernel or a filter around us refuses it",
           "the child joins its control group by itself, before anything else",
           "allow clone3 in the filter around wardcase"});
    }
  }
  spec.channel.reset();  // whoever has the other end is to see it closed with the box
  // The descriptors of files and stdin were the box's to copy; the pump takes stdin itself.
  watch_box();
  host.sweep();  // while the child makes the box
}

void Run::Impl::watch_box() {
  deadline = loop.at(Clock::now() + kSetupDeadline, [this] {
    set_cause(RunStatus::setup_failed, "set up the box: not done after 10 s");
    kill_tree();
  });
  if (spec.capture != Capture::count) {
    transcript.keep(limit(policies::LimitId::capture), fallback ? &*fallback : nullptr);
  }
  auto watched = loop.watch(box.setup.get(), EPOLLIN, [this](std::uint32_t) { drain_setup(); });
  if (watched) {
    watched = loop.watch(box.life.get(), EPOLLIN, [this](std::uint32_t) { drain_life(); });
  }
  if (watched) {
    watched = loop.watch(box.init_pidfd.get(), EPOLLIN, [this](std::uint32_t) { on_init_gone(); });
  }
  if (watched && made.cgroup != nullptr && made.cgroup->oom_fd() >= 0) {
    watched = loop.watch(made.cgroup->oom_fd(), made.cgroup->oom_epoll_events(),
                         [this](std::uint32_t) { check_memory_event(); });
  }
  if (!watched) {
    return fail_before_launch(RunStatus::setup_failed, watched.error().message());
  }
  if (spec.terminal) return;  // the child sends it
  open_pump(Stream::out, std::move(box.stdout_read));
  if (!spec.merge_stderr) open_pump(Stream::err, std::move(box.stderr_read));
  if (box.stdin_write.is_open()) open_stdin(std::move(box.stdin_write));
}

void Run::Impl::open_stdin(sys::UniqueFd sink) {
  auto pump =
      StdinPump::open(loop, std::move(spec.stdin_source), std::move(sink), [this](int error) {
        if (!has_cause) lose_track("pass stdin on", error);
      });
  if (!pump) return lose_track("pass stdin on: " + pump.error().what, pump.error().code);
  stdin_pump = *std::move(pump);
}

// Each pump watches a descriptor of its own. With the other end open in here, too,
// the master reports no end of file while the program can still open /dev/tty.
void Run::Impl::open_terminal(sys::UniqueFd master) {
  terminal = std::move(master);
  terminal_peer.reset(::ioctl(terminal.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  sys::UniqueFd output(::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 0));
  sys::UniqueFd input(::fcntl(terminal.get(), F_DUPFD_CLOEXEC, 0));
  if (!terminal_peer.is_open() || !output.is_open() || !input.is_open()) {
    return lose_track("open the terminal", errno);
  }
  resize_terminal(*spec.terminal);  // it may have changed since the launch
  open_pump(Stream::out, std::move(output));
  if (spec.stdin_source.is_open()) open_stdin(std::move(input));
}

void Run::Impl::open_pump(Stream stream, sys::UniqueFd source) {
  std::unique_ptr<OutputPump>& pump = pumps[static_cast<std::size_t>(stream)];
  pump = std::make_unique<OutputPump>(
      loop, [this, stream](std::string_view bytes) { on_output(stream, bytes); },
      [this, stream](int error) { on_output_broken(stream, error); });
  auto opened = pump->open(std::move(source));
  if (!opened) lose_track(opened.error().what, opened.error().code);
}

void Run::Impl::drain_setup() {
  while (box.setup.is_open()) {
    ReceivedMessage received;
    switch (receive_message(box.setup.get(), received)) {
      case ChannelState::nothing_yet:
        return;
      case ChannelState::closed:
        loop.forget(box.setup.get());
        box.setup.reset();
        if (is_ready && !has_cause) confirm_exec();
        return;
      case ChannelState::broken:
        loop.forget(box.setup.get());  // what else was said is looked at once the box is gone
        if (has_lost_track) return;
        is_ready = is_ready || received.message.kind == SetupMessage::Kind::ready;
        return lose_track("hear how far the box is", received.error);
      case ChannelState::message:
        on_setup_message(received);
        break;
    }
  }
}

void Run::Impl::on_setup_message(ReceivedMessage& received) {
  switch (received.message.kind) {
    case SetupMessage::Kind::terminal:
      open_terminal(std::move(received.descriptor));
      break;
    case SetupMessage::Kind::box_directory:
      box_directory = std::move(received.descriptor);
      break;
    case SetupMessage::Kind::proc:
      box_proc = std::move(received.descriptor);
      break;
    case SetupMessage::Kind::program:
      program_pidfd = std::move(received.descriptor);
      program = pid_of(program_pidfd.get());
      take_timing(received.message, "child");
      if (received.message.root_by_chroot) {
        record.isolation.degraded.push_back(
            {"pivot_root", "the host's root file system can't be pivoted away", "chroot", ""});
      }
      break;
    case SetupMessage::Kind::ready:
      is_ready = true;
      watch_refusals(received);
      take_timing(received.message, "program");
      break;
    case SetupMessage::Kind::failed:
      on_setup_failed(received.message);
      break;
    case SetupMessage::Kind::program_ended:
      break;  // only life carries it
  }
}

void Run::Impl::on_setup_failed(const SetupMessage& message) {
  if (message.step == SetupStep::exec) {
    const std::string_view name = spec.program_names.empty() ? std::string_view(spec.argv.front())
                                                             : spec.program_names.front();
    ExecFailure failure = describe_exec_failure(message.error, name, made.request.exec_paths);
    set_cause(RunStatus::cannot_execute, std::move(failure.error));
    if (record.status == RunStatus::cannot_execute) record.exit_code = failure.exit_code;
  } else if (message.step == SetupStep::await_go && message.error == ECANCELED &&
             box.release_error) {
    set_cause(RunStatus::setup_failed, describe_launch_failure(*box.release_error));
  } else {
    set_cause(RunStatus::setup_failed,
              describe_setup_failure(message.step, message.error, box.text(message.object)));
  }
  kill_tree();
}

void Run::Impl::confirm_exec() {
  if (spec.rehearsal) {
    set_cause(RunStatus::exited, "");
    signal_group(SIGKILL);  // before init, with whose end it would be let go
    return kill_tree();
  }
  is_exec_confirmed = true;
  exec_at = Clock::now();
  last_output_at = exec_at;
  record.setup = std::chrono::duration_cast<std::chrono::microseconds>(exec_at - started_at);
  phase = Phase::running;
  arm_limits();
  observer->on_start(spec.id);
}

void Run::Impl::take_timing(const SetupMessage& message, std::string_view who) {
  Lane lane{who, {}};
  std::copy(std::begin(message.done_at), std::end(message.done_at), lane.done_at.begin());
  lanes.push_back(lane);
}

std::vector<TimedStep> Run::Impl::timing() const {
  std::vector<TimedStep> steps;
  const auto since = [&](Clock::time_point at) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(at - started_at);
  };
  for (const sandbox::LaunchMark& mark : marks) {
    steps.push_back({"supervisor", mark.name, since(mark.at)});
  }
  for (const Lane& lane : lanes) {
    for (std::size_t i = 0; i < lane.done_at.size(); ++i) {
      const auto step = static_cast<SetupStep>(i);
      // The program's lane begins as a copy of the child's.
      const bool inherited = lane.who == "program" && step <= SetupStep::fork_program;
      if (lane.done_at[i] == 0 || inherited) continue;
      steps.push_back({lane.who, sandbox::step_name(step),
                       since(Clock::time_point(std::chrono::nanoseconds(lane.done_at[i])))});
    }
  }
  if (is_exec_confirmed) steps.push_back({"supervisor", "exec_confirmed", since(exec_at)});
  return steps;
}

}  // namespace wardcase::supervisor

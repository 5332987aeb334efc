// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/run_output.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "supervisor/cli/hints.h"
#include "supervisor/run/refused_calls.h"

namespace wardcase::supervisor {

namespace {

constexpr std::chrono::milliseconds kInputPause{100};

std::size_t index_of(Stream stream) { return static_cast<std::size_t>(stream); }

// Of chunks only the end is kept, so that a flood costs nothing.
void keep_tail(std::string& tail, std::string_view bytes) {
  if (bytes.size() > kHintTailBytes) bytes.remove_prefix(bytes.size() - kHintTailBytes);
  tail += bytes;
  if (tail.size() > 4 * kHintTailBytes) tail.erase(0, tail.size() - kHintTailBytes);
}

}  // namespace

RunOutput::RunOutput(EventLoop& loop, JobRun& run, const RunOptions& options)
    : loop_(loop), run_(run), options_(options) {}

sys::Status RunOutput::open() {
  if (options_.saved_output) {
    auto saved = SavedOutput::create(*options_.saved_output);
    if (!saved) return tl::unexpected(std::move(saved).error().while_doing("--save-output"));
    saved_output_.emplace(*std::move(saved));
  }
  switch (options_.mode) {
    case OutputMode::pass_through:
      for (const Stream stream : {Stream::out, Stream::err}) {
        const bool is_out = stream == Stream::out;
        auto outlet = add_outlet(is_out ? STDOUT_FILENO : STDERR_FILENO, {is_out, !is_out});
        if (!outlet) return tl::unexpected(std::move(outlet).error());
        plain_[index_of(stream)] = *outlet;
      }
      break;
    case OutputMode::json: {
      auto outlet = add_outlet(STDOUT_FILENO, {});
      if (!outlet) return tl::unexpected(std::move(outlet).error());
      json_ = *outlet;
      break;
    }
    case OutputMode::events:
      if (auto added = add_event_stream(STDOUT_FILENO); !added) return added;
      break;
  }
  return options_.status_fd ? add_event_stream(*options_.status_fd) : sys::Status();
}

sys::Result<RunOutput::Outlet*> RunOutput::add_outlet(int fd, std::array<bool, 2> carries) {
  auto outlet = std::make_unique<Outlet>();
  outlet->carries = carries;
  Outlet& it = *outlet;
  auto writer = HostWriter::open(loop_, fd,
                                 {.on_blocked = [this, &it] { on_blocked(it); },
                                  .on_drained = [this, &it] { on_drained(it); },
                                  .on_broken = [this, &it](int error) { on_broken(it, error); }});
  if (!writer) {
    return tl::unexpected(
        std::move(writer).error().while_doing("write to descriptor " + std::to_string(fd)));
  }
  it.writer = *std::move(writer);
  outlets_.push_back(std::move(outlet));
  return &it;
}

sys::Status RunOutput::add_event_stream(int fd) {
  auto outlet = add_outlet(fd, {true, true});
  if (!outlet) return tl::unexpected(std::move(outlet).error());
  HostWriter& writer = *(*outlet)->writer;
  events_.emplace_back([&writer](std::string_view line) { writer.write(line); }, options_.form);
  return {};
}

void RunOutput::on_start(std::string_view run_id) {
  for (EventStream& events : events_) events.on_start(run_id);
  run_id_ = run_id;
  if (options_.pass_stdin && !events_.empty()) watch_input();
}

// The kernel tells who waits, not when he begins to: so we ask, and tell it once for each input.
void RunOutput::watch_input() {
  const bool waits = run_.is_waiting_for_input().value_or(false);
  if (waits && waiting_since_ != run_.input_bytes()) {
    waiting_since_ = run_.input_bytes();
    for (EventStream& events : events_) {
      events.on_event("waiting_for_input", "\"id\":\"" + run_id_ + '"');
    }
  }
  input_timer_ = loop_.at(Clock::now() + kInputPause, [this] { watch_input(); });
}

void RunOutput::on_output(Stream stream, std::string_view bytes) {
  // It is a checker's, in its own words; the record has them, and what they come to.
  if (options_.source.validation == Validation::alone) return;
  if (Outlet* plain = plain_[index_of(stream)]) plain->writer->write(bytes);
  for (EventStream& events : events_) events.on_output(stream, bytes);
  if (saved_output_) saved_output_->write(stream, bytes);
  const bool are_errors = stream == Stream::err || options_.merge_stderr || options_.terminal;
  if (are_errors) keep_tail(error_tail_, bytes);
}

void RunOutput::on_end(const RunRecord& record) {
  loop_.cancel(input_timer_);
  record_ = record;
  // We know more than the library: what there is on the host.
  const bool is_refusal = !record.hint.empty() && record.hint == hint_of_refusal(record);
  if (record.status == RunStatus::exited && !record.success() && !is_refusal) {
    std::string hint = find_hint(scene_of(options_, record, error_tail_));
    if (!hint.empty()) record_->hint = std::move(hint);
  }
  if (record_->hint.empty()) record_->hint = record.left_out;
  if (saved_output_) saved_ = saved_output_->status();
  if (saved_ && !record.not_brought.empty()) {
    saved_ = tl::unexpected(sys::plain_error("--out: " + record.not_brought));
  }
  if (options_.meta && saved_) saved_ = write_meta(*options_.meta, *record_);
  for (EventStream& events : events_) events.on_end(*record_);
  if (json_ != nullptr) json_->writer->write(to_json(*record_, options_.form) + "\n");
  for (const auto& outlet : outlets_) {
    outlet->finishing = true;
    outlet->writer->finish();
  }
  // Who stops us wants an end: readers that do not read are waited for once more
  // as long as the program was.
  if (record.status != RunStatus::stopped) return;
  loop_.at(Clock::now() + record.limits.grace(), [this] {
    has_given_up_ = true;
    loop_.stop();
  });
}

void RunOutput::on_blocked(Outlet& outlet) {
  outlet.blocked = true;
  control_flow();
}

void RunOutput::on_drained(Outlet& outlet) {
  outlet.blocked = false;
  if (outlet.finishing) {
    stop_when_flushed(outlet);
  } else {
    control_flow();
  }
}

void RunOutput::on_broken(Outlet& outlet, int error) {
  if (write_error_ == 0) write_error_ = error;
  outlet.blocked = false;
  if (outlet.finishing) {
    stop_when_flushed(outlet);
  } else if (!record_) {
    control_flow();
    run_.stop(SIGPIPE);
  }
}

// A stream waits for the slowest of those who read it.
void RunOutput::control_flow() {
  for (const Stream stream : {Stream::out, Stream::err}) {
    const std::size_t i = index_of(stream);
    const bool wants_pause = std::ranges::any_of(
        outlets_, [&](const auto& outlet) { return outlet->blocked && outlet->carries[i]; });
    if (wants_pause == paused_[i]) continue;
    paused_[i] = wants_pause;
    if (wants_pause) {
      run_.pause_output(stream);
    } else {
      run_.resume_output(stream);
    }
  }
}

void RunOutput::stop_when_flushed(Outlet& outlet) {
  outlet.flushed = true;
  const auto is_flushed = [](const auto& other) { return other->flushed; };
  if (std::ranges::all_of(outlets_, is_flushed)) loop_.stop();
}

}  // namespace wardcase::supervisor

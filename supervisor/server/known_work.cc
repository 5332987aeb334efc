// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/known_work.h"

#include <algorithm>
#include <utility>

namespace wardcase::supervisor {

std::string_view work_state_name(WorkState state) {
  switch (state) {
    case WorkState::queued:
      return "queued";
    case WorkState::running:
      return "running";
    case WorkState::ended:
      break;
  }
  return "ended";
}

KnownWork::KnownWork(EventLoop& loop, RunTerms terms, std::size_t most_bytes_of_log)
    : loop_(loop),
      terms_(std::move(terms)),
      log_(terms_.form, most_bytes_of_log),
      created_(std::chrono::system_clock::now()),
      asked_at_(Clock::now()) {}

KnownWork::~KnownWork() { loop_.cancel(deadline_); }

void KnownWork::watch_deadline(std::function<void()> passed) {
  if (!terms_.deadline || state_ == WorkState::ended) return;
  deadline_ = loop_.at(asked_at_ + *terms_.deadline, [this, passed = std::move(passed)] {
    deadline_ = 0;
    passed();
  });
}

std::chrono::microseconds KnownWork::since_asked() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - asked_at_);
}

void KnownWork::note_end() {
  loop_.cancel(std::exchange(deadline_, 0));
  state_ = WorkState::ended;
  ended_at_ = Clock::now();
}

// Any of them may go while another is told.
void KnownWork::tell() {
  const std::vector<WorkReader*> readers = readers_;
  for (WorkReader* const reader : readers) {
    if (std::ranges::find(readers_, reader) == readers_.end()) continue;
    const auto more = reader->more_;  // a copy: it may destroy the reader
    more();
  }
}

void KnownWork::leave(WorkReader& reader) {
  std::erase(readers_, &reader);
  if (state_ == WorkState::ended) return;
  settle_pace();
  if (reader.bond_ == WorkReader::Bond::none || terms_.is_detached) return;
  const bool is_awaited = std::ranges::any_of(
      readers_, [](const WorkReader* each) { return each->bond_ != WorkReader::Bond::none; });
  if (is_awaited) return;
  is_abandoned_ = true;
  stop();
}

std::size_t KnownWork::bytes_behind() const {
  std::size_t behind = 0;
  for (const WorkReader* const reader : readers_) {
    if (reader->bond_ != WorkReader::Bond::reads) continue;
    behind = std::max(behind, log_.bytes_after(reader->position_));
  }
  return behind;
}

WorkReader::WorkReader(KnownWork& work, std::uint64_t after, Bond bond, std::function<void()> more)
    : work_(work), position_(after), bond_(bond), more_(std::move(more)) {
  // Its numbers begin anew: whoever had followed it would wait for one that never comes.
  if (work.status_text() == status_name(RunStatus::lost)) position_ = 0;
  work_.readers_.push_back(this);
}

WorkReader::~WorkReader() { work_.leave(*this); }

std::optional<std::string> WorkReader::next() {
  const RunLog& log = work_.log();
  if (position_ >= log.newest()) return std::nullopt;
  if (position_ + 1 < log.oldest()) {
    const std::uint64_t missing = log.oldest() - 1 - position_;
    position_ = log.oldest() - 1;
    return "{\"seq\":" + std::to_string(position_) +
           ",\"type\":\"progress\",\"dropped\":" + std::to_string(missing) + ",\"message\":\"" +
           std::to_string(missing) + " events are not kept any more\"}\n";
  }
  std::string line(log.line(++position_));
  work_.settle_pace();
  return line;
}

bool WorkReader::is_over() const {
  return work_.state() == WorkState::ended && position_ >= work_.log().newest();
}

}  // namespace wardcase::supervisor

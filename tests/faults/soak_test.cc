// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Many runs, eight at a time, that end in all ways: each result is right and comes once, and
// neither memory nor descriptors grow.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "tests/faults/effort.h"
#include "tests/faults/mixed_runs.h"
#include "tests/support/in_process_run.h"
#include "tests/support/observed_run.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;
using supervisor::EventLoop;
using supervisor::Host;
using supervisor::Run;

using Soak = WithCaller;
WARDCASE_AS_ROOT_AND_USER(Soak);

constexpr std::size_t kAtOnce = 8;
constexpr std::size_t kWarm = 100;
constexpr std::size_t kMostGrowth = 1 << 20;

std::size_t resident_bytes() {
  std::istringstream sizes(read_file("/proc/self/statm"));
  std::size_t all = 0;
  std::size_t resident = 0;
  sizes >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t open_descriptors() {
  std::error_code error;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd", error), fs::directory_iterator()));
}

supervisor::RunSpec spec_of_run(const MixedRun& run) {
  std::vector<std::string> argv = {"/box/ending"};
  argv.insert(argv.end(), run.arguments.begin(), run.arguments.end());
  supervisor::RunSpec spec = spec_of(std::move(argv));
  const std::string program = Workplace::get().program("ending").string();
  spec.files.push_back({"/box/ending", sys::UniqueFd(::open(program.c_str(), O_RDONLY | O_CLOEXEC)), 0755});
  for (const auto& [limit, value] : run.limits) spec.limits.require(limit, value);
  return spec;
}

// Eight places on one loop, each with one run after another.
class Series {
 public:
  Series(EventLoop& loop, std::size_t count) : loop_(loop), count_(count) {}

  // Returns what went wrong, the first few of it.
  std::string run() {
    for (std::size_t i = 0; i < kAtOnce; ++i) begin(places_[i]);
    if (!loop_.run()) return "the loop failed";
    if (ended_ != count_) wrong_ += std::to_string(ended_) + " results\n";
    return wrong_.substr(0, 4000);
  }
  [[nodiscard]] std::size_t warm_bytes() const { return warm_bytes_; }

 private:
  struct Place {
    MixedRun expected;
    std::unique_ptr<Remembered> told;
    std::unique_ptr<Run> run;
  };

  void begin(Place& place) {
    if (started_ == count_) return;
    place.expected = mixed_run(started_++);
    place.told = std::make_unique<Remembered>([this, &place] { loop_.post([this, &place] { end(place); }); });
    place.run = std::make_unique<Run>(loop_, host_);
    place.run->start(spec_of_run(place.expected), *place.told);
  }

  void end(Place& place) {
    std::string wrong = compare(place.expected, place.told->record, place.told->output);
    if (place.told->ends != 1) wrong += "told " + std::to_string(place.told->ends) + " times";
    if (!wrong.empty()) {
      for (const std::string& argument : place.expected.arguments) wrong_ += argument + " ";
      wrong_ += "(" + std::to_string(ended_) + "): " + wrong + "\n";
    }
    place.run.reset();
    if (++ended_ == kWarm) warm_bytes_ = resident_bytes();
    if (ended_ == count_) return loop_.stop();
    begin(place);
  }

  EventLoop& loop_;
  Host host_;
  std::size_t count_;
  std::size_t started_ = 0;
  std::size_t ended_ = 0;
  std::size_t warm_bytes_ = 0;
  std::string wrong_;
  std::array<Place, kAtOnce> places_;
};

std::string soak(std::size_t count) {
  auto loop = EventLoop::create();
  if (!loop) return "no loop";
  const std::size_t descriptors = open_descriptors();
  std::size_t grown = 0;
  std::string wrong;
  {
    Series series(*loop, count);
    wrong = series.run();
    const std::size_t now = resident_bytes();
    grown = now - std::min(now, series.warm_bytes());
  }
  std::ostringstream told;
  told << count << " runs, grown by " << grown / 1024 << " KiB since run " << kWarm << "\n";
  (void)!::write(STDOUT_FILENO, told.str().data(), told.str().size());
  if (grown > kMostGrowth) wrong += "memory has grown by " + std::to_string(grown) + "\n";
  if (open_descriptors() != descriptors) wrong += "descriptors are left\n";
  return wrong;
}

TEST_P(Soak, EachOfManyRunsOfOneProcessHasItsOwnRightResultOnce) {
  EXPECT_EQ(check_as(caller(), [] { return soak(Effort::get().runs()); }), "");
}

TEST_P(Soak, SoHasEachOfManyCommandsAtOnce) {
  std::deque<std::pair<MixedRun, Running>> running;
  const std::size_t count = Effort::get().runs() / 10;
  for (std::size_t started = 0; started < count || !running.empty();) {
    if (started < count && running.size() < kAtOnce) {
      const MixedRun run = mixed_run(started++);
      std::vector<std::string> words;
      if (!run.flag.empty()) words.push_back(run.flag);
      words.push_back(Workplace::get().program("ending").string());
      words.insert(words.end(), run.arguments.begin(), run.arguments.end());
      running.emplace_back(run, run_command(words).start());
      continue;
    }
    const Outcome outcome = running.front().second.finish();
    EXPECT_EQ(outcome.exit_code, exit_code_of(running.front().first)) << outcome;
    EXPECT_EQ(outcome.out(), running.front().first.output);
    running.pop_front();
  }
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Many runs, eight at a time, that end in all ways: each result is right and comes once, and
// neither memory nor descriptors grow.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
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
  spec.files.push_back(
      {"/box/ending", sys::UniqueFd(::open(program.c_str(), O_RDONLY | O_CLOEXEC)), 0755});
  for (const auto& [limit, value] : run.limits) spec.limits.require(limit, value);
  return spec;
}

// Eight places on one loop, each with one run after another.
class Series {
 public:
  explicit Series(EventLoop& loop) : loop_(loop) {}

  // Goes on up to this number of runs, and ends with none under way.
  void run_up_to(std::size_t count) {
    count_ = count;
    for (Place& place : places_) begin(place);
    if (!loop_.run()) wrong_ += "the loop failed\n";
    if (ended_ != count) wrong_ += std::to_string(ended_) + " results\n";
    for (Place& place : places_) place = {};
  }
  [[nodiscard]] std::string wrong() const { return wrong_.substr(0, kEnough); }

 private:
  static constexpr std::size_t kEnough = 4000;
  struct Place {
    MixedRun expected;
    std::unique_ptr<Remembered> told;
    std::unique_ptr<Run> run;
  };

  void begin(Place& place) {
    if (started_ == count_) return;
    place.expected = mixed_run(started_++);
    place.told = std::make_unique<Remembered>(
        [this, &place] { loop_.post([this, &place] { end(place); }); });
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
    if (++ended_ == count_) return loop_.stop();
    begin(place);
  }

  EventLoop& loop_;
  Host host_;
  std::size_t count_ = 0;
  std::size_t started_ = 0;
  std::size_t ended_ = 0;
  std::string wrong_;
  std::array<Place, kAtOnce> places_;
};

// What is in use, and not what malloc keeps for the next request.
std::size_t resident_bytes() {
  (void)::malloc_trim(0);
  std::istringstream sizes(read_file("/proc/self/statm"));
  std::size_t all = 0;
  std::size_t resident = 0;
  sizes >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string soak(std::size_t count) {
  auto loop = EventLoop::create();
  if (!loop) return "no loop";
  const std::size_t descriptors = open_descriptors();
  std::string wrong;
  std::size_t before = 0;
  std::size_t after = 0;
  {
    Series series(*loop);
    series.run_up_to(kWarm);
    before = resident_bytes();
    series.run_up_to(count);
    after = resident_bytes();
    wrong = series.wrong();
  }
  const std::size_t grown = after - std::min(before, after);
  const std::string told = std::to_string(count) + " runs; resident after run " +
                           std::to_string(kWarm) + ": " + std::to_string(before / 1024) +
                           " KiB, after the last: " + std::to_string(after / 1024) + " KiB\n";
  (void)!::write(STDOUT_FILENO, told.data(), told.size());
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

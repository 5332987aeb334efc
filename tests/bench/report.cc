// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/bench/report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <fstream>
#include <iomanip>
#include <ostream>

#include "tests/bench/statistics.h"

namespace wardcase::bench {
namespace {

namespace json = boost::json;

json::object describe_host() {
  utsname name = {};
  (void)::uname(&name);  // cannot fail with a valid pointer
  return {{"kernel", name.release},
          {"machine", name.machine},
          {"cpus", ::sysconf(_SC_NPROCESSORS_ONLN)}};
}

json::object to_json(const Case& one) {
  return {{"program", one.program},
          {"launcher", one.launcher},
          {"runs", one.wall_ms.size()},
          {"failures", one.failures},
          {"median_ms", median(one.wall_ms)},
          {"p10_ms", quantile(one.wall_ms, 0.10)},
          {"p90_ms", quantile(one.wall_ms, 0.90)},
          {"p99_ms", quantile(one.wall_ms, 0.99)},
          {"ratio", median(one.ratios)}};
}

json::object to_json(const Breakdown& breakdown) {
  json::array steps;
  for (const Step& step : breakdown.steps) {
    steps.push_back(
        {{"who", step.who}, {"step", step.name}, {"at_us", step.at_us}, {"took_us", step.took_us}});
  }
  return {{"launcher", breakdown.launcher}, {"steps", std::move(steps)}};
}

json::object to_json(const Running& running) {
  json::object object = {{"launcher", running.launcher},
                         {"stream_mib_per_s", median(running.stream_mib_per_s)},
                         {"stream_ratio", median(running.stream_ratios)}};
  if (!running.end_alone_ms.empty()) {
    object["end_alone_ms"] = median(running.end_alone_ms);
    object["end_with_64_others_ms"] = median(running.end_with_others_ms);
  }
  return object;
}

void print_running(std::ostream& out, const std::vector<Running>& running) {
  out << "\nWhile it runs: a GiB through a pipe, its speed to that of the bare reader; the time "
         "from the\nlast word of a program to the end of all, alone and with 64 others left "
         "behind (medians)\n"
         "launcher          MiB/s   ratio  end alone ms  with 64 ms\n";
  for (const Running& one : running) {
    out << std::left << std::setw(15) << one.launcher << std::right << std::setprecision(0)
        << std::setw(8) << median(one.stream_mib_per_s) << std::setprecision(2) << std::setw(8)
        << median(one.stream_ratios);
    if (!one.end_alone_ms.empty()) {
      out << std::setw(14) << median(one.end_alone_ms) << std::setw(12)
          << median(one.end_with_others_ms);
    }
    out << '\n';
  }
}

}  // namespace

void print_table(std::ostream& out, const Results& results) {
  out << std::fixed
      << "program   launcher         runs  failed  median ms     p10     p90     p99   ratio\n";
  for (const Case& one : results.cases) {
    out << std::left << std::setw(10) << one.program << std::setw(15) << one.launcher << std::right
        << std::setw(6) << one.wall_ms.size() << std::setw(8) << one.failures
        << std::setprecision(2) << std::setw(11) << median(one.wall_ms);
    for (const double share : {0.10, 0.90, 0.99}) {
      out << std::setw(8) << quantile(one.wall_ms, share);
    }
    out << std::setw(8) << median(one.ratios) << '\n';
  }
  out << "ratio: median over the rounds of the time to the bare start's in the same round\n";
  print_running(out, results.running);
  for (const Breakdown& breakdown : results.breakdowns) {
    out << "\nThe start of /bin/true by " << breakdown.launcher
        << ", medians in microseconds:\n     at    took  who         step\n"
        << std::setprecision(0);
    for (const Step& step : breakdown.steps) {
      out << std::setw(7) << step.at_us << std::setw(8) << step.took_us << "  " << std::left
          << std::setw(12) << step.who << step.name << std::right << '\n';
    }
  }
}

sys::Status write_json(const std::string& path, const Results& results) {
  json::array cases;
  for (const Case& one : results.cases) cases.push_back(to_json(one));
  json::array breakdowns;
  for (const Breakdown& breakdown : results.breakdowns) breakdowns.push_back(to_json(breakdown));
  json::array running;
  for (const Running& one : results.running) running.push_back(to_json(one));
  const json::object all = {{"schema_version", 1},
                            {"host", describe_host()},
                            {"rounds", results.rounds},
                            {"cases", std::move(cases)},
                            {"breakdowns", std::move(breakdowns)},
                            {"running", std::move(running)}};
  std::ofstream file(path);
  file << json::serialize(all) << '\n';
  if (!file.flush()) return tl::unexpected(sys::Error{errno, "write '" + path + "'"});
  return {};
}

}  // namespace wardcase::bench

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <set>

#include "supervisor/run/version.h"

namespace wardcase::supervisor {

namespace {

using Bounds = prometheus::Histogram::BucketBoundaries;
using Labels = std::map<std::string, std::string>;

const Bounds kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                         1,     2.5,    5,     10,   30,    60,   120, 300,  600};
const Bounds kBytes = {1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30, 4.0 * (1 << 30)};

double seconds(std::chrono::microseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;

  template <typename Kind>
  prometheus::Family<Kind>& family(prometheus::detail::Builder<Kind> builder, const char* name,
                                   const char* help) {
    return builder.Name(name).Help(help).Register(registry);
  }
  prometheus::Histogram& histogram(const char* name, const char* help, const Bounds& bounds) {
    return family(prometheus::BuildHistogram(), name, help).Add({}, bounds);
  }

  prometheus::Family<prometheus::Counter>& runs =
      family(prometheus::BuildCounter(), "wardcase_runs_total",
             "Programs whose record is there, by language and status.");
  prometheus::Family<prometheus::Counter>& denied = family(
      prometheus::BuildCounter(), "wardcase_denied_total", "What the policy refused to programs.");
  prometheus::Family<prometheus::Counter>& output =
      family(prometheus::BuildCounter(), "wardcase_output_bytes_total", "What programs wrote.");
  prometheus::Family<prometheus::Gauge>& boxes =
      family(prometheus::BuildGauge(), "wardcase_boxes", "Programs that run, or wait for a turn.");
  prometheus::Histogram& run_seconds =
      histogram("wardcase_run_seconds", "How long programs ran.", kSeconds);
  prometheus::Histogram& queue_seconds =
      histogram("wardcase_queue_seconds", "How long they had waited for a turn.", kSeconds);
  prometheus::Histogram& setup_seconds =
      histogram("wardcase_setup_seconds", "How long it took to build their boxes.", kSeconds);
  prometheus::Histogram& memory =
      histogram("wardcase_memory_peak_bytes", "The most memory that each had.", kBytes);
  prometheus::Gauge& connections =
      family(prometheus::BuildGauge(), "wardcase_connections", "Clients that are connected.")
          .Add({});
  prometheus::Gauge& ready =
      family(prometheus::BuildGauge(), "wardcase_ready", "1 if a program could be run now.")
          .Add({});
  std::set<std::string> languages;

  // Few at any time: one series each.
  std::string label_of(const RunRecord& record) {
    constexpr std::size_t kMost = 64;
    const std::string name = record.language.value_or("none");
    if (languages.contains(name)) return name;
    return languages.size() < kMost ? *languages.insert(name).first : "other";
  }
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->family(prometheus::BuildGauge(), "wardcase_build_info", "1, with what was built.")
      .Add({{"version", std::string(kVersion)}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::count(const RunRecord& record) {
  Families& all = *families_;
  all.runs
      .Add(
          {{"language", all.label_of(record)}, {"status", std::string(status_name(record.status))}})
      .Increment();
  all.run_seconds.Observe(seconds(record.duration));
  all.queue_seconds.Observe(seconds(record.queued));
  all.setup_seconds.Observe(seconds(record.setup));
  if (record.memory_peak_bytes) all.memory.Observe(static_cast<double>(*record.memory_peak_bytes));
  all.output.Add({{"stream", "stdout"}}).Increment(static_cast<double>(record.out.bytes));
  all.output.Add({{"stream", "stderr"}}).Increment(static_cast<double>(record.err.bytes));
  std::uint64_t refused = 0;
  if (record.denied_syscalls) {
    for (const DeniedCall& call : *record.denied_syscalls) refused += call.count;
  }
  all.denied.Add({{"kind", "syscall"}}).Increment(static_cast<double>(refused));
}

std::string Metrics::text(const Gauges& gauges) {
  Families& all = *families_;
  all.boxes.Add({{"state", "running"}}).Set(static_cast<double>(gauges.running));
  all.boxes.Add({{"state", "waiting"}}).Set(static_cast<double>(gauges.waiting));
  all.connections.Set(static_cast<double>(gauges.connections));
  all.ready.Set(gauges.is_ready ? 1 : 0);
  return prometheus::TextSerializer().Serialize(all.registry.Collect());
}

}  // namespace wardcase::supervisor

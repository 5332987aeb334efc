// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_spec.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "policies/language_set.h"
#include "sandbox/sys/paths.h"
#include "supervisor/config/allowed_calls.h"
#include "supervisor/config/config.h"
#include "supervisor/config/run_settings.h"
#include "supervisor/languages/artifacts.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/program_file.h"
#include "supervisor/run/encoding_fallback.h"
#include "supervisor/run/run.h"

namespace wardcase::supervisor {

namespace {

using Settled = tl::expected<void, Problem>;

constexpr int kRetrySeconds = 1;
constexpr std::uint64_t kMilli = 1000;
// A service runs many at a time: none gets more unless it asks.
constexpr std::uint64_t kServiceMillicpus = kMilli;
// Of a stream. A record has up to twelve times as much in it, and nobody else is served while it
// is made.
constexpr std::uint64_t kMostCapture = 8 << 20;

tl::unexpected<Problem> refuse(int status, std::string code, std::string field,
                               const std::string& what) {
  Problem problem = {status, std::move(code), what};
  problem.field = std::move(field);
  return tl::unexpected(std::move(problem));
}

// Descriptors or memory are used up.
bool is_shortage(int code) { return code == EMFILE || code == ENFILE || code == ENOMEM; }

// The fault of nobody who asks; what others hold now may be there for the next.
tl::unexpected<Problem> broken(const sys::Error& error) {
  if (is_shortage(error.code)) {
    Problem problem = {503, "too_busy", error.message()};
    problem.retry_after_seconds = kRetrySeconds;
    return tl::unexpected(std::move(problem));
  }
  return refuse(500, "configuration", "", error.message());
}

bool has_namespaces(const Configuration& configuration) {
  return configuration.policy.confinement->value == policies::Confinement::namespaces;
}

// A box without namespaces runs beside the service, under its id: that is chosen by who runs it.
Settled keep_namespaces(const RunRequest& request, const ServicePolicies& policies,
                        const Configuration& configuration) {
  if (!request.policy || has_namespaces(configuration)) return {};
  if (!has_namespaces(policies.standard())) return {};
  return refuse(422, "policy_refused", "policy",
                "policy: '" + *request.policy +
                    "' makes boxes without namespaces, which only who runs this service can "
                    "choose, by WARDCASE_POLICY");
}

Settled choose_configuration(const RunRequest& request, const ServicePolicies& policies,
                             Configuration& configuration) {
  if (request.policy) {
    const auto* const named = policies.find(*request.policy);
    if (named == nullptr) {
      std::string names;
      for (const auto& policy : policies.list()) {
        names += (names.empty() ? "" : ", ") + policy.name;
      }
      return refuse(400, "invalid_field", "policy",
                    "policy: there is no '" + *request.policy + "'; it is one of " + names);
    }
    if (!*named) return broken(named->error());
    configuration = **named;
  } else {
    configuration = policies.standard();
  }
  if (auto kept = keep_namespaces(request, policies, configuration); !kept) return kept;
  for (const std::string& name : request.allowed_syscalls) {
    if (auto allowed = allow_calls("allow_syscalls", name, configuration); !allowed) {
      return refuse(422, "policy_refused", "allow_syscalls", allowed.error().message());
    }
  }
  return {};
}

// What the configuration has for all is lowered to what a service can answer with.
void bound_capture(policies::Limits& limits) {
  const auto most = limits.maximum(policies::LimitId::capture).value;
  if (most && *most <= kMostCapture) return;
  limits.set_maximum(policies::LimitId::capture, {kMostCapture, "the service's own"});
}

Settled settle_limits(const RunRequest& request, const Configuration& configuration,
                      const Host& host, policies::Limits& limits) {
  limits = policies::limits_of(configuration.policy);
  const auto cpus = static_cast<std::size_t>(policies::LimitId::cpus);
  bool has_cpus = configuration.policy.limits[cpus].has_value();
  auto taken = take_limit_variables(limits, [&](const policies::LimitRow& row) {
    has_cpus = has_cpus || row.id == policies::LimitId::cpus;
  });
  if (!taken) return broken(taken.error());
  bound_capture(limits);
  if (!has_cpus) limits.set_default(policies::LimitId::cpus, kServiceMillicpus);
  for (const policies::LimitRow& row : policies::limit_table()) {
    const RunRequest::Limit& asked = request.limits[static_cast<std::size_t>(row.id)];
    if (!asked) continue;
    const std::string field = "limits." + std::string(row.json_key);
    const auto refused = [&](const std::string& what) {
      return refuse(422, "limit_refused", field, what);
    };
    const std::uint64_t host_millicpus = host.cpus().size() * kMilli;
    if (row.id == policies::LimitId::cpus && *asked > host_millicpus) {
      return refused(field + ": this host has " + std::to_string(host.cpus().size()));
    }
    if (row.id == policies::LimitId::capture && *asked > kMostCapture) {
      return refused(field + ": a service keeps " + std::to_string(kMostCapture) +
                     " bytes of a stream at most");
    }
    if (auto checked = policies::check_limit(row, field, *asked, limits.maximum(row.id));
        !checked) {
      return refused(checked.error().message());
    }
    limits.require(row.id, *asked);
  }
  return {};
}

Settled settle_network(const RunRequest& request, const policies::Policy& policy,
                       policies::Network& network) {
  network = request.network.value_or(policy.network->value);
  const auto allowed = check_network(policy, network);
  if (allowed) return {};
  return refuse(422, "policy_refused", "network", "network: " + allowed.error().message());
}

// Of several files of one name the box would make none.
Settled place_files(const RunRequest& request, const HandedFiles& handed,
                    const policies::LanguageSet& languages, RunSpec& spec) {
  if (!request.files.empty() &&
      std::ranges::find(spec.mounts, "/box", &policies::Mount::target) != spec.mounts.end()) {
    return refuse(422, "policy_refused", "files",
                  "files: a directory of the host is mounted at /box");
  }
  const policies::Language* const language =
      request.language ? languages.find(*request.language) : nullptr;
  for (const RunRequest::File& file : request.files) {
    if (language != nullptr && sys::is_at_or_below(file.name, language->snippet_name)) {
      return refuse(400, "invalid_field", "files",
                    "files: '" + file.name + "' is what the code itself is called");
    }
    if (file.descriptor) {
      auto given = handed_content(file, handed);
      if (!given) return tl::unexpected(std::move(given).error());
      spec.files.push_back({"/box/" + file.name, *std::move(given), 0644});
      continue;
    }
    auto content = text_in_memory(file.content);
    if (!content) return broken(content.error());
    spec.files.push_back({"/box/" + file.name, *std::move(content), 0644});
  }
  return {};
}

Settled settle_input(const RunRequest& request, RunSpec& spec) {
  if (request.encoding_fallback) {
    if (auto known = EncodingFallback::open(*request.encoding_fallback); !known) {
      return refuse(400, "invalid_field", "encoding_fallback",
                    "encoding_fallback: " + known.error().message());
    }
    spec.encoding_fallback = request.encoding_fallback;
  }
  if (!request.input) return {};
  auto input = text_in_memory(*request.input);
  if (!input) return broken(input.error());
  if (::lseek(input->get(), 0, SEEK_SET) < 0) return broken(sys::errno_error("rewind the input"));
  spec.stdin_source = *std::move(input);
  return {};
}

ProgramSource source_of(const RunRequest& request) {
  ProgramSource source;
  source.kind = request.code ? ProgramSource::Kind::code : ProgramSource::Kind::command;
  source.text = request.code.value_or("");
  source.arguments = request.code ? request.arguments : request.argv;
  source.language = request.language;
  source.requirements.words = request.requirements;
  source.prelude_text = request.prelude;
  if (request.is_validated) source.validation = Validation::first;
  return source;
}

// What is wrong is said of what the command line has in its place.
std::string field_of(const ProgramFailure& failure, const RunRequest& request) {
  if (failure.error.starts_with("requirement")) return "requirements";
  if (failure.error.starts_with("prelude: ")) return "prelude";
  return request.language ? "language" : "";
}

std::vector<std::string> variables_of(const RunRequest& request, const policies::Policy& policy) {
  std::vector<std::string> variables = policy_environment(policy);
  variables.insert(variables.end(), request.environment.begin(), request.environment.end());
  return variables;
}

Settled settle_program(const RunRequest& request, const Configuration& configuration,
                       const Host& host, RequestedRun& run) {
  const auto filled =
      fill_program(source_of(request), configuration, variables_of(request, configuration.policy),
                   static_cast<unsigned>(host.cpus().size()), run.job);
  if (filled) {
    run.job.parts.push_back(make_artifacts_part(std::nullopt));
    return {};
  }
  if (is_shortage(filled.error().code)) {
    return broken({filled.error().code, "make the program's file"});
  }
  if (filled.error().error.starts_with("prelude.")) {  // a key of the policy
    return refuse(500, "configuration", "", filled.error().error);
  }
  if (filled.error().status == RunStatus::invalid_request) {
    return refuse(400, "invalid_field", field_of(filled.error(), request), filled.error().error);
  }
  run.refusal = filled.error().record(run.job.spec);
  return {};
}

}  // namespace

tl::expected<policies::Limits, Problem> limits_of_service(const ServicePolicies& policies,
                                                          const Host& host) {
  const RunRequest nothing;
  policies::Limits limits;
  const auto settled = settle_limits(nothing, policies.standard(), host, limits);
  if (!settled) return tl::unexpected(settled.error());
  const auto cpus = static_cast<unsigned>(host.cpus().size());
  if (auto resolved = limits.resolve(cpus, /*captured=*/true); !resolved) {
    return broken(resolved.error());
  }
  return limits;
}

tl::expected<RequestedBox, Problem> settle_box(const RunRequest& request,
                                               const ServicePolicies& policies, const Host& host) {
  RequestedBox box;
  const Configuration& configuration = box.configuration;
  const auto settled =
      choose_configuration(request, policies, box.configuration)
          .and_then([&] { return settle_limits(request, configuration, host, box.limits); })
          .and_then([&] { return settle_network(request, configuration.policy, box.network); })
          .and_then([&]() -> Settled {
            const auto added = add_policy_mounts(configuration.policy, box.mounts);
            return added ? Settled() : broken(added.error());
          });
  if (!settled) return tl::unexpected(settled.error());
  box.environment = variables_of(request, configuration.policy);
  return box;
}

tl::expected<RequestedRun, Problem> settle_request(const RunRequest& request,
                                                   const ServicePolicies& policies,
                                                   const Host& host, const HandedFiles& handed) {
  Configuration configuration;
  RequestedRun run;
  RunSpec& spec = run.job.spec;
  spec.id = make_id("run_");
  spec.capture = Capture::keep;
  spec.cwd = request.cwd;
  spec.merge_stderr = request.merge_stderr;
  const policies::Policy& policy = configuration.policy;
  const auto settled =
      choose_configuration(request, policies, configuration)
          .and_then([&] { return settle_limits(request, configuration, host, spec.limits); })
          .and_then([&]() -> Settled {
            spec.take_policy(policy, configuration.syscalls);
            const auto added = add_policy_mounts(policy, spec.mounts);
            return added ? Settled() : broken(added.error());
          })
          .and_then([&] { return settle_network(request, policy, spec.network); })
          .and_then([&] { return place_binds(request, handed, policy, spec); })
          .and_then([&] { return place_files(request, handed, configuration.languages, spec); })
          .and_then([&] { return settle_input(request, spec); })
          .and_then([&] { return settle_program(request, configuration, host, run); });
  if (!settled) return tl::unexpected(settled.error());
  return run;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <boost/json/fwd.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "policies/limits.h"
#include "policies/policy.h"
#include "supervisor/run/run_record.h"
#include "supervisor/server/problem.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

// What a body asks for: a run, a program in a session, or a session. Each has members of its own.
enum class RequestKind : std::uint8_t { run, program, session };

// Such a body, understood as far as that needs neither host nor policy.
struct RunRequest {
  struct File {
    std::string name;  // below /box, as "data/a.csv"
    std::string content;
    std::optional<std::size_t> descriptor = std::nullopt;  // in place of the content
  };
  // Something of the host.
  struct Bind {
    std::string path;  // or, where it is "":
    std::optional<std::size_t> descriptor;
    std::string target;
    policies::MountMode mode = policies::MountMode::read_only;
  };
  // null in it: no limit.
  using Limit = std::optional<std::optional<std::uint64_t>>;
  using Limits = std::array<Limit, policies::kLimitCount>;

  std::optional<std::string> language;  // with `code`
  std::optional<std::string> code;
  std::vector<std::string> argv;  // in place of `code`
  std::vector<std::string> arguments;
  std::optional<std::string> input;
  std::vector<std::string> environment;  // "NAME=VALUE"
  std::vector<File> files;
  std::vector<Bind> binds;
  std::string cwd = "/box";
  std::optional<std::string> policy;
  Limits limits;
  std::optional<policies::Network> network;
  bool merge_stderr = false;
  OutputForm form = OutputForm::text;
  std::optional<std::string> encoding_fallback;
  std::vector<std::string> allowed_syscalls;
  std::vector<std::string> requirements;
  std::optional<std::string> prelude;                 // its text
  bool is_validated = false;                          // its syntax is looked at before it runs
  bool is_detached = false;                           // it goes on without its client
  std::optional<std::chrono::milliseconds> deadline;  // for all of it, waiting included
  // Of a program in a session.
  std::string name;             // what tracebacks call it; "": the session's choice
  bool has_open_input = false;  // its stdin is sent later
  // Of a session.
  std::optional<std::string> id;
  std::chrono::milliseconds ttl = kDefaultTtl;
  std::chrono::milliseconds idle_ttl = kDefaultIdleTtl;  // 0: none
};

// Errors name the field, what is wrong with it and what to write.
[[nodiscard]] tl::expected<RunRequest, Problem> parse_run_request(
    std::string_view body, RequestKind kind = RequestKind::run);
// The same of an object that is part of another request.
[[nodiscard]] tl::expected<void, Problem> read_run_request(const boost::json::object& body,
                                                           RunRequest& request,
                                                           RequestKind kind = RequestKind::run);

// Memory that its run takes while it waits.
[[nodiscard]] std::uint64_t held_bytes(const RunRequest& request);

}  // namespace wardcase::supervisor

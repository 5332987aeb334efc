// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_request.h"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "policies/spelling.h"
#include "supervisor/server/request_binds.h"
#include "supervisor/server/request_field.h"
#include "supervisor/server/request_words.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// There are fewer calls.
constexpr Most kMostCalls = {512, 256, 32 << 10};
constexpr Most kMostRequirements = {256, 1024, 64 << 10};

Read read_network(const json::value& value, RunRequest& request) {
  std::string name;
  if (auto read = read_text("network", value, name); !read) return read;
  for (const policies::Network network : {policies::Network::none, policies::Network::host}) {
    if (name != policies::network_name(network)) continue;
    request.network = network;
    return {};
  }
  return invalid("network", "write none or host");
}

// A name alone: a path would be read with our rights, which are not the caller's.
Read read_policy(const json::value& value, RunRequest& request) {
  std::string name;
  if (auto read = read_word("policy", value, name); !read) return read;
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    return refuse("host_path", "policy", "is a path of the host; name a policy");
  }
  request.policy = std::move(name);
  return {};
}

Read read_cwd(const json::value& value, RunRequest& request) {
  auto read = read_word("cwd", value, request.cwd);
  if (read && !request.cwd.starts_with('/')) {
    return invalid("cwd", "is not absolute; write a path in the box, as /box/data");
  }
  return read;
}

// What tracebacks call a program: the name of a file, and no path.
Read read_name(const json::value& value, std::string& name) {
  auto read = read_word("name", value, name);
  constexpr std::size_t kLongest = 255;
  if (read && (name.empty() || name.size() > kLongest || name.find('/') != std::string::npos)) {
    return invalid("name", "write the name of a file without a directory, as main.py");
  }
  return read;
}

Read read_session_id(const json::value& value, std::string& id) {
  auto read = read_text("id", value, id);
  if (read && !is_session_id(id)) return invalid("id", "write [A-Za-z0-9._-]{1,64}");
  return read;
}

template <typename T>
Read keep(const std::string& field, const json::value& value, std::optional<T>& place) {
  return read_word(field, value, place.emplace());
}

// Whose member it is.
constexpr unsigned kRun = 1U << static_cast<unsigned>(RequestKind::run);
constexpr unsigned kProgram = 1U << static_cast<unsigned>(RequestKind::program);
constexpr unsigned kSession = 1U << static_cast<unsigned>(RequestKind::session);

struct Field {
  std::string_view name;
  unsigned of;
  Read (*read)(const json::value& value, RunRequest& request);
};

// lint: table
constexpr Field kFields[] = {
    {"language", kRun | kProgram | kSession,
     [](const auto& v, auto& r) { return keep("language", v, r.language); }},
    {"code", kRun | kProgram,
     [](const auto& v, auto& r) { return read_text("code", v, r.code.emplace()); }},
    {"argv", kRun,
     [](const auto& v, auto& r) { return read_words("argv", v, kMostArguments, r.argv); }},
    {"args", kRun,
     [](const auto& v, auto& r) { return read_words("args", v, kMostArguments, r.arguments); }},
    {"stdin", kRun | kProgram,
     [](const auto& v, auto& r) { return read_text("stdin", v, r.input.emplace()); }},
    {"stdin_base64", kRun | kProgram,
     [](const auto& v, auto& r) { return read_bytes("stdin_base64", v, r.input.emplace()); }},
    {"open_stdin", kProgram,
     [](const auto& v, auto& r) { return read_switch("open_stdin", v, r.has_open_input); }},
    {"name", kProgram, [](const auto& v, auto& r) { return read_name(v, r.name); }},
    {"env", kRun | kSession,
     [](const auto& v, auto& r) { return read_environment(v, r.environment); }},
    {"files", kRun | kProgram, [](const auto& v, auto& r) { return read_files(v, r.files); }},
    {"binds", kRun, read_binds},
    {"cwd", kRun, read_cwd},
    {"policy", kRun | kSession, read_policy},
    {"limits", kRun | kProgram | kSession,
     [](const auto& v, auto& r) { return read_limits(v, r.limits); }},
    {"network", kRun | kSession, read_network},
    {"merge_stderr", kRun,
     [](const auto& v, auto& r) { return read_switch("merge_stderr", v, r.merge_stderr); }},
    {"base64", kRun | kProgram,
     [](const auto& v, auto& r) {
       bool is_on = false;
       auto read = read_switch("base64", v, is_on);
       r.form = is_on ? OutputForm::base64 : OutputForm::text;
       return read;
     }},
    {"encoding_fallback", kRun,
     [](const auto& v, auto& r) { return keep("encoding_fallback", v, r.encoding_fallback); }},
    {"allow_syscalls", kRun | kSession,
     [](const auto& v, auto& r) {
       return read_words("allow_syscalls", v, kMostCalls, r.allowed_syscalls);
     }},
    {"requirements", kRun | kProgram | kSession,
     [](const auto& v, auto& r) {
       return read_words("requirements", v, kMostRequirements, r.requirements);
     }},
    {"prelude", kRun | kSession,
     [](const auto& v, auto& r) { return read_text("prelude", v, r.prelude.emplace()); }},
    {"validate", kRun | kProgram,
     [](const auto& v, auto& r) { return read_switch("validate", v, r.is_validated); }},
    {"detach", kRun | kProgram,
     [](const auto& v, auto& r) { return read_switch("detach", v, r.is_detached); }},
    {"deadline_ms", kRun | kProgram,
     [](const auto& v, auto& r) { return read_deadline(v, r.deadline); }},
    {"id", kSession, [](const auto& v, auto& r) { return read_session_id(v, r.id.emplace()); }},
    {"ttl_ms", kSession, [](const auto& v, auto& r) { return read_ttl("ttl_ms", v, r.ttl); }},
    {"idle_ttl_ms", kSession,
     [](const auto& v, auto& r) {
       r.idle_ttl = std::chrono::milliseconds(0);
       return v.is_null() ? Read() : read_ttl("idle_ttl_ms", v, r.idle_ttl);
     }},
};

bool is_of(const Field& field, RequestKind kind) {
  return (field.of & 1U << static_cast<unsigned>(kind)) != 0;
}

// What the command line has for files and directories of the host.
constexpr std::string_view kHostPaths[] = {"mounts",      "mount",     "volume",
                                           "volumes",     "workspace", "stdin_file",
                                           "interpreter", "env_file",  "save_output"};

tl::unexpected<Problem> unknown(std::string_view name, RequestKind kind) {
  if (std::ranges::find(kHostPaths, name) != std::end(kHostPaths)) {
    return refuse("host_path", std::string(name),
                  "is not known here; name what the policy lets you see of the host in binds, or "
                  "send what is "
                  "in it, with files or stdin");
  }
  const std::string field(name.substr(0, kShownBytes));
  std::vector<std::string_view> known;
  for (const Field& each : kFields) {
    if (is_of(each, kind)) known.push_back(each.name);
    if (each.name != name || kind == RequestKind::run) continue;
    const bool is_of_session = kind == RequestKind::program && is_of(each, RequestKind::session);
    return refuse(
        "unknown_field", field,
        is_of_session ? "is the session's; give it when that is made" : "has no meaning here");
  }
  return refuse("unknown_field", field, "no such field" + policies::did_you_mean(name, known));
}

// Of a program in a session, whose language may be the session's.
Read check_program_of_session(const json::object& body, const RunRequest& request) {
  if (!request.code) return refuse("missing_field", "code", "nothing to run; give code");
  const bool has_input = request.input.has_value();
  if (body.contains("stdin") && body.contains("stdin_base64")) {
    return invalid("stdin", "give stdin or stdin_base64, not both");
  }
  if (has_input && request.has_open_input) {
    return invalid("open_stdin", "give stdin or open_stdin, not both");
  }
  if (std::ranges::any_of(request.files, [](const RunRequest::File& file) {
        return file.descriptor.has_value();
      })) {
    return invalid("files", "of a session can't be descriptors; send what is in them");
  }
  return {};
}

Read check_program(const json::object& body, const RunRequest& request) {
  const bool has_argv = body.contains("argv");
  if (request.code && has_argv) return invalid("argv", "give code or argv, not both");
  if (!request.code && !has_argv) {
    return refuse("missing_field", "code", "nothing to run; give language and code, or argv");
  }
  if (request.code && !request.language) {
    return refuse("missing_field", "language", "say in which language the code is");
  }
  if (has_argv && request.language) {
    return invalid("language", "has no meaning with argv; leave it out");
  }
  if (has_argv && !request.arguments.empty()) return invalid("args", "put them into argv");
  if (has_argv && request.is_validated) return invalid("validate", "needs language and code");
  if (has_argv && (request.argv.empty() || request.argv.front().empty())) {
    return invalid("argv", "begins with the program; name it");
  }
  const auto& words = has_argv ? request.argv : request.arguments;
  if (bytes_of(words) + bytes_of(request.environment) > kMostArguments.bytes) {
    return too_long_with_env(has_argv ? "argv" : "args");
  }
  if (body.contains("stdin") && body.contains("stdin_base64")) {
    return invalid("stdin", "give stdin or stdin_base64, not both");
  }
  return {};
}

Read check(const json::object& body, const RunRequest& request, RequestKind kind) {
  if (kind == RequestKind::run) return check_program(body, request);
  return kind == RequestKind::program ? check_program_of_session(body, request) : Read();
}

}  // namespace

std::uint64_t held_bytes(const RunRequest& request) {
  constexpr std::uint64_t kEach = 64 << 10;  // its policy, and so on
  constexpr std::uint64_t kWord = 64;        // beside its letters
  constexpr std::uint64_t kPage = 4096;
  const auto in_memory = [](std::uint64_t bytes) {  // with the kernel's part of a file
    return (bytes + kPage - 1) / kPage * kPage + kPage;
  };
  std::uint64_t held = kEach + request.cwd.size();
  for (const auto* words :
       {&request.argv, &request.arguments, &request.environment, &request.requirements}) {
    for (const std::string& word : *words) held += word.size() + kWord;
  }
  for (const RunRequest::File& file : request.files) {
    held += file.name.size() + kWord + in_memory(file.content.size());
  }
  for (const RunRequest::Bind& bind : request.binds) {
    held += bind.path.size() + bind.target.size() + kPage;
  }
  if (request.code) held += in_memory(request.code->size());
  if (request.input) held += in_memory(request.input->size());
  if (request.prelude) held += in_memory(request.prelude->size());
  return held;
}

Read read_run_request(const json::object& body, RunRequest& request, RequestKind kind) {
  for (const auto& [key, value] : body) {
    const std::string_view name(key.data(), key.size());
    const auto* const field = std::ranges::find(kFields, name, &Field::name);
    if (field == std::end(kFields) || !is_of(*field, kind)) return unknown(name, kind);
    if (auto read = field->read(value, request); !read) return read;
  }
  return check(body, request, kind);
}

tl::expected<RunRequest, Problem> parse_run_request(std::string_view body, RequestKind kind) {
  RunRequest request;
  const auto read = read_body(
      body, [&](const json::object& object) { return read_run_request(object, request, kind); });
  if (!read) return tl::unexpected(read.error());
  return request;
}

}  // namespace wardcase::supervisor

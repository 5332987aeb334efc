// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_file_handlers.h"

#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/server/file_download.h"
#include "supervisor/server/file_upload.h"
#include "supervisor/server/request_target.h"
#include "supervisor/server/session_handlers.h"
#include "supervisor/server/session_question.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// nullopt: it was refused. What else is wrong with a path the keeper says.
std::optional<std::string> path_of_file(const ApiCall& call) {
  auto path = percent_decode(call.rest);
  if (path && path->find('\0') == std::string::npos) return path;
  call.refuse({400, "bad_request", "the path of the file is not written as a path can be"});
  return std::nullopt;
}

// That of ?path=, which is a directory; without it /box itself.
std::optional<std::string> path_of_directory(const ApiCall& call) {
  auto path = percent_decode(parameter_of(call.request.target, "path").value_or(""));
  if (path && path->find('\0') == std::string::npos) return path;
  call.refuse({400, "bad_request", "the path of the directory is not written as a path can be"});
  return std::nullopt;
}

}  // namespace

void SessionFileHandlers::list_at(const ApiCall& call, const KnownSession& session,
                                  std::string path) {
  KeeperRequest request;
  request.op = "list";
  request.path = std::move(path);
  ask_keeper(loop_, call.exchange, session, request, [](const json::object& last) {
    const json::value* const entries = last.if_contains("entries");
    return json_response(json::object{{"entries", entries == nullptr ? json::array() : *entries}});
  });
}

void SessionFileHandlers::list(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session != nullptr) list_at(call, *session, "");
}

void SessionFileHandlers::read(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  auto path = path_of_file(call);
  if (!path) return;
  if (parameter_of(call.request.target, "list")) return list_at(call, *session, *std::move(path));
  download_file(loop_, call, *session, *std::move(path));
}

void SessionFileHandlers::write(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  auto path = path_of_file(call);
  if (!path) return;
  if (call.request.count("content-range") > 0) {
    return call.refuse({400, "invalid_header", "Content-Range: a file is written as a whole"});
  }
  upload(loop_, call, *session, "write", *std::move(path));
}

void SessionFileHandlers::archive(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  const auto path = path_of_directory(call);
  if (path) download_archive(loop_, call, *session, *path);
}

void SessionFileHandlers::unpack(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  auto path = path_of_directory(call);
  if (path) upload(loop_, call, *session, "unpack", *std::move(path));
}

void SessionFileHandlers::remove(const ApiCall& call) {
  const KnownSession* const session = find_session(sessions_, call);
  if (session == nullptr) return;
  auto path = path_of_file(call);
  if (!path) return;
  KeeperRequest request;
  request.op = "remove";
  request.path = *path;
  ask_keeper(loop_, call.exchange, *session, request, [path = *path](const json::object&) {
    return json_response(json::object{{"path", to_json_text(path)}, {"state", "removed"}});
  });
}

}  // namespace wardcase::supervisor

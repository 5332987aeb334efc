// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/session_facts.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sandbox/sys/files.h"
#include "supervisor/languages/sha256.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/server/keeper_link.h"
#include "supervisor/sessions/session_place.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr std::string_view kAll = "served";
constexpr std::string_view kFacts = ".json";
constexpr std::string_view kSocket = ".sock";
// The path of a socket may have 107 bytes.
constexpr std::size_t kServiceDigits = 12;
constexpr std::size_t kSessionDigits = 24;

namespace {

std::optional<std::uint64_t> size_of(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return static_cast<std::uint64_t>(number_of(object, key));
}

}  // namespace

std::string to_json(const SessionFacts& session) {
  return json::serialize(json::object{{"id", to_json_text(session.id)},
                                      {"owner", to_json_text(session.owner)},
                                      {"language", to_json_text(session.language)},
                                      {"memory_bytes", number_or_null(session.memory)},
                                      {"created", session.created},
                                      {"policy", to_json_text(session.policy)},
                                      {"network", to_json_text(session.network)},
                                      {"disk_bytes", number_or_null(session.disk)}});
}

std::optional<SessionFacts> parse_facts(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* const object = error ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  SessionFacts session = {text_of(*object, "id"),        text_of(*object, "owner"),
                          text_of(*object, "language"),  std::nullopt,
                          number_of(*object, "created"), text_of(*object, "policy"),
                          text_of(*object, "network"),   std::nullopt};
  if (!is_session_id(session.id) || session.owner.empty()) return std::nullopt;
  session.memory = size_of(*object, "memory_bytes");
  session.disk = size_of(*object, "disk_bytes");
  return session;
}

}  // namespace

sys::Result<SessionPlaces> SessionPlaces::create(const std::string& address) {
  const std::string all(kAll);
  if (auto made = runtime_subdirectory(all); !made) return tl::unexpected(std::move(made).error());
  auto own = runtime_subdirectory(all + "/" + sha256(address).substr(0, kServiceDigits));
  if (!own) return tl::unexpected(std::move(own).error());
  return SessionPlaces(*std::move(own));
}

SessionPlaces::~SessionPlaces() {
  if (directory_.empty() || ::rmdir(directory_.c_str()) < 0) return;
  (void)::rmdir(directory_.substr(0, directory_.rfind('/')).c_str());
}

std::string SessionPlaces::stem(const SessionFacts& session) const {
  std::string named = session.owner;
  named += '\0';
  return directory_ + "/" + sha256(named + session.id).substr(0, kSessionDigits);
}

std::string SessionPlaces::socket(const SessionFacts& session) const {
  return stem(session) + std::string(kSocket);
}

// Whole or not at all: a service that is killed meanwhile leaves nothing that could be misread.
sys::Status SessionPlaces::write(const SessionFacts& session) const {
  const std::string path = stem(session) + std::string(kFacts);
  const std::string unfinished = path + ".new";
  const std::string text = to_json(session);
  const sys::UniqueFd file(
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const bool is_written = file.is_open() && ::write(file.get(), text.data(), text.size()) ==
                                                static_cast<ssize_t>(text.size());
  if (is_written && ::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  return tl::unexpected(sys::errno_error("write '" + path + "'"));
}

void SessionPlaces::remove(const SessionFacts& session) const {
  (void)::unlink((stem(session) + std::string(kFacts)).c_str());
  (void)::unlink(socket(session).c_str());
}

std::vector<SessionFacts> SessionPlaces::read() const {
  std::vector<SessionFacts> sessions;
  std::vector<fs::path> senseless;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const fs::path& path = entry.path();
    if (path.extension() == kSocket) continue;  // goes with its facts, or when it is dead
    const auto text = sys::read_file(AT_FDCWD, path.c_str());
    auto session = text && path.extension() == kFacts ? parse_facts(*text) : std::nullopt;
    if (session && stem(*session) + std::string(kFacts) == path) {
      sessions.push_back(*std::move(session));
    } else {
      senseless.push_back(path);
    }
  }
  for (const fs::path& path : senseless) (void)::unlink(path.c_str());
  return sessions;
}

}  // namespace wardcase::supervisor

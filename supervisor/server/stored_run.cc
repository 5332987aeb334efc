// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/stored_run.h"

#include <boost/json.hpp>

#include "supervisor/run/record_parts.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

std::int64_t to_number(system_clock::time_point when) {
  return std::chrono::duration_cast<milliseconds>(when.time_since_epoch()).count();
}

// Members of an object that should have them; what is missing is as if it were empty.
class Members {
 public:
  explicit Members(const json::object& object) : object_(object) {}

  [[nodiscard]] std::string text(std::string_view key) const {
    const json::value* const value = object_.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  }
  [[nodiscard]] bool flag(std::string_view key) const {
    const json::value* const value = object_.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  [[nodiscard]] std::int64_t number(std::string_view key) const {
    const json::value* const value = object_.if_contains(key);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
  }
  [[nodiscard]] system_clock::time_point time(std::string_view key) const {
    return system_clock::time_point(milliseconds(number(key)));
  }

 private:
  const json::object& object_;
};

std::optional<json::object> read_object(const std::string& text) {
  boost::system::error_code error;
  auto value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::optional<RunFailure> read_failure(const Members& members) {
  const std::string code = members.text("failure");
  if (code.empty()) return std::nullopt;
  return RunFailure{code, members.text("message"), static_cast<int>(members.number("status_code")),
                    members.text("field")};
}

std::optional<PastRun::End> read_end(const RunStore::Found& found) {
  const auto object = read_object(found.ended);
  if (!object) return std::nullopt;
  const Members members(*object);
  const auto status = status_named(members.text("status"));
  if (!status || found.last.empty()) return std::nullopt;
  return PastRun::End{*status, members.time("ended"), read_failure(members), found.last,
                      members.flag("abandoned")};
}

}  // namespace

std::string accepted_part(const KnownRun& run) {
  const RunTerms& terms = run.terms();
  json::object part = {{"owner", to_json_text(terms.owner)},
                       {"created", to_number(run.created())},
                       {"base64", terms.form == OutputForm::base64},
                       {"detached", terms.is_detached},
                       {"trace", terms.trace},
                       {"key", to_json_text(terms.key)},
                       {"fingerprint", terms.fingerprint}};
  if (run.language()) part["language"] = to_json_text(*run.language());
  return json::serialize(part);
}

std::string ended_part(const KnownRun& run) {
  json::object part = {{"status", to_json_text(status_name(run.status()))},
                       {"ended", to_number(run.ended())},
                       {"abandoned", run.is_abandoned()}};
  if (const auto& failure = run.failure()) {
    part["failure"] = to_json_text(failure->code);
    part["message"] = to_json_text(failure->message);
    part["status_code"] = failure->status;
    part["field"] = to_json_text(failure->field);
  }
  return json::serialize(part);
}

std::optional<PastRun> read_past_run(const RunStore::Found& found) {
  const auto object = read_object(found.accepted);
  if (!object) return std::nullopt;
  const Members members(*object);
  PastRun past;
  past.id = found.id;
  past.terms.owner = members.text("owner");
  past.terms.form = members.flag("base64") ? OutputForm::base64 : OutputForm::text;
  past.terms.is_detached = members.flag("detached");
  past.terms.trace = members.text("trace");
  past.terms.key = members.text("key");
  past.terms.fingerprint = members.text("fingerprint");
  if (object->contains("language")) past.language = members.text("language");
  past.created = members.time("created");
  past.end = read_end(found);
  return past;
}

}  // namespace wardcase::supervisor

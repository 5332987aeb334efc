// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/batch_request.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <functional>
#include <utility>

#include "policies/spelling.h"
#include "supervisor/languages/box_names.h"
#include "supervisor/server/checker_part.h"
#include "supervisor/server/request_field.h"
#include "supervisor/server/request_words.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// Of all cases: each is compared with others.
constexpr std::size_t kMostCaseFiles = 20'000;
constexpr double kUsualTolerance = 1e-6;

// A batch as it is read, with what is only known once all of it was.
struct Reading {
  BatchRequest batch;
  std::optional<Comparison> comparison;  // of cases that name none
  std::vector<std::optional<Comparison>> own;
  std::optional<std::string> test_code;
  std::size_t files = 0;  // of all cases
};

Read read_tolerance(const json::object& object, std::string_view name, double& tolerance) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr) return {};
  const double number = value->is_number() ? value->to_number<double>() : -1;
  if (!std::isfinite(number) || number < 0) {
    return invalid("comparator." + std::string(name), "write a number that is not below 0");
  }
  tolerance = number;
  return {};
}

// One tolerance alone is what counts; without any, both have their usual size.
Read read_float(const json::object& object, Comparison& comparison) {
  const json::value* const type = object.if_contains("type");
  if (type == nullptr || *type != "float") return invalid("comparator.type", "write float");
  comparison.kind = Comparison::Kind::number;
  for (const auto& [key, value] : object) {
    if (key != "type" && key != "abs" && key != "rel") {
      return refuse("unknown_field", "comparator." + std::string(key).substr(0, kShownBytes),
                    "no such field; there are type, abs and rel");
    }
  }
  if (object.size() == 1) {
    comparison.absolute = comparison.relative = kUsualTolerance;
    return {};
  }
  auto read = read_tolerance(object, "abs", comparison.absolute);
  return read ? read_tolerance(object, "rel", comparison.relative) : read;
}

Read read_comparator(const json::value& value, std::optional<Comparison>& place) {
  Comparison& comparison = place.emplace();
  if (value.is_object()) return read_float(value.get_object(), comparison);
  const std::string_view name =
      value.is_string() ? std::string_view(value.get_string()) : std::string_view();
  using Kind = Comparison::Kind;
  for (const auto& [known, kind] : {std::pair("exact", Kind::exact), std::pair("trim", Kind::trim),
                                    std::pair("tokens", Kind::tokens)}) {
    if (name != known) continue;
    comparison.kind = kind;
    return {};
  }
  return invalid("comparator", R"(write exact, trim, tokens or {"type": "float", "abs": 1e-6})");
}

// Descriptors go when the request is answered, and cases may begin after that.
Read refuse_descriptors(const std::vector<RunRequest::File>& files) {
  const bool has_any = std::ranges::any_of(
      files, [](const RunRequest::File& file) { return file.descriptor.has_value(); });
  if (has_any) return invalid("files", "of a batch can't be descriptors; send what is in them");
  return {};
}

struct CaseField {
  std::string_view name;
  Read (*read)(const json::value& value, BatchCase& one, std::optional<Comparison>& comparison);
};

// lint: table
constexpr CaseField kCaseFields[] = {
    {"stdin",
     [](const auto& v, auto& c, auto&) { return read_text("stdin", v, c.input.emplace()); }},
    {"stdin_base64", [](const auto& v, auto& c,
                        auto&) { return read_bytes("stdin_base64", v, c.input.emplace()); }},
    {"args", [](const auto& v, auto& c,
                auto&) { return read_words("args", v, kMostArguments, c.arguments); }},
    {"env", [](const auto& v, auto& c, auto&) { return read_environment(v, c.environment); }},
    {"files",
     [](const auto& v, auto& c, auto&) {
       auto read = read_files(v, c.files);
       return read ? refuse_descriptors(c.files) : read;
     }},
    {"expected_stdout",
     [](const auto& v, auto& c, auto&) {
       return read_text("expected_stdout", v, c.expected.emplace());
     }},
    {"expected_stdout_base64",
     [](const auto& v, auto& c, auto&) {
       return read_bytes("expected_stdout_base64", v, c.expected.emplace());
     }},
    {"comparator", [](const auto& v, auto&, auto& own) { return read_comparator(v, own); }},
};

template <typename Fields>
tl::unexpected<Problem> unknown(std::string_view name, const Fields& fields) {
  std::vector<std::string_view> known;
  for (const auto& field : fields) known.push_back(field.name);
  return refuse("unknown_field", std::string(name.substr(0, kShownBytes)),
                "no such field" + policies::did_you_mean(name, known));
}

Read read_case(const json::value& value, Reading& reading) {
  BatchCase& one = reading.batch.cases.emplace_back();
  auto& comparison = reading.own.emplace_back();
  if (!value.is_object()) return invalid("", "write an object");
  const json::object& object = value.get_object();
  for (const auto& [key, each] : object) {
    const std::string_view name(key.data(), key.size());
    const auto* const field = std::ranges::find(kCaseFields, name, &CaseField::name);
    if (field == std::end(kCaseFields)) return unknown(name, kCaseFields);
    if (auto read = field->read(each, one, comparison); !read) return read;
  }
  reading.files += one.files.size();
  if (reading.files > kMostCaseFiles) {
    return invalid("files", "of all cases are more than " + std::to_string(kMostCaseFiles));
  }
  for (const std::string name : {"stdin", "expected_stdout"}) {
    if (!object.contains(name) || !object.contains(name + "_base64")) continue;
    return invalid(name, "give it or " + name + "_base64, not both");
  }
  if (comparison && !one.expected) return invalid("comparator", "compares with expected_stdout");
  return {};
}

Read read_cases(const json::value& value, Reading& reading) {
  if (!value.is_array() || value.get_array().empty()) {
    return invalid("cases", R"(write a list of objects, as [{"stdin": "2"}])");
  }
  if (value.get_array().size() > kMostCases) {
    return invalid("cases", "are more than " + std::to_string(kMostCases));
  }
  for (const json::value& each : value.get_array()) {
    if (auto read = read_case(each, reading); !read) {
      const std::string at = "cases[" + std::to_string(reading.batch.cases.size() - 1) + "]";
      return tl::unexpected(within(at, std::move(read).error()));
    }
  }
  return {};
}

// A run's body, but without what is the batch's affair.
Read read_part(const std::string& name, const json::value& value, RunRequest& request) {
  if (!value.is_object()) return invalid(name, "write an object, as the body of POST /v1/runs");
  for (const char* const member : {"detach", "deadline_ms"}) {
    if (!value.get_object().contains(member)) continue;
    return invalid(name + "." + member, "is of the whole batch; write it beside program");
  }
  if (value.get_object().contains("binds")) {
    return invalid(name + ".binds", "a batch has nothing of the host; send it with files");
  }
  auto read = read_run_request(value.get_object(), request);
  if (read) read = refuse_descriptors(request.files);
  if (!read) return tl::unexpected(within(name, std::move(read).error()));
  return read;
}

Read read_checker(const json::value& value, Reading& reading) {
  RunRequest& checker = reading.batch.checker.emplace();
  auto read = read_part("checker", value, checker);
  if (!read) return read;
  for (const char* const member : {"stdin", "stdin_base64", "base64"}) {
    if (!value.get_object().contains(member)) continue;
    return invalid("checker." + std::string(member),
                   "a checker reads files and is told as text; leave it out");
  }
  for (const RunRequest::File& file : checker.files) {
    for (const std::string_view given : kCheckerFiles) {
      if (!clash_in_box(file.name, given)) continue;
      return invalid("checker.files", shown(file.name) + " is in the way of what it is given");
    }
  }
  return read;
}

struct Field {
  std::string_view name;
  Read (*read)(const json::value& value, Reading& reading);
};

// lint: table
constexpr Field kFields[] = {
    {"program", [](const auto& v, auto& r) { return read_part("program", v, r.batch.program); }},
    {"cases", read_cases},
    {"test_code",
     [](const auto& v, auto& r) { return read_text("test_code", v, r.test_code.emplace()); }},
    {"comparator", [](const auto& v, auto& r) { return read_comparator(v, r.comparison); }},
    {"checker", read_checker},
    {"stop_on_first_failure",
     [](const auto& v, auto& r) {
       return read_switch("stop_on_first_failure", v, r.batch.stops_early);
     }},
    {"detach",
     [](const auto& v, auto& r) { return read_switch("detach", v, r.batch.is_detached); }},
    {"deadline_ms", [](const auto& v, auto& r) { return read_deadline(v, r.batch.deadline); }},
};

// The lines of the program keep their numbers, and the test begins on one of its own.
Read append_test(const std::string& test, BatchRequest& batch) {
  if (!batch.program.code) return invalid("test_code", "needs a program with language and code");
  *batch.program.code += "\n" + test;
  batch.cases.emplace_back();
  batch.is_tested_by_code = true;
  return {};
}

// What a case has and what its program has come together.
Read check_case(const BatchCase& one, std::size_t program_bytes) {
  const std::size_t bytes = bytes_of(one.arguments) + bytes_of(one.environment);
  if (bytes + program_bytes > kMostArguments.bytes) return too_long_with_env("args");
  return {};
}

// Each case is complete by itself from here on.
Read complete_cases(Reading& reading) {
  BatchRequest& batch = reading.batch;
  const RunRequest& program = batch.program;
  const std::size_t bytes =
      bytes_of(program.argv) + bytes_of(program.arguments) + bytes_of(program.environment);
  const bool is_one = batch.is_tested_by_code;
  for (std::size_t i = 0; i < batch.cases.size(); ++i) {
    BatchCase& one = batch.cases[i];
    const std::string at = "cases[" + std::to_string(i) + "]";
    if (auto checked = check_case(one, bytes); !checked) {
      return tl::unexpected(within(at, std::move(checked).error()));
    }
    const auto& own = is_one ? std::nullopt : reading.own[i];
    if (own && batch.checker)
      return invalid(at + ".comparator", "the checker decides; leave it out");
    one.comparison = own.value_or(reading.comparison.value_or(Comparison()));
  }
  return {};
}

Read check_batch(const json::object& body, Reading& reading) {
  BatchRequest& batch = reading.batch;
  if (!body.contains("program")) {
    return refuse("missing_field", "program",
                  "nothing to run; give an object with language and code");
  }
  if (reading.test_code && body.contains("cases")) {
    return invalid("test_code", "give cases or test_code, not both");
  }
  if (!reading.test_code && !body.contains("cases")) {
    return refuse("missing_field", "cases", "give cases, or test_code");
  }
  if (reading.test_code && batch.checker) {
    return invalid("checker", "the exit code of test_code decides; leave it out");
  }
  if (reading.comparison && (reading.test_code || batch.checker)) {
    return invalid("comparator", "compares with expected_stdout; leave it out");
  }
  if (reading.test_code) {
    if (auto added = append_test(*reading.test_code, batch); !added) return added;
  }
  batch.input = std::exchange(batch.program.input, std::nullopt);
  return complete_cases(reading);
}

// Boxes get what is in the case.
std::uint64_t held_bytes(const BatchCase& one) {
  constexpr std::uint64_t kWord = 64;
  std::uint64_t held = sizeof one;
  if (one.input) held += one.input->size();
  if (one.expected) held += one.expected->size();
  for (const auto* words : {&one.arguments, &one.environment}) {
    held += bytes_of(*words) + kWord * words->size();
  }
  for (const RunRequest::File& file : one.files) held += file.content.size() + 2 * kWord;
  return held;
}

}  // namespace

std::uint64_t held_bytes(const BatchRequest& request) {
  std::uint64_t held = held_bytes(request.program);
  if (request.checker) held += held_bytes(*request.checker);
  if (request.input) held += request.input->size();
  for (const BatchCase& one : request.cases) held += held_bytes(one);
  return held;
}

tl::expected<BatchRequest, Problem> parse_batch_request(std::string_view body) {
  Reading reading;
  const auto read = read_body(body, [&](const json::object& object) -> Read {
    for (const auto& [key, value] : object) {
      const std::string_view name(key.data(), key.size());
      const auto* const field = std::ranges::find(kFields, name, &Field::name);
      if (field == std::end(kFields)) return unknown(name, kFields);
      if (auto taken = field->read(value, reading); !taken) return taken;
    }
    return check_batch(object, reading);
  });
  if (!read) return tl::unexpected(read.error());
  return std::move(reading.batch);
}

}  // namespace wardcase::supervisor

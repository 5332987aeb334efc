// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/batch_request.h"

#include <gtest/gtest.h>

#include <string>

namespace wardcase::supervisor {
namespace {

using Kind = Comparison::Kind;

const std::string kProgram = R"("program": {"language": "python", "code": "x", "stdin": "p"})";

std::string with_program(const std::string& more) { return "{" + kProgram + ", " + more + "}"; }
std::string with_case(const std::string& members) {
  return with_program("\"cases\": [{}, {" + members + "}]");
}

// "code field: detail"; "": it is none.
std::string refusal(const std::string& body) {
  const auto request = parse_batch_request(body);
  return request ? "" : request.error().code + " " + request.error().field;
}

Comparison comparison_of(const std::string& more, const std::string& members) {
  const auto request = parse_batch_request(
      with_program(more + R"("cases": [{"expected_stdout": "")" + members + "}]"));
  EXPECT_TRUE(request) << request.error().detail;
  return request ? request->cases.at(0).comparison : Comparison();
}

TEST(BatchRequest, CasesAreReadWithAllTheyHave) {
  const auto request = parse_batch_request(with_program(
      R"("cases": [{"stdin_base64": "YQ==", "args": ["b"], "env": {"C": "d"},
         "files": {"e": "f"}, "expected_stdout": "g"}, {}],
         "stop_on_first_failure": true, "detach": true, "deadline_ms": 5)"));
  ASSERT_TRUE(request) << request.error().detail;
  EXPECT_EQ(request->input, "p");
  EXPECT_FALSE(request->program.input) << "it is for the cases";
  const BatchCase& first = request->cases.at(0);
  EXPECT_EQ(first.input, "a");
  EXPECT_EQ(first.arguments, std::vector<std::string>{"b"});
  EXPECT_EQ(first.environment, std::vector<std::string>{"C=d"});
  EXPECT_EQ(first.files.at(0).name, "e");
  EXPECT_EQ(first.expected, "g");
  EXPECT_EQ(first.comparison.kind, Kind::trim);
  EXPECT_FALSE(request->cases.at(1).expected);
  EXPECT_TRUE(request->stops_early && request->is_detached);
  EXPECT_EQ(request->deadline, std::chrono::milliseconds(5));
}

TEST(BatchRequest, ACasesComparatorComesBeforeThatOfAll) {
  EXPECT_EQ(comparison_of("", "").kind, Kind::trim);
  EXPECT_EQ(comparison_of(R"("comparator": "exact", )", "").kind, Kind::exact);
  EXPECT_EQ(comparison_of(R"("comparator": "exact", )", R"(, "comparator": "tokens")").kind,
            Kind::tokens);
  const auto usual = comparison_of("", R"(, "comparator": {"type": "float"})");
  EXPECT_EQ(usual.kind, Kind::number);
  EXPECT_EQ(usual.absolute, 1e-6);
  EXPECT_EQ(usual.relative, 1e-6);
  const auto relative = comparison_of("", R"(, "comparator": {"type": "float", "rel": 1})");
  EXPECT_EQ(relative.absolute, 0);
  EXPECT_EQ(relative.relative, 1);
}

TEST(BatchRequest, CodeThatTestsStandsBehindTheProgramOnItsOwnLine) {
  const auto request = parse_batch_request(with_program(R"("test_code": "assert x")"));
  ASSERT_TRUE(request) << request.error().detail;
  EXPECT_EQ(request->program.code, "x\nassert x");
  EXPECT_TRUE(request->is_tested_by_code);
  EXPECT_EQ(request->cases.size(), 1U);
}

TEST(BatchRequest, WhatIsWrongIsNamedByItsPlace) {
  EXPECT_EQ(refusal("{}"), "missing_field program");
  EXPECT_EQ(refusal("{" + kProgram + "}"), "missing_field cases");
  EXPECT_EQ(refusal(R"({"program": {}, "cases": [{}]})"), "missing_field program.code");
  EXPECT_EQ(refusal(R"({"program": {"detach": true}, "cases": [{}]})"),
            "invalid_field program.detach");
  EXPECT_EQ(refusal(R"({"program": {"language": "x", "code": "", "limits": {"pid": 1}}})"),
            "unknown_field program.limits.pid");
  EXPECT_EQ(refusal(with_program(R"("cases": {})")), "invalid_field cases");
  EXPECT_EQ(refusal(with_program(R"("cases": [])")), "invalid_field cases");
  EXPECT_EQ(refusal(with_program(R"("cases": [1])")), "invalid_field cases[0]");
  EXPECT_EQ(refusal(with_program(R"("case": [{}])")), "unknown_field case");
  EXPECT_EQ(refusal(with_case(R"("input": "x")")), "unknown_field cases[1].input");
  EXPECT_EQ(refusal(with_case(R"("args": "x")")), "invalid_field cases[1].args");
  EXPECT_EQ(refusal(with_case(R"("files": {"../x": ""})")), "invalid_field cases[1].files");
  EXPECT_EQ(refusal(with_case(R"("stdin": "", "stdin_base64": "")")),
            "invalid_field cases[1].stdin");
  EXPECT_EQ(refusal(with_case(R"("expected_stdout_base64": "?")")),
            "invalid_field cases[1].expected_stdout_base64");
  EXPECT_EQ(refusal(with_case(R"("comparator": "exact")")), "invalid_field cases[1].comparator");
  EXPECT_EQ(refusal(with_case(R"("stdin": "a", "stdin": "b")")), "invalid_json ");
  for (const char* comparator :
       {"1", "\"float\"", R"({"type": "exact"})", "{}", R"({"type": "float", "abs": -1})",
        R"({"type": "float", "rel": "1"})"}) {
    EXPECT_EQ(
        refusal(with_program("\"comparator\": " + std::string(comparator) + ", \"cases\": [{}]"))
            .find("invalid_field comparator"),
        0U)
        << comparator;
  }
  EXPECT_EQ(refusal(with_program(R"("comparator": {"type": "float", "eps": 1}, "cases": [{}])")),
            "unknown_field comparator.eps");
}

TEST(BatchRequest, WhatExcludesEachOtherIsRefused) {
  const std::string checker = R"("checker": {"argv": ["true"]}, )";
  EXPECT_EQ(refusal(with_program(checker + R"("cases": [{}])")), "");
  EXPECT_EQ(refusal(with_program(R"("test_code": "", "cases": [{}])")), "invalid_field test_code");
  EXPECT_EQ(refusal(with_program(checker + R"("test_code": "")")), "invalid_field checker");
  EXPECT_EQ(refusal(with_program(checker + R"("comparator": "exact", "cases": [{}])")),
            "invalid_field comparator");
  EXPECT_EQ(refusal(with_program(checker + R"("cases": [{"expected_stdout": "",
                                                         "comparator": "exact"}])")),
            "invalid_field cases[0].comparator");
  EXPECT_EQ(refusal(R"({"program": {"argv": ["x"]}, "test_code": ""})"), "invalid_field test_code");
  EXPECT_EQ(refusal(with_program(
                R"("checker": {"argv": ["true"], "files": {"expected": ""}}, "cases": [{}])")),
            "invalid_field checker.files");
  EXPECT_EQ(refusal(with_program(R"("checker": {"argv": ["true"], "stdin": ""}, "cases": [{}])")),
            "invalid_field checker.stdin");
}

TEST(BatchRequest, WhatIsHeldIsBounded) {
  const auto cases = [](std::size_t count, const std::string& one) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + one;
    return with_program("\"cases\": [" + list + "]");
  };
  EXPECT_EQ(refusal(cases(10'000, "{}")), "");
  EXPECT_EQ(refusal(cases(10'001, "{}")), "invalid_field cases");
  std::string files = R"({"files": {"0": "")";
  for (int i = 1; i < 256; ++i) files += ",\"" + std::to_string(i) + "\": \"\"";
  EXPECT_EQ(refusal(cases(78, files + "}}")), "");
  EXPECT_EQ(refusal(cases(79, files + "}}")), "invalid_field cases[78].files");
  std::string words = R"({"args": [""])";
  words.insert(words.size() - 2, std::string(100'000, 'x'));
  EXPECT_EQ(refusal(cases(1, words + "}")), "");
  const auto request = parse_batch_request(cases(1, words + "}"));
  ASSERT_TRUE(request);
  EXPECT_GT(held_bytes(*request), 100'000U);
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/run_request.h"

#include <gtest/gtest.h>

#include <string>

namespace wardcase::supervisor {
namespace {

// A list of `count` times the word.
std::string list_of(std::size_t count, const std::string& word) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "\"" : ",\"") + word + "\"";
  return list + "]";
}

std::string variables(std::size_t count, const std::string& value) {
  std::string object = "{";
  for (std::size_t i = 0; i < count; ++i) {
    object += (i == 0 ? "\"V" : ",\"V") + std::to_string(i) + "\":\"" + value + "\"";
  }
  return object + "}";
}

std::string with_code(const std::string& more) {
  return R"({"language": "bash", "code": ":", )" + more + "}";
}

// "": it is taken.
std::string refused_field(const std::string& body) {
  const auto request = parse_run_request(body);
  if (request) return "";
  EXPECT_EQ(request.error().code, "invalid_field");
  EXPECT_LT(request.error().detail.size(), 300U);
  return request.error().field;
}

TEST(RunRequest, HasNoMoreWordsThanACommandCanHave) {
  EXPECT_EQ(refused_field(R"({"argv": )" + list_of(4096, "x") + "}"), "");
  EXPECT_EQ(refused_field(R"({"argv": )" + list_of(4097, "x") + "}"), "argv");
  EXPECT_EQ(refused_field(with_code(R"("args": )" + list_of(4096, "x"))), "");
  EXPECT_EQ(refused_field(with_code(R"("args": )" + list_of(4097, ""))), "args");
  EXPECT_EQ(refused_field(with_code(R"("env": )" + variables(1024, "x"))), "");
  EXPECT_EQ(refused_field(with_code(R"("env": )" + variables(1025, ""))), "env");
  EXPECT_EQ(refused_field(with_code(R"("allow_syscalls": )" + list_of(512, "ptrace"))), "");
  EXPECT_EQ(refused_field(with_code(R"("allow_syscalls": )" + list_of(513, ""))), "allow_syscalls");
}

TEST(RunRequest, HasNoLongerWordsThanACommandCanHave) {
  const std::string longest((128 << 10) - 1, 'x');
  EXPECT_EQ(refused_field(with_code(R"("args": [")" + longest + "\"]")), "");
  EXPECT_EQ(refused_field(with_code(R"("args": [")" + longest + "x\"]")), "args");
  EXPECT_EQ(refused_field(with_code(R"("env": {"V": ")" + longest + "\"}")), "env");
  EXPECT_EQ(refused_field(with_code(R"("allow_syscalls": [")" + longest + "\"]")),
            "allow_syscalls");
}

TEST(RunRequest, HasNoMoreInAllThanACommandCanHave) {
  const std::string word(100 << 10, 'x');
  EXPECT_EQ(refused_field(with_code(R"("args": )" + list_of(20, word))), "");
  EXPECT_EQ(refused_field(with_code(R"("args": )" + list_of(21, word))), "args");
  EXPECT_EQ(refused_field(with_code(R"("env": )" + variables(21, word))), "env");
  const std::string half = R"("args": )" + list_of(11, word) + R"(, "env": )";
  EXPECT_EQ(refused_field(with_code(half + variables(9, word))), "");
  EXPECT_EQ(refused_field(with_code(half + variables(10, word))), "args");
}

TEST(RunRequest, TakesMoreMemoryThanItsLetters) {
  const auto held = [](const std::string& body) { return held_bytes(*parse_run_request(body)); };
  const std::uint64_t least = held(with_code(R"("args": [])"));
  EXPECT_GE(held(with_code(R"("args": )" + list_of(4096, ""))), least + 4096 * sizeof(std::string));
  EXPECT_GE(held(with_code(R"("files": {"a": "x"})")), least + 4096);
  EXPECT_GE(held(with_code(R"("stdin": ")" + std::string(1 << 20, 'x') + "\"")), least + (1 << 20));
}

TEST(RunRequest, HasNoMemberTwice) {
  const auto refusal = [](const std::string& more) {
    const auto request = parse_run_request(with_code(more));
    return request ? "" : request.error().code + ": " + request.error().detail;
  };
  EXPECT_EQ(refusal(R"("env": {"code": "x", "A": "1"}, "files": {"A": "1"})"), "");
  EXPECT_EQ(refusal(R"("code": "true")"), "invalid_json: the member 'code' stands there twice");
  EXPECT_EQ(refusal(R"("co\u0064e": "true")"),
            "invalid_json: the member 'code' stands there twice");
  EXPECT_EQ(refusal(R"("env": {"A": "1", "B": "2", "A": "1"})"),
            "invalid_json: the member 'A' stands there twice");
  std::string many = variables(1024, "");
  many.back() = ',';
  EXPECT_EQ(refusal(R"("env": )" + many + R"("V1023": ""})"),
            "invalid_json: the member 'V1023' stands there twice");
  EXPECT_EQ(refusal(R"("env": )" + many + R"("V": "", "V": ""})"),
            "invalid_field: env: are more than 1024");
}

}  // namespace
}  // namespace wardcase::supervisor

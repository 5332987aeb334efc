// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/config/token_file.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

using namespace std::chrono_literals;

Token token_named(const std::string& name, const std::string& secret) {
  Token token;
  token.name = name;
  token.hash = hash_token(secret);
  token.scopes = {true, false, true};
  token.created = Seconds(1'700'000'000s);
  return token;
}

TEST(TokenFile, TokensAreReadAsTheyWereWritten) {
  std::vector<Token> tokens = {token_named("a", "one"), token_named("b", "two")};
  tokens[1].expires = Seconds(1'800'000'000s);
  const auto read = parse_tokens(write_tokens(tokens), "f");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(write_tokens(*read), write_tokens(tokens));
  EXPECT_TRUE(read->at(0).has(Scope::admin));
  EXPECT_FALSE(read->at(0).has(Scope::session));
  EXPECT_FALSE(read->at(0).is_expired(Seconds(1'900'000'000s)));
  EXPECT_FALSE(read->at(1).is_expired(Seconds(1'799'999'999s)));
  EXPECT_TRUE(read->at(1).is_expired(Seconds(1'800'000'000s)));
  EXPECT_TRUE(parse_tokens("", "f")->empty());
}

TEST(TokenFile, ATokenIsFoundByAllOfItAlone) {
  const std::vector<Token> tokens = {token_named("a", "one"), token_named("b", "two")};
  EXPECT_EQ(find_token(tokens, hash_token("two")), &tokens[1]);
  for (const char* wrong : {"", "tw", "two ", "Two", "three"}) {
    EXPECT_EQ(find_token(tokens, hash_token(wrong)), nullptr) << wrong;
  }
}

TEST(TokenFile, WhatIsWrongIsNamedAndNeverShown) {
  const std::string good = write_tokens(std::vector{token_named("a", "one")});
  const std::string hash = good.substr(good.find("hash = \"") + 8, 64);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text :
       {with("schema = 1", "schema = 2"), with("name = \"a\"", "name = \"a b\""),
        with(hash, hash.substr(1)), with(hash, "x" + hash.substr(1)), with("\"run\"", "\"all\""),
        with("2023-", "2023/"), with("created", "made"), with("[[token]]", "[token]"),
        with("schema = 1", ""), std::string("[")}) {
    const auto read = parse_tokens(text, "f");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message().find(hash.substr(2)), std::string::npos);
  }
}

TEST(TokenFile, TimesAreWrittenAndReadInOneForm) {
  EXPECT_EQ(write_time(Seconds(0s)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(parse_time("2026-12-31T23:59:59Z"), Seconds(1'798'761'599s));
  for (const char* wrong : {"", "2026-12-31", "2026-12-31T23:59:59", "2026-12-31T23:59:59Zx"}) {
    EXPECT_FALSE(parse_time(wrong)) << wrong;
  }
}

TEST(TokenFile, NoTwoTokensAreTheSame) {
  EXPECT_NE(*make_token(), *make_token());
  EXPECT_FALSE(is_token_name(""));
  EXPECT_FALSE(is_token_name(std::string(65, 'a')));
  EXPECT_FALSE(is_token_name("a\"b"));
  EXPECT_TRUE(is_token_name("ci-1.prod_eu"));
}

}  // namespace
}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/told_error.h"

#include <gtest/gtest.h>

#include <string>

#include "supervisor/run/text_decoder.h"

namespace wardcase::supervisor {
namespace {

using namespace std::literals;

TEST(ToldErrors, AreFieldsEachEndedByAZeroByte) {
  const ToldError told = parse_told(
      "type=OSError\0message=a=b\nc\0traceback=T\0code=ENOENT\0module=m\0path=/p\0errno=2\0"
      "file=f.py\0line=7\0"sv);
  EXPECT_EQ(told.type, "OSError");
  EXPECT_EQ(told.message, "a=b\nc");
  EXPECT_EQ(told.traceback, "T");
  EXPECT_EQ(told.code, "ENOENT");
  EXPECT_EQ(told.module, "m");
  EXPECT_EQ(told.path, "/p");
  EXPECT_EQ(told.error_number, 2);
  EXPECT_EQ(told.file, "f.py");
  EXPECT_EQ(told.line, 7U);
  EXPECT_EQ(told.prelude, PreludeState::none);
}

TEST(ToldErrors, TakeTheLastOfAName) {
  EXPECT_EQ(parse_told("type=A\0prelude=begin\0type=B\0prelude=done\0"sv).type, "B");
  EXPECT_EQ(parse_told("prelude=begin\0"sv).prelude, PreludeState::begun);
  EXPECT_EQ(parse_told("prelude=begin\0prelude=done\0"sv).prelude, PreludeState::done);
}

TEST(ToldErrors, LeaveOutWhatIsNoFieldOrNotFinished) {
  const ToldError told =
      parse_told("\0\0=x\0type\0other=1\0errno=2x\0line=-3\0line=99999999999\0type=cut"sv);
  EXPECT_EQ(told.type, "");
  EXPECT_EQ(told.error_number, 0);
  EXPECT_EQ(told.line, 0U);
  EXPECT_EQ(parse_told("").type, "");
}

TEST(ToldErrors, AreValidTextAndBoundedWhateverWasWritten) {
  const std::string much(kMostTold * 2, '\xff');
  EXPECT_EQ(parse_told(much).type, "");
  const std::string half(kMostTold / 2, '\xff');
  const ToldError told = parse_told("type=" + half +
                                    "\0message=a\xed\xa0\x80"
                                    "b\0"s);
  EXPECT_EQ(told.type, to_utf8(std::string(128, '\xff')));
  EXPECT_EQ(told.message,
            "a\ufffd\ufffd\ufffd"
            "b");
  const ToldError traced = parse_told("traceback=" + std::string(100'000, 'x') + '\0');
  EXPECT_EQ(traced.traceback.size(), 64U * 1024);
}

TEST(ToldErrors, TheReportOfAFullHeapIsOneToo) {
  const ToldError told = parse_told(
      "prelude=begin\0prelude=done\0"
      R"({"header":{"reportVersion":3,"event":"Allocation failed - JavaScript heap out of memory",)"
      R"("trigger":"OOMError","filename":"x)"sv);
  EXPECT_EQ(told.type, "MemoryError");
  EXPECT_EQ(told.message, "JavaScript heap out of memory");
  EXPECT_EQ(told.prelude, PreludeState::done);
  for (const auto other : {R"({"header":{"event":"Something else",)"sv, R"({"header":{"event":)"sv,
                           R"({"header":{)"sv, R"({"event":"JavaScript heap out of memory")"sv}) {
    EXPECT_EQ(parse_told(other).type, "") << other;
  }
}

}  // namespace
}  // namespace wardcase::supervisor

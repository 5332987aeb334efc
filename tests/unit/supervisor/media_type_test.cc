// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/media_type.h"

#include <gtest/gtest.h>

namespace wardcase::supervisor {
namespace {

using namespace std::string_view_literals;

TEST(MediaType, OfImagesIsToldByWhatTheyBeginWith) {
  EXPECT_EQ(media_type_of("a.txt", "\x89PNG\r\n\x1a\n..."sv), "image/png");
  EXPECT_EQ(media_type_of("a", "\xff\xd8\xff\xe0"sv), "image/jpeg");
  EXPECT_EQ(media_type_of("a", "GIF89a..."), "image/gif");
  EXPECT_EQ(media_type_of("a", "RIFF\1\2\3\0WEBPVP8 "sv), "image/webp");
  EXPECT_EQ(media_type_of("a", "II*\0...."sv), "image/tiff");
  EXPECT_EQ(media_type_of("a", "%PDF-1.7"), "application/pdf");
  EXPECT_EQ(media_type_of("a", "\xEF\xBB\xBF <svg xmlns='...'>"), "image/svg+xml");
  EXPECT_EQ(media_type_of("a", "<?xml version='1.0'?>\n<!-- by us --><svg>"), "image/svg+xml");
}

TEST(MediaType, NoNameMakesAnImageOfSomethingElse) {
  for (const char* name : {"a.png", "a.jpg", "a.gif", "a.webp", "a.svg", "a.pdf", "a.tiff"}) {
    EXPECT_EQ(media_type_of(name, "<script>alert(1)</script>"), "application/octet-stream") << name;
    EXPECT_EQ(media_type_of(name, ""), "application/octet-stream") << name;
  }
  EXPECT_EQ(media_type_of("a.wav", "RIFF\1\2\3\0WAVEfmt "sv), "audio/x-wav");
  EXPECT_EQ(media_type_of("a.html", "<html><svg></svg></html>"), "text/html");
}

TEST(MediaType, OfOthersIsToldByTheSuffix) {
  EXPECT_EQ(media_type_of("sub.d/data.csv", "a,b\n"), "text/csv");
  EXPECT_EQ(media_type_of("DATA.CSV", "a,b\n"), "text/csv");
  EXPECT_EQ(media_type_of("a.tar.gz", "\x1f\x8b"), "application/gzip");
  EXPECT_EQ(media_type_of("data.csv/file", ""), "application/octet-stream");
  EXPECT_EQ(media_type_of(".csv", ""), "application/octet-stream");
  EXPECT_EQ(media_type_of("a.", ""), "application/octet-stream");
  EXPECT_EQ(media_type_of("a.\xff", ""), "application/octet-stream");
}

}  // namespace
}  // namespace wardcase::supervisor

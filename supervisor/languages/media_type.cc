// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/media_type.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace wardcase::supervisor {
namespace {

struct Suffix {
  std::string_view suffix;
  std::string_view type;
};

// lint: table
constexpr Suffix kSuffixes[] = {
    {"avi", "video/x-msvideo"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/x-c"},
    {"cc", "text/x-c++"},
    {"cpp", "text/x-c++"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eps", "application/postscript"},
    {"flac", "audio/flac"},
    {"geojson", "application/geo+json"},
    {"go", "text/x-go"},
    {"gz", "application/gzip"},
    {"h", "text/x-c"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ini", "text/plain"},
    {"ipynb", "application/x-ipynb+json"},
    {"jar", "application/java-archive"},
    {"java", "text/x-java"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/jsonl"},
    {"log", "text/plain"},
    {"md", "text/markdown"},
    {"mjs", "text/javascript"},
    {"mkv", "video/x-matroska"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ndjson", "application/x-ndjson"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"parquet", "application/vnd.apache.parquet"},
    {"php", "text/x-php"},
    {"pl", "text/x-perl"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"ps", "application/postscript"},
    {"py", "text/x-python"},
    {"rb", "text/x-ruby"},
    {"rs", "text/x-rust"},
    {"rst", "text/x-rst"},
    {"rtf", "application/rtf"},
    {"sh", "text/x-shellscript"},
    {"sql", "application/sql"},
    {"sqlite", "application/vnd.sqlite3"},
    {"tar", "application/x-tar"},
    {"tex", "text/x-tex"},
    {"tgz", "application/gzip"},
    {"toml", "application/toml"},
    {"ts", "text/x-typescript"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wasm", "application/wasm"},
    {"wav", "audio/x-wav"},
    {"webm", "video/webm"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};

constexpr std::string_view kUnknown = "application/octet-stream";
constexpr std::size_t kWebpAt = 8;  // after RIFF and its length
constexpr std::string_view kSvg = "image/svg+xml";

// A drawing begins with its element, or with what may stand before that in any XML.
bool is_svg(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  const std::size_t element = text.find("<svg");
  if (element == std::string_view::npos) return false;
  return element == 0 || text.starts_with("<?xml") || text.starts_with("<!--") ||
         text.starts_with("<!DOCTYPE svg");
}

std::string_view type_of_beginning(std::string_view beginning) {
  using namespace std::string_view_literals;
  if (beginning.starts_with("\x89PNG\r\n\x1a\n"sv)) return "image/png";
  if (beginning.starts_with("\xff\xd8\xff"sv)) return "image/jpeg";
  if (beginning.starts_with("GIF87a") || beginning.starts_with("GIF89a")) return "image/gif";
  if (beginning.starts_with("II*\0"sv) || beginning.starts_with("MM\0*"sv)) return "image/tiff";
  if (beginning.starts_with("RIFF") && beginning.find("WEBP") == kWebpAt) return "image/webp";
  if (beginning.starts_with("%PDF-")) return "application/pdf";
  return is_svg(beginning) ? kSvg : "";
}

}  // namespace

std::string_view media_type_of(std::string_view name, std::string_view beginning) {
  const std::string_view found = type_of_beginning(beginning.substr(0, kMediaTypeBytes));
  if (!found.empty()) return found;
  const std::string_view file = name.substr(name.rfind('/') + 1);
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return kUnknown;
  std::string suffix(file.substr(dot + 1));
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto* const known = std::ranges::find(kSuffixes, suffix, &Suffix::suffix);
  return known == std::end(kSuffixes) ? kUnknown : known->type;
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
//
// Writes the C++ source that holds languages as a table: at build time, with the reader that the
// product has for files of its users, so that a start parses nothing.
//
// usage: embed-languages policies/languages/*.toml >shipped_languages.cc
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "policies/language_reader.h"

namespace {

using wardcase::policies::Language;
using wardcase::policies::Runner;
using wardcase::policies::Words;

// As a literal: what is not plain in octal, which no following digit can lengthen.
std::string literal(std::string_view text) {
  std::string written = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
      written += c;
      continue;
    }
    std::ostringstream octal;
    octal << '\\' << std::oct << (byte >> 6) << ((byte >> 3) & 7) << (byte & 7);
    written += octal.str();
  }
  return written + "\"";
}

// Lists are constants of their own, written before the table that names them.
class Table {
 public:
  std::string list(Words words) {
    if (words.empty()) return "{}";
    std::string name = next("kWords");
    before_ += "constexpr std::string_view " + name + "[] = {";
    for (const std::string_view word : words) before_ += literal(word) + ", ";
    before_ += "};\n";
    return name;
  }

  std::string runners(std::span<const Runner> runners) {
    std::string text;
    for (const Runner& runner : runners) text += "  " + one(runner) + ",\n";
    std::string name = next("kRunners");
    before_ += "constexpr Runner " + name + "[] = {\n" + text + "};\n";
    return name;
  }

  void add(const Language& its) {
    rows_ += "    {" + literal(its.name) + ", kBuiltIn, " + list(its.aliases) + ", " +
             list(its.suffixes) + ", " + literal(its.snippet_name) + ", {" +
             literal(its.variant.name) + ", " + list(its.variant.line_starts) + ", " +
             list(its.variant.unless) + "}, " + runners(its.runners) + ", " +
             list(its.environment) + ", " + list(its.etc_paths) + ", " + list(its.allow_syscalls) +
             ", " + limits(its.needs) + ", " + list(its.warm_up) + ", " + literal(its.hook) + ", " +
             literal(its.worker) + "},\n";
  }

  [[nodiscard]] std::string text() const {
    return "#include \"policies/language.h\"\n\nnamespace wardcase::policies {\nnamespace {\n" +
           before_ + "constexpr Language kLanguages[] = {\n" + rows_ +
           "};\n}  // namespace\n\n"
           "std::span<const Language> shipped_languages() { return kLanguages; }\n\n"
           "}  // namespace wardcase::policies\n";
  }

 private:
  std::string next(const char* prefix) { return prefix + std::to_string(count_++); }

  static std::string limit(const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) + "U" : "std::nullopt";
  }
  static std::string limits(const wardcase::policies::StageLimits& its) {
    return "{" + limit(its.timeout) + ", " + limit(its.memory) + ", " + limit(its.pids) + "}";
  }

  std::string one(const Runner& its) {
    return "{" + list(its.interpreters) + ", " + literal(its.package) + ", " +
           literal(its.minimum_version) + ", " + list(its.version) + ", " + list(its.run) + ", {" +
           list(its.compile.command) + ", " + literal(its.compile.output) + ", " +
           list(its.compile.environment) + ", " + list(its.compile.errors) + ", " +
           limits(its.compile.limits) + "}, {" + list(its.check.command) + ", " +
           literal(its.check.script) + ", " + list(its.check.errors) + ", " +
           literal(its.check.refusal) + "}}";
  }

  std::string before_;
  std::string rows_;
  int count_ = 0;
};

int embed(std::span<char*> paths) {
  Table table;
  for (const std::string path : paths) {
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    std::string name = path.substr(path.rfind('/') + 1);
    name.resize(name.rfind('.'));
    const auto read = wardcase::policies::read_language(text, path, name);
    if (!read) {
      std::cerr << read.error().message() << "\n";
      return 1;
    }
    table.add(read->language);
  }
  std::cout << table.text();
  return std::cout.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return embed({argv + 1, static_cast<std::size_t>(argc - 1)});
  } catch (const std::exception& error) {
    std::cerr << "embed-languages: " << error.what() << "\n";
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/requirement_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <utility>

#include "policies/toml_document.h"
#include "sandbox/sys/files.h"
#include "sandbox/sys/retry.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

using Requirements = std::vector<Requirement>;

sys::Error at_line(std::string_view file, std::size_t line, const sys::Error& error) {
  return sys::plain_error(std::string(file) + ":" + std::to_string(line) + ": " + error.what);
}

// Takes a line off the front, without what ends it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// pip's rule: '#' at the start or after a blank.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

// NAME@RANGE of each member.
sys::Status add_members(const json::object& package, std::string_view key, std::string_view file,
                        Requirements& requirements) {
  const json::value* const members = package.if_contains(key);
  if (members == nullptr) return {};
  const auto wrong = [&](const std::string& what) {
    return tl::unexpected(
        sys::plain_error(std::string(file) + ": " + std::string(key) + ": " + what));
  };
  if (!members->is_object()) return wrong("write an object of names and versions");
  for (const auto& [name, range] : members->get_object()) {
    if (!range.is_string()) return wrong("the versions must be strings");
    const std::string versions(range.get_string().empty() ? "*" : std::string(range.get_string()));
    auto parsed = parse_npm_requirement(std::string(name) + "@" + versions);
    if (!parsed) return wrong(parsed.error().what);
    requirements.push_back(*std::move(parsed));
  }
  return {};
}

// What stands between `# /// script` and `# ///`; PEP 723 has the rules.
struct ScriptBlock {
  std::string text;       // as TOML
  std::size_t count = 0;  // how many of them there are
};

// nullopt: the line can't be part of a block.
std::optional<std::string_view> block_content(std::string_view line) {
  if (line == "#") return "";
  if (line.starts_with("# ")) return line.substr(2);
  return std::nullopt;
}

// Takes a block's lines off the front, as far as its last end: one that a line of code comes before
// is none. False: it has no end.
bool take_block(std::string_view& program, std::string& text) {
  constexpr std::string_view kEnd = "# ///";
  std::string so_far;
  bool has_end = false;
  for (std::string_view rest = program; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const auto content = block_content(line);
    if (!content) break;
    if (line == kEnd) {
      text = so_far;
      program = rest;
      has_end = true;
    }
    so_far.append(*content).append("\n");
  }
  return has_end;
}

ScriptBlock find_script_block(std::string_view program) {
  ScriptBlock block;
  // Most programs have none.
  if (program.find("# /// script") == std::string_view::npos) return block;
  while (!program.empty()) {
    if (take_line(program) != "# /// script") continue;
    std::string text;
    if (!take_block(program, text)) continue;
    if (block.count++ == 0) block.text = std::move(text);
  }
  return block;
}

}  // namespace

sys::Result<Requirements> parse_requirements_txt(std::string_view text, std::string_view file) {
  Requirements requirements;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string whole;
    const std::size_t first = number + 1;
    bool goes_on = true;
    while (goes_on && !text.empty()) {
      std::string_view line = take_line(text);
      ++number;
      goes_on = line.ends_with('\\');
      if (goes_on) line.remove_suffix(1);
      whole += without_comment(line);
    }
    if (whole.find_first_not_of(" \t") == std::string::npos) continue;
    auto parsed = parse_python_requirement(whole);
    if (!parsed) return tl::unexpected(at_line(file, first, parsed.error()));
    requirements.push_back(*std::move(parsed));
  }
  return requirements;
}

sys::Result<Requirements> parse_package_json(std::string_view text, std::string_view file) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 32;
  const json::value value = json::parse(text, error, {}, options);
  if (error || !value.is_object()) {
    return tl::unexpected(sys::plain_error(std::string(file) + ": not a JSON object" +
                                           (error ? " (" + error.message() + ")" : "")));
  }
  Requirements requirements;
  for (const std::string_view key : {"dependencies", "optionalDependencies"}) {
    if (auto added = add_members(value.get_object(), key, file, requirements); !added) {
      return tl::unexpected(added.error());
    }
  }
  return requirements;
}

sys::Result<Requirements> parse_script_block(std::string_view program, std::string_view file) {
  const ScriptBlock block = find_script_block(program);
  if (block.count == 0) return Requirements();
  const std::string place = std::string(file) + ": its head";
  if (block.count > 1) {
    return tl::unexpected(sys::plain_error(place + ": there is more than one script block"));
  }
  const auto table = policies::parse_toml(block.text, place);
  if (!table) return tl::unexpected(table.error());
  const policies::TomlNode* const listed = table->find("dependencies");
  if (listed == nullptr) return Requirements();
  Requirements requirements;
  const auto is_text = [](const auto& node) { return node.kind == policies::TomlNode::Kind::text; };
  if (listed->kind != policies::TomlNode::Kind::list ||
      !std::ranges::all_of(listed->elements, is_text)) {
    return tl::unexpected(sys::plain_error(place + ": dependencies: write a list of strings"));
  }
  for (const policies::TomlNode& each : listed->elements) {
    auto parsed = parse_python_requirement(each.text);
    if (!parsed) return tl::unexpected(std::move(parsed).error().while_doing(place));
    requirements.push_back(*std::move(parsed));
  }
  return requirements;
}

sys::Result<Requirements> parse_requirement_file(policies::Installer installer,
                                                 const RequirementText& file) {
  return installer == policies::Installer::npm ? parse_package_json(file.text, file.name)
                                               : parse_requirements_txt(file.text, file.name);
}

sys::Result<RequirementText> read_requirement_text(const std::string& path) {
  auto file = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return tl::unexpected(std::move(file).error());
  struct stat info = {};
  if (::fstat(file->get(), &info) < 0) return tl::unexpected(sys::errno_error("'" + path + "'"));
  if (!S_ISREG(info.st_mode)) {
    return tl::unexpected(sys::plain_error("'" + path + "' is not a regular file"));
  }
  std::string text(kLongestRequirementFile + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = sys::retry_eintr(
        [&] { return ::read(file->get(), text.data() + size, text.size() - size); });
    if (got < 0) return tl::unexpected(sys::errno_error("read '" + path + "'"));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLongestRequirementFile) {
    return tl::unexpected(sys::plain_error("'" + path + "' is longer than 1 MiB"));
  }
  text.resize(size);
  return RequirementText{path, std::move(text)};
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/gc_command.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "policies/units.h"
#include "supervisor/cli/console.h"

namespace wardcase::supervisor {

namespace json = boost::json;
using std::chrono::system_clock;

namespace {

constexpr int kFailed = 125;
constexpr int kNotAll = 1;
constexpr int kSchemaVersion = 1;
constexpr std::size_t kShownDigits = 12;

constexpr std::string_view kHelp =
    R"(wardcase gc: removes what was kept for later runs and was not used for long.

  wardcase gc                        what was not used for 30 days
  wardcase gc --keep-size 2g         and the longest unused, until 2 GiB are left
  wardcase gc --older-than 0         all that no run uses now
  wardcase gc --dry-run              tell what would go

Kept are installed requirements and compiled programs, in ~/.cache/wardcase. What a run
uses stays; what went is made again when it is needed.

)";

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say("gc: " + error.message());
  return kFailed;
}

sys::Result<CollectionRules> rules_of(const CommandLine& line) {
  CollectionRules rules;
  rules.dry_run = line.has("dry-run");
  if (const std::string* text = line.last("older-than")) {
    const auto age = parse_age(*text);
    if (!age) return tl::unexpected(sys::Error(age.error()).while_doing("--older-than"));
    rules.unused_for = *age;
  }
  if (const std::string* text = line.last("keep-size")) {
    const auto bytes = policies::parse_size(*text);
    if (!bytes) return tl::unexpected(sys::Error(bytes.error()).while_doing("--keep-size"));
    rules.keep_bytes = *bytes;
  }
  return rules;
}

std::uint64_t bytes_of(const std::vector<Collected>& all) {
  std::uint64_t bytes = 0;
  for (const Collected& each : all) bytes += each.bytes;
  return bytes;
}

std::string ago(system_clock::time_point used) {
  using std::chrono::hours;
  const auto age = std::chrono::duration_cast<hours>(system_clock::now() - used);
  if (age < hours(1)) return "used within the hour";
  if (age < hours(48)) return "used " + std::to_string(age.count()) + " hours ago";
  return "used " + std::to_string(age.count() / 24) + " days ago";
}

std::string line_of(const Collected& each) {
  std::string name = each.name;
  if (each.why != Collected::Why::leftover) name.resize(std::min(name.size(), kShownDigits));
  std::string line = each.kind + "/" + name + "  " + policies::format_size(each.bytes) + "  ";
  line += each.why == Collected::Why::leftover ? "left by one that was killed" : ago(each.used);
  for (std::size_t i = 0; i < each.about.size(); ++i) {
    line += (i == 0 ? "  " : i == 1 ? ": " : ", ") + each.about[i];
  }
  return printable(line);
}

std::string text_of(const Collection& collection, bool dry_run) {
  std::string text;
  for (const Collected& each : collection.removed) text += line_of(each) + "\n";
  text += std::string(dry_run ? "would remove " : "removed ") +
          std::to_string(collection.removed.size()) + ", " +
          policies::format_size(bytes_of(collection.removed)) + "; " +
          std::to_string(collection.kept) + " left, " +
          policies::format_size(collection.kept_bytes);
  if (collection.in_use > 0) {
    text += "; " + std::to_string(collection.in_use) + " of those in use";
  }
  return text + "\n";
}

}  // namespace

// lint: table
std::vector<OptionRow> gc_option_table() {
  return {
      {"dry-run", "", "", "tell what would be removed, and remove nothing"},
      {"older-than", "", "AGE", "remove what was not used for this long (default 30d)", "",
       "Written as 30d, 12h or 90m; 0 is every age."},
      {"keep-size", "", "SIZE", "remove the longest unused, until no more than this is left"},
      {"json", "", "", "print one JSON object"},
  };
}

std::string_view gc_help_head() { return kHelp; }

sys::Result<std::chrono::seconds> parse_age(std::string_view text) {
  if (text == "0") return std::chrono::seconds(0);
  constexpr std::uint64_t kMostDays = 36'500;
  if (!text.ends_with('d')) {
    const auto age = policies::parse_duration(text);
    if (age) return std::chrono::duration_cast<std::chrono::seconds>(*age);
  } else if (const auto days = policies::parse_count(text.substr(0, text.size() - 1));
             days && *days <= kMostDays) {
    return std::chrono::hours(24 * *days);
  }
  return tl::unexpected(
      sys::plain_error("'" + std::string(text) + "': not an age; write 30d, 12h or 0"));
}

std::string collection_to_json(const Collection& collection, bool dry_run) {
  json::array removed;
  for (const Collected& each : collection.removed) {
    json::array about;
    for (const std::string& line : each.about) about.emplace_back(printable(line));
    removed.push_back(json::object{{"kind", each.kind},
                                   {"name", printable(each.name)},
                                   {"bytes", each.bytes},
                                   {"last_used", system_clock::to_time_t(each.used)},
                                   {"why", why_name(each.why)},
                                   {"about", std::move(about)}});
  }
  json::array trouble;
  for (const std::string& each : collection.trouble) trouble.emplace_back(printable(each));
  return json::serialize(json::object{{"schema_version", kSchemaVersion},
                                      {"dry_run", dry_run},
                                      {"removed", std::move(removed)},
                                      {"removed_bytes", bytes_of(collection.removed)},
                                      {"kept", collection.kept},
                                      {"kept_bytes", collection.kept_bytes},
                                      {"in_use", collection.in_use},
                                      {"trouble", std::move(trouble)}});
}

int gc_command(std::span<const std::string> words) {
  const auto line = CommandLine::parse(gc_option_table(), words);
  if (!line) return fail(line.error());
  if (!line->operands().empty()) {
    return fail(sys::plain_error("takes no arguments, not '" + line->operands()[0] + "'"));
  }
  const auto rules = rules_of(*line);
  if (!rules) return fail(rules.error());
  const auto collection = collect_caches(*rules);
  if (!collection) return fail(collection.error());
  const Console console(Verbosity::normal);
  for (const std::string& each : collection->trouble) console.say("gc: " + each);
  const bool is_written = write_all(
      STDOUT_FILENO, line->has("json") ? collection_to_json(*collection, rules->dry_run) + "\n"
                                       : text_of(*collection, rules->dry_run));
  if (!is_written) return kFailed;
  return collection->trouble.empty() ? 0 : kNotAll;
}

}  // namespace wardcase::supervisor

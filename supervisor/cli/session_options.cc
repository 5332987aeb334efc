// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/session_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "policies/units.h"
#include "supervisor/languages/program.h"
#include "supervisor/run/run.h"
#include "supervisor/sessions/interpreters.h"
#include "supervisor/sessions/session_place.h"
#include "supervisor/sessions/session_terms.h"

namespace wardcase::supervisor {

namespace {

using std::chrono::milliseconds;

// Those of run that are about the box; limits are added.
constexpr std::array kOfTheBox = {"env",     "env-file",    "volume",
                                  "network", "policy",      "allow-syscalls",
                                  "prelude", "requirement", "requirements"};

bool is_of_the_box(const OptionRow& row) {
  const bool is_limit =
      std::ranges::any_of(policies::limit_table(),
                          [&](const policies::LimitRow& limit) { return limit.flag == row.name; });
  return is_limit || std::ranges::find(kOfTheBox, row.name) != kOfTheBox.end();
}

bool is_requirement(const std::string& word) {
  return word == "--requirement" || word == "--requirements";
}

// A line each, for who compares; what was installed is no part of the box.
std::string words_of_box(std::span<const std::string> words) {
  std::string lines;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_requirement(words[i])) {
      ++i;  // and its value
    } else if (!is_requirement(words[i].substr(0, words[i].find('=')))) {
      lines += words[i] + "\n";
    }
  }
  return lines;
}

sys::Status take_requirements(const CommandLine& line, SessionOptions& options) {
  const auto asked = read_requirements(requirements_of(line));
  if (!asked) return tl::unexpected(asked.error());
  auto needed = collect_requirements(*asked, installer_of(options.language), "", "");
  if (!needed) return tl::unexpected(sys::Error(needed.error()).while_doing("session new"));
  options.requirements = *std::move(needed);
  return {};
}

}  // namespace

// lint: table
std::vector<OptionRow> session_option_table() {
  std::vector<OptionRow> table = {
      {"id", "", "ID", "name of the session, [A-Za-z0-9._-]{1,64}; else one is made up"},
      {"language", "l", "NAME", "language of programs that do not name one (default python)", "",
       "", "python|javascript|bash"},
      {"ttl", "", "TIME", "how long it lives (default 1h, at most 24h)"},
      {"idle-ttl", "", "TIME|none", "how long it lives without being used (default 30m)"},
      {"json", "", "", "print JSON"},
  };
  for (OptionRow& row : run_option_table()) {
    if (is_of_the_box(row)) table.push_back(std::move(row));
  }
  return table;
}

sys::Result<milliseconds> parse_ttl(const std::string& flag, const std::string& text) {
  const auto time = policies::parse_duration(text);
  if (!time) return tl::unexpected(sys::Error(time.error()).while_doing("--" + flag));
  const milliseconds ttl(*time);
  if (ttl.count() > 0 && ttl <= kLongestTtl) return ttl;
  return tl::unexpected(sys::plain_error("--" + flag + " " + text + ": write a time up to 24h"));
}

sys::Result<SessionOptions> parse_session_options(std::span<const std::string> words) {
  const auto line = CommandLine::parse(session_option_table(), words);
  if (!line) return tl::unexpected(sys::Error(line.error()).while_doing("session new"));
  if (!line->operands().empty()) {
    return tl::unexpected(sys::plain_error("session new: takes no arguments, not '" +
                                           line->operands().front() + "'; --id names it"));
  }
  SessionOptions options;
  options.words = words_of_box(words);
  options.ttl = kDefaultTtl;
  options.idle_ttl = kDefaultIdleTtl;
  const std::string* const id = line->last("id");
  options.id = id != nullptr ? *id : make_id("ses_");
  if (!is_session_id(options.id)) {
    return tl::unexpected(
        sys::plain_error("--id '" + options.id + "': write [A-Za-z0-9._-]{1,64}"));
  }
  for (auto [flag, into] :
       {std::pair("ttl", &options.ttl), std::pair("idle-ttl", &options.idle_ttl)}) {
    const std::string* const text = line->last(flag);
    if (text == nullptr) continue;
    if (into == &options.idle_ttl && *text == "none") {
      *into = milliseconds(0);
      continue;
    }
    auto ttl = parse_ttl(flag, *text);
    if (!ttl) return tl::unexpected(std::move(ttl).error());
    *into = *ttl;
  }
  if (auto taken = take_box_options(*line, options.box); !taken) {
    return tl::unexpected(taken.error());
  }
  if (const std::string* name = line->last("language")) {
    const policies::Language* const language = options.box.configuration.languages.find(*name);
    if (language == nullptr || !live_interpreter(*language)) {
      return tl::unexpected(sys::plain_error("--language " + *name +
                                             ": its interpreter can't live on; write python, "
                                             "javascript or bash"));
    }
    options.language = language->name;
  }
  ProgramSource prelude;
  if (const std::string* path = line->last("prelude")) prelude.prelude = *path;
  auto preludes = read_session_preludes(prelude, options.box.configuration, options.language);
  if (!preludes) return tl::unexpected(std::move(preludes).error());
  options.preludes = *std::move(preludes);
  if (auto taken = take_requirements(*line, options); !taken) return tl::unexpected(taken.error());
  if (line->has("json")) options.box.mode = OutputMode::json;
  return options;
}

}  // namespace wardcase::supervisor

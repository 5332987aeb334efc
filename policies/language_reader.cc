// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/language_reader.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "policies/policy_entry.h"
#include "policies/word_template.h"

// The keys of a language's file, row by row as those of a policy. What tells how it is run stands
// at the top, or in a [[runner]] for each of several ways.
namespace wardcase::policies {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::string_view kAskVersion[] = {"--version"};
constexpr std::size_t kLongestName = 64;

constexpr std::string_view kRunWords[] = {"interpreter",  "source",     "output",  "cpus",
                                          "memory_bytes", "memory_mib", "heap_mib"};
constexpr std::string_view kCompileWords[] = {"interpreter", "source", "output"};
constexpr std::string_view kCheckWords[] = {"interpreter", "source", "script"};
constexpr std::string_view kLimitWords[] = {"memory_bytes", "memory_mib", "heap_mib", "cpus"};

struct LanguageReading : Reading {
  LanguageStore& store;
  Language language;
  std::vector<Runner> runners;
};

LanguageReading& reading_of(const Entry& entry) {
  return static_cast<LanguageReading&>(entry.reading);  // read_language() made it
}
Language& language_of(const Entry& entry) { return reading_of(entry).language; }
// What is being read: the only one, or the last [[runner]].
Runner& runner_of(const Entry& entry) { return reading_of(entry).runners.back(); }

bool is_word(std::string_view text, std::string_view signs) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  });
}
bool is_name(std::string_view text) { return is_word(text, "+#._-") && text.front() != '-'; }
bool is_file_name(std::string_view text) { return is_word(text, "._-") && text.front() != '.'; }
bool is_suffix(std::string_view text) {
  return text.size() > 1 && text.front() == '.' && is_word(text, "._+-");
}
bool is_program(std::string_view text) {
  return is_name(text) || (text.starts_with('/') && text.find('\0') == std::string_view::npos);
}
bool is_version(std::string_view text) {
  return is_word(text, ".") && std::ranges::all_of(text, [](char c) { return c < 'A'; });
}
bool is_etc_path(std::string_view text) {
  return text.starts_with("/etc/") && text.find("/..") == std::string_view::npos &&
         text.find('\0') == std::string_view::npos;
}
bool is_text(std::string_view text) { return text.find('\0') == std::string_view::npos; }
bool is_variable(std::string_view text) {
  const std::size_t equals = text.find('=');
  return is_text(text) && equals != std::string_view::npos && equals > 0;
}

using IsGood = bool (*)(std::string_view);

sys::Status read_one(const Entry& entry, std::string_view accepted, IsGood is_good,
                     std::string_view& place) {
  if (!is_good(entry.text()) || entry.text().empty()) return refused(entry, accepted);
  place = reading_of(entry).store.keep(entry.node.text);
  return {};
}

sys::Status read_words(const Entry& entry, std::string_view accepted, IsGood is_good,
                       Words& place) {
  std::vector<std::string> words;
  auto status = read_list(entry, accepted, [&](const Entry& element) -> sys::Status {
    if (element.node.kind != TomlNode::Kind::text || !is_good(element.text())) {
      return refused(element, accepted);
    }
    words.push_back(element.node.text);
    return {};
  });
  if (status) place = reading_of(entry).store.keep(std::move(words));
  return status;
}

sys::Status read_templates(const Entry& entry, std::string_view accepted, IsGood is_good,
                           std::span<const std::string_view> known, Words& place) {
  if (auto status = read_words(entry, accepted, is_good, place); !status) return status;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const std::string_view unknown = unknown_placeholder(place[i], known);
    if (unknown.empty()) continue;
    std::string names;
    for (const std::string_view name : known) names += " {" + std::string(name) + "}";
    return wrong(entry, entry.key + "[" + std::to_string(i) + "]: unknown placeholder {" +
                            std::string(unknown) + "}; there are" + names);
  }
  return {};
}

sys::Status read_command(const Entry& entry, std::span<const std::string_view> known,
                         Words& place) {
  constexpr std::string_view kAccepted =
      "a command: a list of texts, of which the first is no option";
  auto status = read_templates(entry, kAccepted, is_text, known, place);
  if (status && (place.empty() || place.front().empty() || place.front().starts_with('-'))) {
    return refused(entry, kAccepted);
  }
  return status;
}

sys::Status read_stage_limit(const Entry& entry, LimitId id, std::optional<std::uint64_t>& place) {
  const bool is_number = entry.node.kind == TomlNode::Kind::integer;
  if (!is_number && entry.node.kind != TomlNode::Kind::text) return refused(entry, "a limit");
  const std::string text = is_number ? written(entry.node) : entry.node.text;
  auto value = parse_default(limit_row(id), entry.key, text);
  if (!value) return wrong(entry, value.error().what);
  place = *value;
  return {};
}

constexpr Row kCompileKeys[] = {
    {"command",
     [](const Entry& entry) {
       return read_command(entry, kCompileWords, runner_of(entry).compile.command);
     }},
    {"output",
     [](const Entry& entry) {
       return read_one(entry, "the name of a file", is_file_name, runner_of(entry).compile.output);
     }},
    {"environment",
     [](const Entry& entry) {
       return read_words(entry, "a list of \"NAME=VALUE\"", is_variable,
                         runner_of(entry).compile.environment);
     }},
    {"errors",
     [](const Entry& entry) {
       return read_templates(entry, "a list of patterns", is_text, kErrorParts,
                             runner_of(entry).compile.errors);
     }},
    {"timeout",
     [](const Entry& entry) {
       return read_stage_limit(entry, LimitId::timeout, runner_of(entry).compile.limits.timeout);
     }},
    {"memory",
     [](const Entry& entry) {
       return read_stage_limit(entry, LimitId::memory, runner_of(entry).compile.limits.memory);
     }},
    {"pids",
     [](const Entry& entry) {
       return read_stage_limit(entry, LimitId::pids, runner_of(entry).compile.limits.pids);
     }},
};

constexpr Row kCheckKeys[] = {
    {"command",
     [](const Entry& entry) {
       return read_command(entry, kCheckWords, runner_of(entry).check.command);
     }},
    {"script",
     [](const Entry& entry) {
       return read_one(entry, "the text of a program", is_text, runner_of(entry).check.script);
     }},
    {"errors",
     [](const Entry& entry) {
       return read_templates(entry, "a list of patterns", is_text, kErrorParts,
                             runner_of(entry).check.errors);
     }},
    {"none",
     [](const Entry& entry) {
       return read_one(entry, "a reason in quotes", is_text, runner_of(entry).check.refusal);
     }},
};

sys::Status read_compile(const Entry& entry) {
  if (auto status = read_section(entry, kCompileKeys); !status) return status;
  const CompileStep& step = runner_of(entry).compile;
  if (step.command.empty() || step.output.empty())
    return wrong(entry, entry.key + ": needs command and output");
  return {};
}

sys::Status read_check(const Entry& entry) {
  if (auto status = read_section(entry, kCheckKeys); !status) return status;
  const CheckStep& step = runner_of(entry).check;
  if (step.command.empty() == step.refusal.empty())
    return wrong(entry, entry.key + ": needs command, or none and the reason");
  const bool uses_script = std::ranges::any_of(
      step.command, [](std::string_view word) { return has_placeholder(word, "script"); });
  if (uses_script != !step.script.empty())
    return wrong(entry, entry.key + ": {script} and script need each other");
  return {};
}

constexpr Row kRunnerKeys[] = {
    {"interpreters",
     [](const Entry& entry) {
       return read_words(entry, "a list of programs' names", is_program,
                         runner_of(entry).interpreters);
     }},
    {"package",
     [](const Entry& entry) {
       return read_one(entry, "the name of a package", is_name, runner_of(entry).package);
     }},
    {"minimum_version",
     [](const Entry& entry) {
       return read_one(entry, "a version; write \"3.8\"", is_version,
                       runner_of(entry).minimum_version);
     }},
    {"version",
     [](const Entry& entry) {
       return read_words(entry, "a list of texts", is_text, runner_of(entry).version);
     }},
    {"run",
     [](const Entry& entry) { return read_command(entry, kRunWords, runner_of(entry).run); }},
    {"compile", read_compile},
    {"check", read_check},
};

sys::Status check_runner(const Entry& entry) {
  const Runner& runner = runner_of(entry);
  const std::string prefix = entry.key.empty() ? "" : entry.key + ".";
  if (runner.interpreters.empty())
    return wrong(entry, prefix + "interpreters: none is named; write interpreters = [\"NAME\"]");
  if (runner.run.empty())
    return wrong(entry, prefix + "run: no command; write run = [\"{interpreter}\", \"{source}\"]");
  const bool runs_output = std::ranges::any_of(
      runner.run, [](std::string_view word) { return has_placeholder(word, "output"); });
  if (runs_output && runner.compile.command.empty())
    return wrong(entry, prefix + "run: {output} is what [compile] makes, and there is none");
  return {};
}

Runner new_runner() {
  Runner runner;
  runner.version = kAskVersion;
  return runner;
}

sys::Status read_runners(const Entry& entry) {
  reading_of(entry).runners.clear();
  auto status = read_list(entry, "a list of tables; write [[runner]]", [](const Entry& element) {
    reading_of(element).runners.push_back(new_runner());
    return read_rows(element, "runner", kRunnerKeys).and_then([&] {
      return check_runner(element);
    });
  });
  if (status && reading_of(entry).runners.empty()) return refused(entry, "a list with a runner");
  return status;
}

constexpr Row kSnippetKeys[] = {
    {"name",
     [](const Entry& entry) {
       return read_one(entry, "the name of a file", is_file_name, language_of(entry).variant.name);
     }},
    {"line_starts",
     [](const Entry& entry) {
       return read_words(entry, "a list of texts", is_text, language_of(entry).variant.line_starts);
     }},
    {"unless",
     [](const Entry& entry) {
       return read_words(entry, "a list of texts", is_text, language_of(entry).variant.unless);
     }},
};

constexpr Row kNeedKeys[] = {
    {"allow_syscalls",
     [](const Entry& entry) {
       return read_words(entry, "a list of system calls", is_name,
                         language_of(entry).allow_syscalls);
     }},
    {"memory",
     [](const Entry& entry) {
       return read_stage_limit(entry, LimitId::memory, language_of(entry).needs.memory);
     }},
    {"pids",
     [](const Entry& entry) {
       return read_stage_limit(entry, LimitId::pids, language_of(entry).needs.pids);
     }},
};

sys::Status read_schema(const Entry& entry) {
  if (entry.node.kind == TomlNode::Kind::integer && entry.node.integer == kSchema) return {};
  return refused(entry, "a format that this version knows; write schema = 1");
}

sys::Status read_snippet_variant(const Entry& entry) {
  if (auto status = read_section(entry, kSnippetKeys); !status) return status;
  const SnippetVariant& variant = language_of(entry).variant;
  if (variant.name.empty() || variant.line_starts.empty())
    return wrong(entry, entry.key + ": needs name and line_starts");
  return {};
}

constexpr Row kLanguageKeys[] = {
    {"schema", read_schema},
    {"name",
     [](const Entry& entry) {
       return read_one(entry, "the name of a language", is_name, language_of(entry).name);
     }},
    {"aliases",
     [](const Entry& entry) {
       return read_words(entry, "a list of names", is_name, language_of(entry).aliases);
     }},
    {"suffixes",
     [](const Entry& entry) {
       return read_words(entry, "a list of suffixes; write [\".py\"]", is_suffix,
                         language_of(entry).suffixes);
     }},
    {"snippet_name",
     [](const Entry& entry) {
       return read_one(entry, "the name of a file", is_file_name, language_of(entry).snippet_name);
     }},
    {"snippet_variant", read_snippet_variant},
    {"environment",
     [](const Entry& entry) {
       return read_templates(entry, "a list of \"NAME=VALUE\"", is_variable, kLimitWords,
                             language_of(entry).environment);
     }},
    {"etc_paths",
     [](const Entry& entry) {
       return read_words(entry, "a list of paths below /etc", is_etc_path,
                         language_of(entry).etc_paths);
     }},
    {"needs", [](const Entry& entry) { return read_section(entry, kNeedKeys); }},
    {"warm_up",
     [](const Entry& entry) {
       return read_words(entry, "a list of modules", is_text, language_of(entry).warm_up);
     }},
    {"hook",
     [](const Entry& entry) {
       return read_one(entry, "the name of a hook", is_name, language_of(entry).hook);
     }},
    {"worker",
     [](const Entry& entry) {
       return read_one(entry, "the name of a worker", is_name, language_of(entry).worker);
     }},
    {"runner", read_runners},
};

// With [[runner]]s nothing of a runner stands at the top.
sys::Status read_whole(const Entry& entry) {
  std::vector<Row> rows(std::begin(kLanguageKeys), std::end(kLanguageKeys));
  if (entry.node.find("runner") == nullptr) {
    rows.pop_back();
    rows.insert(rows.end(), std::begin(kRunnerKeys), std::end(kRunnerKeys));
    reading_of(entry).runners.push_back(new_runner());
  }
  if (auto status = read_rows(entry, "", rows); !status) return status;
  return entry.node.find("runner") == nullptr ? check_runner(entry) : sys::Status();
}

sys::Status check_whole(const Entry& entry, std::string_view name) {
  const Language& language = language_of(entry);
  for (const std::string_view key : {"schema", "name", "snippet_name"}) {
    if (entry.node.find(key) != nullptr) continue;
    return wrong(entry, std::string(key) + " is missing" +
                            (key == "schema" ? "; write schema = 1 at the top" : ""));
  }
  if (language.name != name) {
    return wrong(entry, "name: '" + std::string(language.name) +
                            "': not what the file is called after; write name = \"" +
                            std::string(name) + "\"");
  }
  return {};
}

}  // namespace

sys::Result<ReadLanguage> read_language(std::string_view text, std::string_view file,
                                        std::string_view name) {
  const auto table = parse_toml(text, file);
  if (!table) return tl::unexpected(table.error());
  auto store = std::make_unique<LanguageStore>();
  LanguageReading reading{{file, {}}, *store, {}, {}};
  const Entry entry{reading, "", *table};
  const auto read = read_whole(entry).and_then([&] { return check_whole(entry, name); });
  if (!read) return tl::unexpected(read.error());
  Language& language = reading.language;
  language.origin = store->keep(std::string(file));
  language.runners = store->keep(std::move(reading.runners));
  return ReadLanguage{language, std::move(store)};
}

}  // namespace wardcase::policies

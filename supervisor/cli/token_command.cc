// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/token_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "supervisor/cli/console.h"
#include "supervisor/cli/gc_command.h"
#include "supervisor/config/config.h"
#include "supervisor/config/token_file.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr int kFailed = 125;
constexpr int kSchemaVersion = 1;
constexpr mode_t kDirectoryMode = 0755;

constexpr std::string_view kHelp =
    R"(wardcase token: makes, lists and revokes tokens of the service's clients.

  wardcase token create --name ci                         prints it, once; the file has a hash
  wardcase token create --name ops --scope admin --expires 30d
  wardcase token list
  wardcase token revoke --name ci

Scopes: run (runs), session (sessions), admin (all, and of everybody); run and session
without --scope. The file is /etc/wardcase/tokens, for users ~/.config/wardcase/tokens, or
what [server] tokens of wardcase.toml says. A service learns of a change by SIGHUP
(systemctl reload wardcased), and from systemd's credentials by a restart.

)";

int fail(const sys::Error& error) {
  Console(Verbosity::normal).say("token: " + error.message());
  return kFailed;
}

tl::unexpected<sys::Error> wrong(std::string_view what) {
  return tl::unexpected(sys::plain_error(what));
}

Seconds now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

sys::Result<std::string> file_of(const CommandLine& line) {
  if (const std::string* given = line.last("file")) return *given;
  ConfigPlaces places = config_places();
  places.project.clear();
  const auto configuration = load_configuration(places, std::nullopt);
  if (!configuration) return tl::unexpected(configuration.error());
  if (const auto& tokens = configuration->policy.service.tokens) return tokens->value;
  const std::string& directory = ::geteuid() == 0 ? places.system : places.user;
  if (directory.empty()) return wrong("there is no home directory of yours; give --file FILE");
  return directory + "/tokens";
}

sys::Result<std::string> name_of(const CommandLine& line) {
  const std::string* name = line.last("name");
  if (name == nullptr) return wrong("give --name NAME");
  if (is_token_name(*name)) return *name;
  return wrong("--name " + *name + ": write 1 to 64 letters, digits, dots, dashes, underscores");
}

sys::Result<Token> asked_token(const CommandLine& line) {
  auto name = name_of(line);
  if (!name) return tl::unexpected(std::move(name).error());
  Token token;
  token.name = *std::move(name);
  token.created = now();
  for (const std::string& word : line.all("scope")) {
    const auto scope = find_scope(word);
    if (!scope) return wrong("--scope " + word + ": write run, session or admin");
    token.scopes[static_cast<std::size_t>(*scope)] = true;
  }
  if (line.all("scope").empty()) {
    for (const Scope scope : {Scope::run, Scope::session}) {
      token.scopes[static_cast<std::size_t>(scope)] = true;
    }
  }
  const std::string* expires = line.last("expires");
  if (expires == nullptr) return token;
  if (const auto age = parse_age(*expires); age && age->count() > 0) {
    token.expires = token.created + *age;
  } else {
    token.expires = parse_time(*expires);
  }
  if (token.expires && *token.expires > token.created) return token;
  return wrong("--expires " + *expires + ": write 30d or 12h, or a time to come as " +
               write_time(token.created + std::chrono::hours(24)));
}

// The directory of ours, which need not be there yet; what can't be made can't be opened either.
void make_directory_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos || slash == 0) return;
  (void)::mkdir(file.substr(0, slash).c_str(), kDirectoryMode);
}

int create(const CommandLine& line, const std::string& file) {
  auto token = asked_token(line);
  if (!token) return fail(token.error());
  const auto secret = make_token();
  if (!secret) return fail(secret.error());
  token->hash = hash_token(*secret);
  make_directory_of(file);
  const auto changed =
      change_token_file(file, NoFile::is_made, [&](std::vector<Token>& tokens) -> sys::Status {
        if (std::ranges::find(tokens, token->name, &Token::name) == tokens.end()) {
          tokens.push_back(*token);
          return {};
        }
        return wrong("there is a token '" + token->name + "' already; revoke it first");
      });
  if (!changed) return fail(changed.error());
  Console(Verbosity::normal)
      .say("token: this is all that is ever shown of it; '" + file + "' has its hash", Tone::plain);
  return write_all(STDOUT_FILENO, *secret + "\n") ? 0 : kFailed;
}

int revoke(const CommandLine& line, const std::string& file) {
  const auto name = name_of(line);
  if (!name) return fail(name.error());
  const auto changed =
      change_token_file(file, NoFile::is_error, [&](std::vector<Token>& tokens) -> sys::Status {
        if (std::erase_if(tokens, [&](const Token& each) { return each.name == *name; }) > 0) {
          return {};
        }
        return wrong("there is no token '" + *name + "' in '" + file + "'");
      });
  if (!changed) return fail(changed.error());
  Console(Verbosity::normal)
      .say("token: it counts until the service is reloaded: systemctl reload wardcased",
           Tone::plain);
  return 0;
}

std::string line_of(const Token& token) {
  std::string text = token.name;
  for (const Scope scope : {Scope::run, Scope::session, Scope::admin}) {
    if (token.has(scope)) text += "  " + std::string(scope_name(scope));
  }
  text += "  created " + write_time(token.created);
  if (!token.expires) return text + "\n";
  return text + (token.is_expired(now()) ? "  expired " : "  expires ") +
         write_time(*token.expires) + "\n";
}

json::object json_of(const Token& token) {
  json::array scopes;
  for (const Scope scope : {Scope::run, Scope::session, Scope::admin}) {
    const std::string_view name = scope_name(scope);
    if (token.has(scope)) scopes.emplace_back(json::string_view(name.data(), name.size()));
  }
  json::value expires = nullptr;
  if (token.expires) expires = write_time(*token.expires);
  return {{"name", token.name},
          {"scopes", std::move(scopes)},
          {"created", write_time(token.created)},
          {"expires", std::move(expires)},
          {"expired", token.is_expired(now())}};
}

int list(const CommandLine& line, const std::string& file) {
  const auto tokens = read_token_file(file);
  if (!tokens) return fail(tokens.error());
  std::string text;
  json::array all;
  for (const Token& token : *tokens) {
    text += line_of(token);
    all.emplace_back(json_of(token));
  }
  if (line.has("json")) {
    text = json::serialize(
               json::object{{"schema_version", kSchemaVersion}, {"tokens", std::move(all)}}) +
           "\n";
  }
  return write_all(STDOUT_FILENO, text) ? 0 : kFailed;
}

}  // namespace

// lint: table
std::vector<OptionRow> token_option_table() {
  return {
      {"name", "", "NAME", "of the token; what is asked for with it belongs to token:NAME"},
      {"scope", "", "SCOPE", "what it allows; may be given more than once", "", "",
       "run|session|admin"},
      {"expires", "", "TIME", "30d, 12h, or as 2027-01-31T00:00:00Z (default: never)"},
      {"file", "", "FILE", "the file of tokens"},
      {"json", "", "", "list as one JSON object"},
  };
}

std::string_view token_help_head() { return kHelp; }

int token_command(std::span<const std::string> words) {
  using Act = int (*)(const CommandLine&, const std::string&);
  const Act act = words.empty()          ? nullptr
                  : words[0] == "create" ? create
                  : words[0] == "list"   ? list
                  : words[0] == "revoke" ? revoke
                                         : Act(nullptr);
  if (act == nullptr) return fail(sys::plain_error("write create, list or revoke"));
  const auto line = CommandLine::parse(token_option_table(), words.subspan(1));
  if (!line) return fail(line.error());
  if (!line->operands().empty()) {
    return fail(sys::plain_error("takes no arguments, not '" + line->operands()[0] + "'"));
  }
  const auto file = file_of(*line);
  return file ? act(*line, *file) : fail(file.error());
}

}  // namespace wardcase::supervisor

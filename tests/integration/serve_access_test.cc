// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Who may come in: by tokens, and by accounts of this host.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

class ServeAccess : public Serving {
 protected:
  [[nodiscard]] std::string file() const { return (directory_.path() / "tokens").string(); }
  // `wardcase token WORDS --file FILE`.
  [[nodiscard]] Outcome token(std::vector<std::string> words) const {
    words.insert(words.begin(), "token");
    words.insert(words.end(), {"--file", file()});
    return Command(caller(), words).finish();
  }
  [[nodiscard]] std::string create(const std::string& name,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"create", "--name", name};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = token(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome;
    return outcome.out().substr(0, outcome.out().find('\n'));
  }
  [[nodiscard]] static std::string bearer(const std::string& secret) {
    return "Authorization: Bearer " + secret + "\r\n";
  }
  [[nodiscard]] Service start_on_port() const {
    return {caller(), {"--listen", "tcp:127.0.0.1:0", "--tokens", file()}};
  }

 private:
  const ScratchDirectory directory_{caller()};
};
WARDCASE_AS_ROOT_AND_USER(ServeAccess);

TEST_P(ServeAccess, ATokenIsShownOnceAndItsHashIsKept) {
  const std::string secret = create("ci", {"--scope", "run", "--expires", "30d"});
  EXPECT_EQ(secret.size(), std::string_view("wct_").size() + 43) << secret;
  EXPECT_TRUE(secret.starts_with("wct_"));
  const std::string kept = read_file(file());
  EXPECT_EQ(kept.find(secret.substr(4)), std::string::npos);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const Outcome listed = token({"list"});
  EXPECT_TRUE(listed.out().starts_with("ci  run  created 20")) << listed;
  EXPECT_NE(listed.out().find("  expires 20"), std::string::npos);
  EXPECT_EQ(token({"create", "--name", "ci"}).exit_code, 125) << "a name is one token's";
  EXPECT_NE(create("other"), secret);
  const Record json = Record::parse(token({"list", "--json"}).out());
  EXPECT_EQ(json.text("tokens.1.name"), "other");
  EXPECT_EQ(token({"revoke", "--name", "ci"}).exit_code, 0);
  EXPECT_EQ(token({"revoke", "--name", "ci"}).exit_code, 125);
  EXPECT_EQ(token({"list"}).out().find("ci "), std::string::npos);
}

TEST_P(ServeAccess, WrongUseOfTokensChangesNothing) {
  (void)create("ci");
  const std::string before = read_file(file());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"create"},
           {"create", "--name", "a b"},
           {"create", "--name", "x", "--scope", "all"},
           {"create", "--name", "x", "--expires", "yesterday"},
           {"create", "--name", "x", "--expires", "2020-01-01T00:00:00Z"},
           {"revoke"},
           {"lst"}}) {
    EXPECT_EQ(token(words).exit_code, 125) << words.back();
  }
  EXPECT_EQ(read_file(file()), before);
}

TEST_P(ServeAccess, TokensThatAreMadeAtTheSameTimeAreAllKept) {
  constexpr int kCount = 12;
  std::vector<Running> makers;
  for (int i = 0; i < kCount; ++i) {
    makers.push_back(
        Command(caller(), {"token", "create", "--name", "t" + std::to_string(i), "--file", file()})
            .start());
  }
  for (Running& maker : makers) EXPECT_EQ(maker.finish().exit_code, 0);
  const Record json = Record::parse(token({"list", "--json"}).out());
  EXPECT_TRUE(json.has("tokens." + std::to_string(kCount - 1) + ".name")) << json;
}

TEST_P(ServeAccess, WithTokensAPortTakesOneAndItsHolderOwnsWhatHeAsksFor) {
  const std::string secret = create("ci");
  const std::string other = create("other");
  Service service = start_on_port();
  HttpClient client = HttpClient::to_port(service.port());
  EXPECT_EQ(client.get("/livez").status, 200) << "probes have none";
  for (const std::string& headers :
       {std::string(), bearer("wct_wrong"), bearer(secret + "x"), bearer(secret.substr(1)),
        bearer(""), "Authorization: Basic " + secret + "\r\n", bearer(secret) + bearer(secret)}) {
    for (const char* path : {"/readyz", "/v1/version", "/v1/runs", "/openapi.json", "/nowhere"}) {
      const HttpAnswer answer = client.get(path, headers);
      EXPECT_EQ(answer.status, 401) << path << " " << headers;
      EXPECT_EQ(answer.json().text("code"), "unauthorized");
      EXPECT_EQ(answer.header("WWW-Authenticate"), "Bearer realm=\"wardcase\"");
      EXPECT_EQ(answer.body.find(secret.substr(5)), std::string::npos);
    }
  }
  const HttpAnswer run = client.post("/v1/runs", code_body("bash", "echo mine"), bearer(secret));
  EXPECT_EQ(run.json().out(), "mine\n") << run;
  const std::string path = run.header("Content-Location");
  EXPECT_EQ(client.get(path, "authorization:bearer " + secret + "\r\n").status, 200);
  EXPECT_EQ(client.get(path, bearer(other)).status, 404);
  EXPECT_EQ(client.get("/v1/runs", bearer(secret)).json().text("runs.0.owner"), "token:ci");
  EXPECT_EQ(service.stop().err().find(secret.substr(4)), std::string::npos) << "never in a log";
}

// Attack: have the service hold long bodies of who may not even ask.
TEST_P(ServeAccess, NoBodyIsReadOfWhoHasNoToken) {
  const std::string secret = create("ci");
  Service service = start_on_port();
  const std::string head =
      "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 9000000\r\n";
  HttpClient stranger = HttpClient::to_port(service.port());
  ASSERT_TRUE(stranger.send(head + "\r\n"));
  EXPECT_EQ(stranger.receive().status, 401);
  EXPECT_TRUE(stranger.is_hung_up_on());
  HttpClient known = HttpClient::to_port(service.port());
  ASSERT_TRUE(known.send(head + bearer(secret) + "Expect: 100-continue\r\n\r\n"));
  EXPECT_EQ(known.receive_head().status, 100);
}

TEST_P(ServeAccess, ScopesAndTimeBoundWhatATokenAllows) {
  const std::string runs = create("runs", {"--scope", "run"});
  const std::string sessions = create("sessions", {"--scope", "session"});
  const std::string admin = create("admin", {"--scope", "admin"});
  const std::string brief = create("brief", {"--expires", "1s"});
  Service service = start_on_port();
  HttpClient client = HttpClient::to_port(service.port());
  const HttpAnswer begun =
      client.post("/v1/runs", R"({"argv": ["true"]})", bearer(runs) + "Prefer: respond-async\r\n");
  EXPECT_EQ(begun.status, 202);
  const HttpAnswer refused = client.post("/v1/runs", R"({"argv": ["true"]})", bearer(sessions));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.json().text("code"), "forbidden");
  EXPECT_EQ(client.get("/v1/version", bearer(sessions)).status, 200);
  EXPECT_EQ(client.get("/v1/sessions", bearer(runs)).status, 403);
  EXPECT_EQ(client.get(begun.header("Location"), bearer(admin)).status, 200) << "sees all";
  EXPECT_TRUE(eventually([&] { return client.get("/v1/version", bearer(brief)).status == 401; }));
  EXPECT_NE(client.get("/v1/version", bearer(brief)).json().text("detail").find("expired"),
            std::string::npos);
}

TEST_P(ServeAccess, OverAUnixSocketATokenCountsWhereOneIsSent) {
  const std::string secret = create("ci");
  const Service service(caller(), {"--tokens", file()});
  HttpClient client = service.client();
  EXPECT_EQ(client.get("/v1/version").status, 200);
  EXPECT_EQ(client.get("/v1/version", bearer("wct_wrong")).status, 401);
  const HttpAnswer run = client.post("/v1/runs", R"({"argv": ["true"]})", bearer(secret));
  EXPECT_EQ(run.status, 200);
  EXPECT_EQ(client.get("/v1/runs", bearer(secret)).json().text("runs.0.owner"), "token:ci");
  const Service without = start();
  EXPECT_EQ(without.client().get("/v1/version", bearer(secret)).status, 401);
}

TEST_P(ServeAccess, ARevokedTokenIsGoneWithTheNextReload) {
  const std::string secret = create("ci");
  Service service = start_on_port();
  HttpClient client = HttpClient::to_port(service.port());
  EXPECT_EQ(client.get("/v1/version", bearer(secret)).status, 200);
  EXPECT_EQ(token({"revoke", "--name", "ci"}).exit_code, 0);
  const std::string next = create("next");
  service.process().signal(SIGHUP);
  ASSERT_TRUE(service.process().wait_for(Channel::err, "was read anew"));
  EXPECT_EQ(client.get("/v1/version", bearer(secret)).status, 401);
  EXPECT_EQ(client.get("/v1/version", bearer(next)).status, 200);
  fs::remove(file());  // nobody comes in without one, whatever becomes of the file
  service.process().signal(SIGHUP);
  ASSERT_TRUE(service.process().wait_for(Channel::err, "not reloaded, all is as it was"));
  EXPECT_EQ(client.get("/v1/version").status, 401);
  EXPECT_EQ(client.get("/v1/version", bearer(next)).status, 200);
}

TEST_P(ServeAccess, BeyondThisHostAPortIsServedWithTokensAlone) {
  const Outcome open = Command(caller(), {"serve", "--listen", "tcp:0.0.0.0:0"}).finish();
  EXPECT_EQ(open.exit_code, 125);
  EXPECT_NE(open.err().find("give --tokens"), std::string::npos) << open;
  const std::string secret = create("ci");
  const OwnConfiguration configuration(caller());
  configuration.write("[server]\ntokens = \"" + file() +
                      "\"\nlisten = \"tcp:0.0.0.0:0\"\nhosts = [\"Box.example\"]\n");
  Running process = Command(caller(), {"serve"}).environment(configuration.variable()).start();
  constexpr std::string_view kBefore = "listening on tcp:0.0.0.0:";
  ASSERT_TRUE(process.wait_for(Channel::err, kBefore));  // one line, in one piece
  const std::string& said = process.read_so_far(Channel::err);
  HttpClient client = HttpClient::to_port(
      static_cast<std::uint16_t>(std::atoi(said.c_str() + said.find(kBefore) + kBefore.size())));
  const auto status_of = [&](const std::string& host) {
    (void)client.send("GET /v1/version HTTP/1.1\r\nHost: " + host + "\r\n" + bearer(secret) +
                      "\r\n");
    return client.receive().status;
  };
  for (const char* host : {"localhost", "box.example", "BOX.example:80", "192.0.2.7:80", "[::2]"}) {
    EXPECT_EQ(status_of(host), 200) << host;
  }
  for (const char* host : {"evil.example", "x.box.example", "192.0.2.7.evil.example", "[::2"}) {
    EXPECT_EQ(status_of(host), 421) << host;
  }
  EXPECT_EQ(client.get("/v1/version").status, 401);
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().exit_code, 0);
}

TEST_P(ServeAccess, AFileThatOthersCanWriteToIsNotBelieved) {
  (void)create("ci");
  ASSERT_EQ(::chmod(file().c_str(), 0620), 0);
  const Outcome refused = Command(caller(), {"serve", "--tokens", file()}).finish();
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_NE(refused.err().find("can be written to by others"), std::string::npos) << refused;
  EXPECT_EQ(token({"create", "--name", "x"}).exit_code, 125);
  ASSERT_EQ(::chmod(file().c_str(), 0640), 0);
  (void)create("x");
  EXPECT_EQ(fs::status(file()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read)
      << "stays as it was";
}

TEST_P(ServeAccess, AccountsAndGroupsGetTheRoleThatTheConfigurationGivesThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be several accounts";
  constexpr uid_t kNamed = 65500;
  constexpr gid_t kAdmins = 65400;
  constexpr gid_t kRunners = 65401;
  const OwnConfiguration configuration(caller());
  configuration.write(
      "access = [{ user = \"65500\", role = \"run\" },\n"
      "  { group = \"65400\", role = \"admin\" },\n"
      "  { group = \"65401\", role = \"run\" }]\n");
  const Service service(caller(), {}, configuration.variable());
  HttpClient stranger = service.client_as(kNamed + 1, {kRunners + 1});
  const HttpAnswer refused = stranger.get("/v1/version");
  EXPECT_EQ(refused.status, 403) << refused;
  EXPECT_EQ(refused.json().text("code"), "forbidden");
  EXPECT_EQ(stranger.post("/v1/runs", R"({"argv": ["true"]})").status, 403);
  EXPECT_EQ(stranger.get("/livez").status, 200);
  HttpClient named = service.client_as(kNamed);
  const HttpAnswer run = named.post("/v1/runs", R"({"argv": ["true"]})");
  EXPECT_EQ(run.status, 200);
  const std::string path = run.header("Content-Location");
  EXPECT_EQ(service.client_as(kNamed + 2, {kRunners}).get(path).status, 404);
  EXPECT_EQ(service.client_as(kNamed + 3, {kRunners, kAdmins}).get(path).status, 200);
  EXPECT_EQ(service.client().get(path).status, 200) << "root stays administrator";
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// What the service reads from files, and reads again by SIGHUP.
#include <gtest/gtest.h>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

class ServeReload : public Serving {
 protected:
  // Has it read its files; what it says of that has to be `said`.
  static void reload(Service& service, const std::string& said) {
    service.process().signal(SIGHUP);
    EXPECT_TRUE(service.process().wait_for(Channel::err, said))
        << service.process().read_so_far(Channel::err);
  }
  [[nodiscard]] static HttpAnswer run_by(const Service& service, const std::string& policy) {
    return service.client().post("/v1/runs", R"({"argv": ["true"], "policy": ")" + policy + "\"}");
  }

  const OwnConfiguration configuration_{caller()};
};
WARDCASE_AS_ROOT_AND_USER(ServeReload);

TEST_P(ServeReload, ABrokenPolicyLeavesTheOldOneUntilItIsMended) {
  configuration_.write("[limits]\npids = 77\n");
  configuration_.write_file("policies/own.toml", "[limits]\npids = 55\n");
  Service service(caller(), {}, configuration_.variable());
  EXPECT_EQ(run_by(service, "own").json().number("limits.pids"), 55);

  configuration_.write_file("policies/own.toml", "[limits]\npids = \"many\"\n");
  configuration_.write("[limits]\npids = 66\n");
  EXPECT_EQ(run_by(service, "own").json().number("limits.pids"), 55) << "nobody has said a word";
  EXPECT_FALSE(service.client().get("/readyz").json().has("warnings"));

  reload(service, "not reloaded, all is as it was");
  EXPECT_EQ(run_by(service, "own").json().number("limits.pids"), 55);
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").number("limits.pids"), 77) << "nothing of it";
  const HttpAnswer ready = service.client().get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_NE(ready.json().json("warnings").find("own.toml:3"), std::string::npos) << ready;

  configuration_.write_file("policies/own.toml", "[limits]\npids = 44\n");
  configuration_.write_file("policies/new.toml", "[limits]\npids = 33\n");
  EXPECT_EQ(run_by(service, "new").status, 400);
  reload(service, "was read anew");
  EXPECT_EQ(run_by(service, "own").json().number("limits.pids"), 44);
  EXPECT_EQ(run_by(service, "new").json().number("limits.pids"), 33);
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").number("limits.pids"), 66);
  EXPECT_FALSE(service.client().get("/readyz").json().has("warnings"));
  EXPECT_NE(service.client().get("/v1/policies").body.find("\"new\""), std::string::npos);
}

TEST_P(ServeReload, WhatRunsMeanwhileGoesOn) {
  Service service(caller(), {}, configuration_.variable());
  HttpClient client = service.client();
  ASSERT_TRUE(client.send(run_request(R"({"argv": ["bash", "-c", "sleep 2; echo through"]})")));
  ASSERT_TRUE(comes_to_run("sleep"));
  for (int i = 0; i < 5; ++i) reload(service, "was read anew");
  EXPECT_EQ(client.receive().json().out(), "through\n");
}

TEST_P(ServeReload, ALanguageComesByAReload) {
  Service service(caller(), {}, configuration_.variable());
  const std::string body = code_body("dash", "echo spoken");
  EXPECT_EQ(service.client().post("/v1/runs", body).status, 400);
  configuration_.write_file("languages/dash.toml",
                            "name = \"dash\"\nsuffixes = [\".dash\"]\n"
                            "interpreters = [\"sh\"]\nsnippet_name = \"main.dash\"\n"
                            "run = [\"{interpreter}\", \"{source}\"]\n");
  reload(service, "was read anew");
  EXPECT_EQ(service.run(body).out(), "spoken\n");
}

TEST_P(ServeReload, NothingBeginsWithAConfigurationThatCantBeUsed) {
  for (const std::string& text :
       {std::string("surprise = 1\n"), std::string("[server]\nmax_runing = 2\n"),
        std::string("policy = \"nowhere\"\n"),
        std::string("[quota.\"no-such-user-x\"]\nqueued = 1\n"),
        std::string("[[access]]\ngroup = \"no-such-group-x\"\nrole = \"run\"\n"),
        std::string("[server]\ntokens = \"/nowhere/tokens\"\n")}) {
    configuration_.write(text);
    const Outcome refused =
        Command(caller(), {"serve"}).environment(configuration_.variable()).finish();
    EXPECT_EQ(refused.exit_code, 125) << text << refused;
  }
}

TEST_P(ServeReload, APolicyThatCantBeUsedKeepsNobodyFromTheOthers) {
  configuration_.write_file("policies/own.toml", "surprise = 1\n");
  const Service service(caller(), {}, configuration_.variable());
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").status(), "exited");
  const HttpAnswer refused = run_by(service, "own");
  EXPECT_EQ(refused.status, 500);
  EXPECT_EQ(refused.json().text("code"), "configuration");
  EXPECT_NE(service.client().get("/readyz").json().json("warnings").find("own.toml"),
            std::string::npos);
}

TEST_P(ServeReload, TheConfigurationSetsWhatTheOptionsDoAndTheyAreStronger) {
  configuration_.write(
      "[server]\nmax_running = 1\nmax_body = \"1KiB\"\nheader_timeout = \"300ms\"\n");
  const Service service(caller(), {"--max-body", "2k"}, configuration_.variable());
  HttpClient slow = service.client();
  ASSERT_TRUE(slow.send("GET /livez HT"));
  EXPECT_EQ(slow.receive().status, 408);
  const std::string long_code = code_body("bash", "true # " + std::string(1500, 'x'));
  EXPECT_EQ(service.client().post("/v1/runs", long_code).status, 200);
  const std::string longer = code_body("bash", "true # " + std::string(2500, 'x'));
  EXPECT_EQ(service.client().post("/v1/runs", longer).status, 413);
  const Outcome shown = Command(caller(), {"config", "show", "--origin"})
                            .environment(configuration_.variable())
                            .finish();
  EXPECT_NE(shown.out().find("max_body = \"1KiB\""), std::string::npos) << shown;
  EXPECT_NE(shown.out().find("wardcase.toml:4"), std::string::npos) << shown;
  EXPECT_NE(shown.out().find("queue_max = 1024"), std::string::npos) << shown;
}

}  // namespace
}  // namespace wardcase::test

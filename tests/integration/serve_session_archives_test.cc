// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Tars of the service's sessions. Each that attacks has a twin that differs in that alone, and is
// taken: so it is the attack that is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "supervisor/run/json_text.h"
#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

using ServeSessionArchives = Serving;
WARDCASE_AS_ROOT_AND_USER(ServeSessionArchives);

const std::string kArchive = "/v1/sessions/s/archive";
constexpr std::size_t kBlock = 512;

struct Entry {
  std::string name;
  char type = '0';  // as ustar has it
  std::string content = "";
  std::string target = "";
  std::uint64_t size = 0;  // 0: that of the content
};

void put_text(std::string& block, std::size_t at, std::string_view text) {
  std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(at));
}

std::string octal(std::uint64_t number, int digits) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%0*llo", digits,
                      static_cast<unsigned long long>(number));
  return text.data();
}

std::string header_of(const Entry& entry) {
  std::string block(kBlock, '\0');
  put_text(block, 0, entry.name);
  put_text(block, 100, "0000644");
  put_text(block, 108, "0000000");
  put_text(block, 116, "0000000");
  put_text(block, 124, octal(entry.size != 0 ? entry.size : entry.content.size(), 11));
  put_text(block, 136, "00000000000");
  put_text(block, 148, "        ");
  block[156] = entry.type;
  put_text(block, 157, entry.target);
  put_text(block, 257, std::string_view("ustar\00000", 8));
  put_text(block, 329, "0000001");
  put_text(block, 337, "0000003");
  std::uint64_t sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put_text(block, 148, octal(sum, 6) + std::string("\0 ", 2));
  return block;
}

std::string tar_of(const std::vector<Entry>& entries) {
  std::string tar;
  for (const Entry& entry : entries) {
    tar += header_of(entry) + entry.content;
    tar.append((kBlock - tar.size() % kBlock) % kBlock, '\0');
  }
  return tar.append(2 * kBlock, '\0');
}

HttpAnswer unpack(HttpClient& client, const std::string& tar, const std::string& query = "") {
  (void)client.send("PUT " + kArchive + query + " HTTP/1.1\r\nHost: localhost\r\n" +
                    "Content-Length: " + std::to_string(tar.size()) + "\r\n\r\n" + tar);
  return client.receive();
}

std::string out_of(HttpClient& client, std::string_view code) {
  const HttpAnswer answer =
      client.post("/v1/sessions/s/exec",
                  R"({"language": "bash", "code": )" + supervisor::json_string(code) + "}");
  EXPECT_EQ(answer.json().status(), "exited") << answer;
  return answer.json().out();
}

HttpClient with_session(const Service& service, const std::string& more = "") {
  HttpClient client = service.client();
  EXPECT_EQ(client.post("/v1/sessions", R"({"id": "s")" + more + "}").status, 201);
  return client;
}

TEST_P(ServeSessionArchives, WhatIsInABoxIsInItsTarAndTheOtherWayRound) {
  const Service service = start();
  HttpClient client = with_session(service);
  EXPECT_EQ(client.get(kArchive).status, 404) << "no box yet";
  EXPECT_EQ(out_of(client,
                   "mkdir -p d/e; seq 100000 >d/numbers; ln -s numbers d/link; mkfifo p\n"
                   "echo one >d/e/$'\\xc3\\xa4'; : >empty; echo armed"),
            "armed\n");
  const HttpAnswer tar = client.get(kArchive);
  EXPECT_EQ(tar.status, 200);
  EXPECT_EQ(tar.header("Content-Type"), "application/x-tar");
  EXPECT_EQ(tar.body.size() % kBlock, 0U);
  EXPECT_EQ(out_of(client, "mkdir copy"), "");
  EXPECT_EQ(unpack(client, tar.body, "?path=copy").status, 201);
  EXPECT_EQ(out_of(client,
                   "cd copy && find . | LC_ALL=C sort && readlink d/link && cat d/e/* && "
                   "cmp d/numbers ../d/numbers"),
            ".\n./d\n./d/e\n./d/e/\xc3\xa4\n./d/link\n./d/numbers\n./empty\nnumbers\none\n")
      << "and no pipe";
  const HttpAnswer part = client.get(kArchive + "?path=d/e");
  EXPECT_NE(part.body.find("one\n"), std::string::npos);
  EXPECT_EQ(part.body.find("numbers"), std::string::npos);
  EXPECT_EQ(client.get(kArchive + "?path=nothing").status, 404);
  EXPECT_EQ(client.get(kArchive + "?path=../..").status, 409);
}

TEST_P(ServeSessionArchives, NothingIsWrittenOutsideOfTheDirectory) {
  const Service service = start();
  HttpClient client = with_session(service);
  EXPECT_EQ(out_of(client, "mkdir in; ln -s /tmp out; ln -s ../in in/back; echo armed"), "armed\n");
  const auto both = [&](const std::vector<Entry>& attack, const std::vector<Entry>& control) {
    const HttpAnswer refused = unpack(client, tar_of(attack), "?path=in");
    EXPECT_EQ(refused.status, 409) << attack.back().name << " " << refused;
    EXPECT_EQ(refused.json().text("code"), "file_refused");
    const HttpAnswer taken = unpack(client, tar_of(control), "?path=in");
    EXPECT_EQ(taken.status, 201) << control.back().name << " " << taken;
  };
  both({{"../up", '0', "x"}}, {{"./up", '0', "x"}});
  both({{"a/../../up2", '0', "x"}}, {{"a/up2", '0', "x"}});
  both({{"/tmp/absolute", '0', "x"}}, {{"tmp/absolute", '0', "x"}});
  both({{"etc", '2', "", "/etc"}}, {{"etc", '2', "", "a"}});
  both({{"far", '2', "", "../../../etc"}}, {{"far", '2', "", "../in/a"}});
  // A link that is taken, as it stays in the box, and then a file by way of it.
  both({{"way", '2', "", "a"}, {"way/through", '0', "x"}}, {{"way2/through", '0', "x"}});
  both({{"back/through", '0', "x"}}, {{"front/through", '0', "x"}});
  both({{"hard", '1', "", "/etc/passwd"}}, {{"soft", '0', "x"}});
  both({{"hard", '1', "", "a/up2"}}, {{"hard", '0', "x"}});
  both({{"device", '3'}}, {{"device", '5'}});
  both({{"block", '4'}}, {{"block", '0'}});
  both({{"pipe", '6'}}, {{"pipe", '0'}});
  EXPECT_EQ(unpack(client, tar_of({{"x", '0', "x"}}), "?path=out").status, 409);
  EXPECT_EQ(out_of(client, "ls; ls /tmp; ls a in/a/through 2>&1 | grep -c 'No such'"),
            "in\nout\n2\n");
  EXPECT_FALSE(std::filesystem::exists("/tmp/absolute"));
}

TEST_P(ServeSessionArchives, ThereIsNoMoreThanCame) {
  const Service service = start();
  HttpClient client = with_session(service, R"(, "limits": {"disk_bytes": 8388608})");
  EXPECT_EQ(out_of(client, "echo armed"), "armed\n");
  // A header that says so of a file that does not come.
  const HttpAnswer bomb = unpack(client, tar_of({{"bomb", '0', "x", "", 1ULL << 32}}));
  EXPECT_EQ(bomb.status, 409) << bomb;
  std::string cut = tar_of({{"cut", '0', std::string(4096, 'x')}});
  EXPECT_EQ(unpack(client, cut.substr(0, 1024)).status, 409);
  EXPECT_EQ(unpack(client, "no tar at all, and not short either").status, 409);
  EXPECT_EQ(unpack(client, cut).status, 201) << "as control";
  std::vector<Entry> many(10'001);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].name = "d" + std::to_string(i % 2);
  const HttpAnswer refused = unpack(client, tar_of(many));
  EXPECT_EQ(refused.status, 507) << refused;
  many.pop_back();
  EXPECT_EQ(unpack(client, tar_of(many)).status, 201) << "as control";
  const HttpAnswer full = unpack(client, tar_of({{"full", '0', std::string(6 << 20, 'x')}}));
  EXPECT_EQ(full.status, 507) << full;
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").status(), "exited");
  EXPECT_EQ(out_of(client, "ls -a | tr '\\n' ' '; du -s /box | cut -f1 | xargs test 100 -gt"),
            ". .. cut d0 d1 ")
      << "and nothing half made";
}

}  // namespace
}  // namespace wardcase::test

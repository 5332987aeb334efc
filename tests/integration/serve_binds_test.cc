// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Directories and files of the host in a request: by paths below roots of the policy, and by
// descriptors. What attacks them, and what shows that the attack would work elsewhere.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/support/serving.h"

namespace wardcase::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kGiver = 65500;

class ServeBinds : public Serving {
 protected:
  // root/ is a root of the policy, root/in/file is there to be seen, and secret/file is not.
  void SetUp() override {
    Serving::SetUp();
    for (const char* name : {"root/in", "root/w", "secret"}) {
      fs::create_directories(place(name));
      ASSERT_EQ(::chown(place(name).c_str(), uid_of(caller()), static_cast<gid_t>(-1)), 0);
    }
    (void)places_.write("root/in/file", "seen\n");
    (void)places_.write("secret/file", "secret\n");
    fs::create_directory_symlink(place("secret"), place("root/link"));
    configuration_.write("[[host_root]]\npath = \"" + place("root") +
                         "\"\n[[host_root]]\npath = \"" + place("root/w") + "\"\nmode = \"rw\"\n");
  }
  [[nodiscard]] std::string place(const std::string& name) const {
    return (places_.path() / name).string();
  }
  [[nodiscard]] Service start_here() const { return {caller(), {}, configuration_.variable()}; }
  // A program that has these members of "binds".
  [[nodiscard]] static std::string body(const std::string& code, const std::string& bind) {
    return R"({"argv": ["sh", "-c", ")" + code + R"("], "binds": [{)" + bind + "}]}";
  }
  [[nodiscard]] static std::string of_path(const std::string& path, const std::string& more = "") {
    return R"("path": ")" + path + R"(", "target": "/data")" + more;
  }
  [[nodiscard]] static HttpAnswer post_with(HttpClient& client, const std::string& text,
                                            const std::vector<int>& descriptors) {
    EXPECT_TRUE(client.send_with(run_request(text), descriptors));
    return client.receive();
  }

  const ScratchDirectory places_{caller()};
  const OwnConfiguration configuration_{caller()};
};
WARDCASE_AS_ROOT_AND_USER(ServeBinds);

TEST_P(ServeBinds, APathBelowARootOfThePolicyIsShown) {
  const Service service = start_here();
  const std::string look = "cat /data/file; echo x > /data/new || echo read-only";
  EXPECT_EQ(service.run(body(look, of_path(place("root/in")))).out(), "seen\nread-only\n");
  EXPECT_EQ(service.run(body("cat /data", of_path(place("root/in/file")))).out(), "seen\n");
  const Record written =
      service.run(body("echo new > /data/new", of_path(place("root/w"), R"(, "mode": "rw")")));
  EXPECT_EQ(written.number("exit_code"), 0) << written;
  EXPECT_EQ(read_file(place("root/w/new")), "new\n");
}

TEST_P(ServeBinds, OtherPathsAreRefused) {
  const Service service = start_here();
  HttpClient client = service.client();
  const std::string root = place("root");
  for (const std::string& bind :
       {of_path(place("secret")), of_path("/etc"), of_path("/"), of_path(root + "/../secret"),
        of_path(root + "/in/../../secret/file"), of_path(root + "/link"),
        of_path(root + "/link/file"), of_path(root + "x"), of_path(root + "/missing"),
        of_path(root + "/in", R"(, "mode": "rw")")}) {
    const HttpAnswer answer = client.post("/v1/runs", body("cat /data/file", bind));
    EXPECT_EQ(answer.status, 400) << bind << "\n" << answer;
    EXPECT_EQ(answer.json().text("code"), "host_path") << bind;
    EXPECT_EQ(answer.json().text("field"), "binds[0].path") << bind;
  }
  const Service without = start();
  EXPECT_EQ(without.client().post("/v1/runs", body("true", of_path(root))).status, 400);
  // The link leads there indeed: who may name any path gets what is behind it.
  EXPECT_EQ(run({"--volume", root + "/link:/data", "--", "cat", "/data/file"}).out(), "secret\n");
}

TEST_P(ServeBinds, WhatIsWrittenWronglyIsRefusedByName) {
  const Service service = start_here();
  HttpClient client = service.client();
  const std::string in = place("root/in");
  for (const std::string& bind : std::vector<std::string>{
           "", R"("target": "/data")", R"("path": "in", "target": "/data")",
           R"("path": ")" + in + "\"", of_path(in, R"(, "mode": "wr")"), of_path(in, R"(, "x": 1)"),
           of_path(in, R"(, "fd": 0)"), R"("fd": 0, "target": "/data")",
           R"("fd": 16, "target": "/data")", R"("fd": -1, "target": "/data")"}) {
    const HttpAnswer answer = client.post("/v1/runs", body("true", bind));
    EXPECT_EQ(answer.status, 400) << bind << "\n" << answer;
    EXPECT_TRUE(answer.json().text("field").starts_with("binds[0]")) << answer;
  }
  const std::string twice =
      R"({"argv": ["true"], "binds": [{)" + of_path(in) + "}, {" + of_path(in) + "}]}";
  EXPECT_EQ(client.post("/v1/runs", twice).json().text("field"), "binds[1].target");
}

// Attack: put a link in the place of a directory between the look at it and the mount.
TEST_P(ServeBinds, ALinkThatIsPutThereMeanwhileShowsNothing) {
  const Service service = start_here();
  const std::string name = place("root/race");
  fs::create_directory(place("real"));
  (void)places_.write("real/file", "seen\n");
  std::atomic<bool> is_over = false;
  std::thread attacker([&] {
    const std::string link = place("root/race.link");
    while (!is_over) {
      std::error_code ignored;
      fs::rename(place("real"), name, ignored);
      fs::rename(name, place("real"), ignored);
      fs::create_directory_symlink(place("secret"), link, ignored);
      fs::rename(link, name, ignored);
      fs::remove(name, ignored);
    }
  });
  int seen = 0;
  HttpClient client = service.client();
  for (int i = 0; i < 150; ++i) {
    const HttpAnswer answer = client.post("/v1/runs", body("cat /data/file", of_path(name)));
    EXPECT_EQ(answer.body.find("secret\\n"), std::string::npos) << answer;
    seen += answer.body.find("seen\\n") != std::string::npos ? 1 : 0;
  }
  is_over = true;
  attacker.join();
  RecordProperty("seen", seen);
}

TEST_P(ServeBinds, ADescriptorOfTheGiversOwnIsShownAndCopied) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be several accounts";
  const Service service = start_here();
  HttpClient client = service.client_as(kGiver);
  ASSERT_EQ(::chown(place("secret").c_str(), kGiver, kGiver), 0);
  ASSERT_EQ(::chmod(place("secret").c_str(), 0755), 0);
  const sys::UniqueFd directory(::open(place("secret").c_str(), O_RDONLY | O_DIRECTORY));
  const sys::UniqueFd file(::open(place("root/in/file").c_str(), O_RDONLY));
  const std::string text =
      R"({"argv": ["sh", "-c", "cat /data/file copy; echo x > /data/new || echo ro"],
          "binds": [{"fd": 1, "target": "/data"}], "files": {"copy": {"fd": 0}}})";
  const HttpAnswer answer = post_with(client, text, {file.get(), directory.get()});
  EXPECT_EQ(answer.json().out(), "secret\nseen\nro\n") << answer;
  EXPECT_EQ(post_with(client, text, {}).status, 400) << "they are of one request alone";
}

// Attack: hand over what belongs to others, to have it opened by the rights of the service.
TEST_P(ServeBinds, ADescriptorGivesNoMoreThanTheGiverHas) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be several accounts";
  const Service service = start_here();
  HttpClient client = service.client_as(kGiver);
  ASSERT_EQ(::chown(place("root/w").c_str(), kGiver, kGiver), 0);
  const sys::UniqueFd of_all(::open("/", O_RDONLY | O_DIRECTORY));
  const sys::UniqueFd others(::open(place("secret").c_str(), O_RDONLY | O_DIRECTORY));
  const sys::UniqueFd unopened(::open(place("root/w").c_str(), O_PATH | O_DIRECTORY));
  const sys::UniqueFd processes(::open("/proc", O_RDONLY | O_DIRECTORY));
  const sys::UniqueFd device(::open("/dev/zero", O_RDWR));
  const std::string bind = R"("fd": 0, "target": "/data")";
  for (const int fd : {of_all.get(), others.get(), unopened.get(), processes.get(), device.get()}) {
    const HttpAnswer answer = post_with(client, body("cat /data/file", bind), {fd});
    EXPECT_EQ(answer.status, 400) << fd << "\n" << answer;
    EXPECT_EQ(answer.json().text("code"), "host_path") << answer;
    const HttpAnswer copied =
        post_with(client, R"({"argv": ["true"], "files": {"a": {"fd": 0}}})", {fd});
    EXPECT_EQ(copied.json().text("code"), "invalid_field") << copied;
  }
  // Root hands over the same, and it is shown.
  HttpClient root = service.client();
  EXPECT_EQ(post_with(root, body("cat /data/file", bind), {others.get()}).json().out(), "secret\n");
}

std::size_t open_descriptors(pid_t pid) {
  std::size_t count = 0;
  std::error_code ignored;
  for (fs::directory_iterator each("/proc/" + std::to_string(pid) + "/fd", ignored), end;
       each != end; each.increment(ignored)) {
    ++count;
  }
  return count;
}

// Attack: as many descriptors as the service can hold, in requests that never end, that are
// refused, and that use none of them.
TEST_P(ServeBinds, AFloodOfDescriptorsIsRefusedAndNoneIsKept) {
  Service service = start_here();
  const pid_t pid = service.process().pid();
  EXPECT_EQ(service.run(R"({"argv": ["true"]})").status(), "exited");
  const std::size_t before = open_descriptors(pid);
  const sys::UniqueFd null(::open("/dev/null", O_RDONLY));
  for (const std::size_t count : {17U, 200U}) {
    HttpClient client = service.client();
    const HttpAnswer answer =
        post_with(client, R"({"argv": ["true"]})", std::vector<int>(count, null.get()));
    EXPECT_EQ(answer.status, 400) << answer;
    EXPECT_EQ(answer.json().text("code"), "bad_request");
    EXPECT_TRUE(client.is_hung_up_on());
  }
  HttpClient trickle = service.client();
  bool is_sent = true;
  for (int i = 0; i < 20 && is_sent; ++i)
    is_sent = trickle.send_with("GET", std::vector<int>{null.get()});
  EXPECT_EQ(trickle.receive().status, 400);
  HttpClient unused = service.client();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(post_with(unused, R"({"argv": ["true"]})", std::vector<int>(16, null.get())).status,
              200);
  }
  HttpClient gone = service.client();
  ASSERT_TRUE(gone.send_with("POST /v1/runs HT", std::vector<int>(16, null.get())));
  gone.hang_up();
  unused.hang_up();
  trickle.hang_up();
  EXPECT_TRUE(eventually([&] { return open_descriptors(pid) <= before; }))
      << open_descriptors(pid) << " and before " << before;
}

}  // namespace
}  // namespace wardcase::test

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/serving.h"

#include <grp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "supervisor/run/json_text.h"

namespace wardcase::test {
namespace {

std::string socket_in(const ScratchDirectory& directory) { return directory.path() / "api.sock"; }

Running start_service(Caller caller, const ScratchDirectory& directory,
                      std::vector<std::string> options, const std::string& variable) {
  options.insert(options.begin(), "serve");
  if (std::ranges::find(options, "--listen") == options.end()) {
    options.insert(options.end(), {"--listen", "unix:" + socket_in(directory)});
  }
  Command command(caller, options);
  constexpr std::string_view kState = "XDG_STATE_HOME=";
  if (!variable.starts_with(kState)) {
    command.environment(std::string(kState) + (directory.path() / "state").string());
  }
  if (!variable.empty()) command.environment(variable);
  Running process = command.start();
  EXPECT_TRUE(process.wait_for(Channel::err, "listening on ")) << process.read_so_far(Channel::err);
  return process;
}

bool has_descendant(std::string_view name) {
  return list_descendants().find("(" + std::string(name) + ")") != std::string::npos;
}

}  // namespace

Service::Service(Caller caller, std::vector<std::string> options, const std::string& variable)
    : directory_(std::make_unique<ScratchDirectory>(caller)),
      socket_(socket_in(*directory_)),
      process_(start_service(caller, *directory_, std::move(options), variable)) {}

Service::Service(Caller caller, const ScratchDirectory& lasting, std::vector<std::string> options)
    : socket_(socket_in(lasting)),
      process_(start_service(caller, lasting, std::move(options), "")) {}

HttpClient Service::client() const {
  HttpClient client = HttpClient::to_unix(socket_);
  EXPECT_TRUE(client.is_connected());
  return client;
}

// The kernel tells who connects, as he is at that moment.
HttpClient Service::client_as(uid_t uid, const std::vector<gid_t>& groups) const {
  constexpr gid_t kNoGroup = 65534;
  EXPECT_EQ(::chmod(directory_->path().c_str(), 0755), 0);
  EXPECT_EQ(::chmod(socket_.c_str(), 0666), 0);
  std::vector<gid_t> before(static_cast<std::size_t>(::getgroups(0, nullptr)));
  EXPECT_EQ(::getgroups(static_cast<int>(before.size()), before.data()), before.size());
  EXPECT_EQ(::syscall(SYS_setgroups, groups.size(), groups.data()), 0);
  EXPECT_EQ(::syscall(SYS_setresgid, -1, kNoGroup, -1), 0);
  EXPECT_EQ(::syscall(SYS_setresuid, -1, uid, -1), 0);
  HttpClient client = HttpClient::to_unix(socket_);
  EXPECT_EQ(::syscall(SYS_setresuid, -1, 0, -1), 0);
  EXPECT_EQ(::syscall(SYS_setresgid, -1, 0, -1), 0);
  EXPECT_EQ(::syscall(SYS_setgroups, before.size(), before.data()), 0);
  EXPECT_TRUE(client.is_connected());
  return client;
}

Record Service::run(std::string_view body) const {
  const HttpAnswer answer = client().post("/v1/runs", body);
  EXPECT_EQ(answer.status, 200) << answer << "\n" << body;
  return answer.json();
}

std::uint16_t Service::port() {
  constexpr std::string_view kBefore = "tcp:127.0.0.1:";
  EXPECT_TRUE(process_.wait_for(Channel::err, "\n"));
  const std::string& said = process_.read_so_far(Channel::err);
  const std::size_t at = said.find(kBefore);
  EXPECT_NE(at, std::string::npos) << said;
  return static_cast<std::uint16_t>(std::atoi(said.c_str() + at + kBefore.size()));
}

void OwnConfiguration::write_file(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories(
      std::filesystem::path(directory_.path() / "wardcase" / name).parent_path());
  (void)directory_.write("wardcase/" + name, "schema = 1\n" + text);
}

Service::~Service() {
  if (!is_over_) (void)stop();
}

Outcome Service::stop(int signal) {
  is_over_ = true;
  process_.signal(signal);
  return process_.finish();
}

bool Serving::comes_to_run(std::string_view name) {
  return eventually([&] { return has_descendant(name); });
}

bool Serving::comes_to_end(std::string_view name) {
  return eventually([&] { return !has_descendant(name); });
}

std::string make_session(HttpClient& client, const std::string& body) {
  const HttpAnswer made = client.post("/v1/sessions", body);
  EXPECT_EQ(made.status, 201) << made;
  return "/v1/sessions/" + made.json().text("id");
}

std::string program_body(std::string_view code, std::string_view more) {
  return "{\"code\": " + supervisor::json_string(code) + (more.empty() ? "" : ", ") +
         std::string(more) + "}";
}

Record exec_in(HttpClient& client, const std::string& session, const std::string& body) {
  const HttpAnswer answer = client.post(session + "/exec", body);
  EXPECT_EQ(answer.status, 200) << answer << "\n" << body;
  return answer.json();
}

}  // namespace wardcase::test

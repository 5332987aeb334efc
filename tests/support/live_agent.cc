// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/live_agent.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sandbox/sys/kernel.h"
#include "supervisor/agent/worker_texts.h"
#include "tests/unit/sandbox/temporary_directory.h"

namespace wardcase::test {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

struct Pair {
  sys::UniqueFd ours;
  sys::UniqueFd theirs;
};

Pair socket_pair(int type) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
  return {sys::UniqueFd(ends[0]), sys::UniqueFd(ends[1])};
}

enum class Ours : std::uint8_t { reads, writes };

Pair pipe_pair(Ours ours) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  sys::UniqueFd source(ends[0]);
  sys::UniqueFd sink(ends[1]);
  if (ours == Ours::writes) return {std::move(sink), std::move(source)};
  EXPECT_EQ(::fcntl(source.get(), F_SETFL, O_NONBLOCK), 0);
  return {std::move(source), std::move(sink)};
}

std::string agent_path() {
  const char* const command = std::getenv("WARDCASE_BINARY");
  const fs::path beside = command == nullptr ? fs::path("build/wardcase") : fs::path(command);
  return fs::absolute(beside.parent_path() / "wardcase-agent");
}

bool is_readable(int fd, std::chrono::milliseconds patience) {
  pollfd ready = {fd, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(patience.count())) > 0;
}

std::string read_available(int fd) {
  std::string all;
  std::array<char, 4096> chunk = {};
  for (ssize_t n = 0; (n = ::read(fd, chunk.data(), chunk.size())) > 0;) {
    all.append(chunk.data(), static_cast<std::size_t>(n));
  }
  return all;
}

// Empty: not so many came.
std::string read_exactly(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t at = 0;
  while (at < size && is_readable(fd, kAgentPatience)) {
    const ssize_t n = ::read(fd, bytes.data() + at, size - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  return at == size ? bytes : std::string();
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string framed(std::string_view text) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(text.size() >> shift);
  return frame.append(text);
}

// The worker's own text, where it looks for it in a box: below a directory of the test's.
std::string placed(std::string_view name, const std::string& directory) {
  const std::string path = directory + "/" + std::string(name);
  std::ofstream(path) << agent::worker_text(name);
  return path;
}

std::vector<std::string> command_of(LiveWorker::Language language, const std::string& directory) {
  switch (language) {
    case LiveWorker::Language::python:
      return {"python3", placed(agent::kPythonWorker, directory)};
    case LiveWorker::Language::node:
      return {"node", placed(agent::kNodeWorker, directory)};
    case LiveWorker::Language::bash:
      break;
  }
  std::string bootstrap(agent::kBashBootstrap);
  const std::string there = std::string(agent::kWorkerDirectory) + "/";
  bootstrap.replace(bootstrap.find(there), there.size(), directory + "/");
  (void)placed(agent::kBashWorker, directory);
  return {"bash", "--norc", "--noprofile", "-c", bootstrap, "bash"};
}

std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

LiveAgent::LiveAgent(const std::vector<std::string>& arguments) {
  Pair control = socket_pair(SOCK_SEQPACKET);
  const std::string path = agent_path();
  std::vector<const char*> argv = {path.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    // In a group of its own, as in its box: what signals its group must not reach the tests.
    (void)::setpgid(0, 0);
    if (control.theirs.get() == agent::kControl) {
      (void)::fcntl(agent::kControl, F_SETFD, 0);
    } else {
      (void)::dup2(control.theirs.get(), agent::kControl);
    }
    (void)::execv(path.c_str(), const_cast<char* const*>(argv.data()));
    ::_exit(127);
  }
  control_ = std::move(control.ours);
}

LiveAgent::~LiveAgent() {
  hang_up();
  if (pid_ > 0 && !wait()) {
    ADD_FAILURE() << "the agent outlives its socket";
    (void)::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
  }
}

std::optional<int> LiveAgent::wait() {
  const sys::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (pid_ <= 0 || !is_readable(pidfd.get(), kAgentPatience)) return std::nullopt;
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_) return std::nullopt;
  pid_ = -1;
  return status;
}

void LiveAgent::send(const agent::StartRequest& request, const std::vector<int>& descriptors) {
  const auto message = agent::encode(request);
  ASSERT_TRUE(message) << message.error().message();
  const auto sent = agent::send_message(control(), *message, descriptors);
  ASSERT_TRUE(sent) << sent.error().message();
}

void LiveAgent::signal(std::uint32_t id, int signo, agent::Whom whom) const {
  const agent::SignalHead head = {agent::Kind::signal, id, signo, whom};
  const auto sent = agent::send_message(control(), agent::bytes_of(head));
  ASSERT_TRUE(sent) << sent.error().message();
}

void LiveAgent::signal_now(std::uint32_t id, int signo, agent::Whom whom) const {
  signal(id, signo, whom);
  const agent::FromAgent answer = receive();
  EXPECT_EQ(answer.kind, agent::Kind::signalled);
  EXPECT_EQ(answer.signalled.id, id);
}

agent::FromAgent LiveAgent::receive(std::chrono::milliseconds patience) const {
  std::array<char, 256> buffer = {};
  if (!is_readable(control(), patience)) return {};
  const ssize_t n = ::recv(control(), buffer.data(), buffer.size(), 0);
  return agent::decode({buffer.data(), n < 0 ? 0 : static_cast<std::size_t>(n)});
}

LiveProgram::LiveProgram(LiveAgent& agent, std::uint32_t id,
                         const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment, const std::string& directory)
    : agent_(agent), id_(id) {
  Pair in = pipe_pair(Ours::writes);
  Pair out = pipe_pair(Ours::reads);
  Pair err = pipe_pair(Ours::reads);
  Pair channel = socket_pair(SOCK_STREAM);
  agent.send({id, directory, arguments, environment},
             {in.theirs.get(), out.theirs.get(), err.theirs.get(), channel.theirs.get()});
  const agent::FromAgent answer = agent.receive();
  EXPECT_EQ(answer.kind, agent::Kind::started);
  started_ = answer.started;
  in_ = std::move(in.ours);
  out_ = std::move(out.ours);
  err_ = std::move(err.ours);
  channel_ = std::move(channel.ours);
}

std::string LiveProgram::out() const { return read_available(out_.get()); }
std::string LiveProgram::err() const { return read_available(err_.get()); }

std::string LiveProgram::out_until(std::string_view text) const {
  std::string all = out();
  const auto end = steady_clock::now() + kAgentPatience;
  while (all.find(text) == std::string::npos && steady_clock::now() < end) {
    if (!is_readable(out_.get(), std::chrono::milliseconds(100))) continue;
    const std::string more = out();
    if (more.empty()) break;  // its end
    all += more;
  }
  return all;
}

void LiveProgram::type(std::string_view text) const {
  EXPECT_EQ(::write(in_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// What libraries keep in a home goes with it, at the end of the program.
std::vector<std::string> worker_environment() {
  static const TemporaryDirectory home;
  return {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + home.path()};
}

LiveWorker::LiveWorker(LiveAgent& agent, Language language, const std::string& directory,
                       const std::vector<std::string>& more_environment)
    : LiveProgram(agent, static_cast<std::uint32_t>(language) + 1, command_of(language, directory),
                  with(worker_environment(), more_environment), directory),
      language_(language) {
  EXPECT_EQ(started().error, 0);
  ready_ = answer();
}

boost::json::object LiveWorker::run(std::string_view code) {
  begin(code);
  EXPECT_EQ(answer()["type"], "begun");
  return answer();
}

void LiveWorker::begin(std::string_view code) {
  ++count_;
  const std::string id = std::to_string(count_);
  if (language_ == Language::bash) {
    const std::string head = "exec " + id + " exec-" + id + ".sh " + std::to_string(code.size());
    write_all(channel(), head + "\n" + std::string(code) + "nonce " + nonce() + "\n");
    return;
  }
  const std::string name = "exec-" + id + (language_ == Language::python ? ".py" : ".js");
  send({{"type", "exec"}, {"id", id}, {"name", name}, {"code", code}});
  send({{"type", "nonce"}, {"nonce", nonce()}});
}

void LiveWorker::send(const boost::json::object& message) const {
  send_text(boost::json::serialize(message));
}

void LiveWorker::send_text(std::string_view text) const { write_all(channel(), framed(text)); }

boost::json::object LiveWorker::answer() {
  const std::string head = read_exactly(channel(), 4);
  if (head.empty()) return {};
  std::size_t size = 0;
  for (const char byte : head) size = size << 8 | static_cast<unsigned char>(byte);
  boost::system::error_code error;
  const auto answer = boost::json::parse(read_exactly(channel(), size), error);
  EXPECT_FALSE(error) << error.message();
  return answer.is_object() ? answer.get_object() : boost::json::object();
}

std::uint64_t resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    std::uint64_t size = 0;
    if (word == "VmRSS:" && status >> size) return size;
  }
  return 0;
}

}  // namespace wardcase::test

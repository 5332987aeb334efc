// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "supervisor/agent/agent_messages.h"
#include "tests/support/live_agent.h"

namespace wardcase::test {
namespace {

using agent::Kind;
using agent::Whom;

class Agent : public testing::Test {
 protected:
  // Runs a script and waits for its end.
  std::string output_of(const std::string& script) {
    const LiveProgram program(agent, ++id, {"sh", "-c", script}, worker_environment());
    ended = agent.receive().ended;
    return program.out();
  }

  LiveAgent agent;
  std::uint32_t id = 0;
  agent::Ended ended = {};
};

TEST_F(Agent, TellsHowAWorkerEnded) {
  EXPECT_EQ(output_of("echo it ran"), "it ran\n");
  EXPECT_EQ(ended.id, 1U);
  EXPECT_EQ(ended.code, CLD_EXITED);
  EXPECT_EQ(ended.status, 0);
  EXPECT_GT(ended.peak_memory_bytes, 0U);
  (void)output_of("exit 7");
  EXPECT_EQ(ended.status, 7);
  (void)output_of("kill -KILL $$");
  EXPECT_EQ(ended.code, CLD_KILLED);
  EXPECT_EQ(ended.status, SIGKILL);
}

TEST_F(Agent, CountsTheTimeOfAWorker) {
  (void)output_of("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  EXPECT_GT(ended.user_us + ended.system_us, 1000U);
}

TEST_F(Agent, GivesFourDescriptorsAndNoOther) {
  // The shell's own, of the listing, is not there any more when readlink looks.
  EXPECT_EQ(output_of("for n in /proc/self/fd/*; do [ -e $n ] && echo ${n##*/}; done"),
            "0\n1\n2\n3\n");
}

TEST_F(Agent, StartsAWorkerInASessionOfItsOwn) {
  const LiveProgram program(agent, 1, {"sh", "-c", "echo; read x"}, worker_environment());
  (void)program.out_until("\n");
  EXPECT_EQ(::getsid(program.pid()), program.pid());
  EXPECT_EQ(::getpgid(program.pid()), program.pid());
}

TEST_F(Agent, StartsAWorkerWithDefaultSignals) {
  EXPECT_EQ(output_of("grep -E '^Sig(Blk|Ign)' /proc/self/status"),
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(Agent, TakesTheFirstCandidateThatIsThere) {
  LiveProgram program(agent, 1, {"no-such-shell\n/no/such/one\nsh\nbash", "-c", "echo $0"},
                      worker_environment());
  EXPECT_EQ(program.started().error, 0);
  EXPECT_NE(program.out_until("\n").find("/sh"), std::string::npos);
}

TEST_F(Agent, StartsAWorkerWhereItIsTold) {
  const LiveProgram program(agent, 1, {"pwd"}, {"PATH=/usr/bin:/bin", "A=b"}, "/usr/lib");
  EXPECT_EQ(program.out_until("\n"), "/usr/lib\n");
}

TEST_F(Agent, SaysWhyNothingWasStarted) {
  const LiveProgram missing(agent, 1, {"no-such-program"}, worker_environment());
  EXPECT_EQ(missing.started().error, ENOENT);
  const LiveProgram refused(agent, 1, {"/etc/passwd"}, worker_environment());
  EXPECT_EQ(refused.started().error, EACCES);
  const LiveProgram nowhere(agent, 1, {"true"}, worker_environment(), "/no/such/place");
  EXPECT_EQ(nowhere.started().error, ENOENT);
  EXPECT_EQ(output_of("echo still here"), "still here\n");
}

TEST_F(Agent, StartsNoMoreWorkersThanItCanHold) {
  std::vector<std::unique_ptr<LiveProgram>> programs;
  for (std::uint32_t i = 1; i <= agent::kMaxWorkers; ++i) {
    programs.push_back(std::make_unique<LiveProgram>(agent, i, std::vector<std::string>{"cat"},
                                                     worker_environment()));
    ASSERT_EQ(programs.back()->started().error, 0);
  }
  const LiveProgram more(agent, 1000, {"cat"}, worker_environment());
  EXPECT_EQ(more.started().error, EAGAIN);
  programs.front()->close_stdin();
  EXPECT_EQ(agent.receive().ended.id, 1U);
  const LiveProgram then(agent, 1000, {"true"}, worker_environment());
  EXPECT_EQ(then.started().error, 0);
}

TEST_F(Agent, RefusesAStartThatMakesNoSense) {
  const auto message = agent::encode({9, "/", {"true"}, {}});
  ASSERT_TRUE(message);
  const std::array<int, 4> four = {0, 1, 2, 2};
  const auto answer_to = [&](std::span<const char> bytes, std::span<const int> descriptors) {
    EXPECT_TRUE(agent::send_message(agent.control(), bytes, descriptors));
    const agent::FromAgent answer = agent.receive();
    EXPECT_EQ(answer.kind, Kind::started);
    return answer.started.error;
  };
  EXPECT_EQ(answer_to(*message, std::span(four).first(3)), EBADMSG);
  EXPECT_EQ(answer_to(std::span(*message).first(message->size() - 1), four), EBADMSG);
  EXPECT_EQ(answer_to(std::span(*message).first(sizeof(agent::StartHead)), four), EBADMSG);
  std::vector<char> many = *message;
  many[8] = 127;  // argc
  EXPECT_EQ(answer_to(many, four), EBADMSG);
  std::vector<char> none = *message;
  none[8] = 0;
  EXPECT_EQ(answer_to(none, four), EBADMSG);
  std::vector<char> longer = *message;
  longer.push_back('\0');
  EXPECT_EQ(answer_to(longer, four), EBADMSG);
  EXPECT_EQ(answer_to(*message, four), 0);
}

TEST_F(Agent, DropsWhatIsNoMessage) {
  const std::string long_rubbish(5000, '\1');
  for (const std::string_view rubbish :
       {std::string_view("x"), std::string_view("rubbish of some length"),
        std::string_view(long_rubbish)}) {
    EXPECT_TRUE(agent::send_message(agent.control(), rubbish));
  }
  EXPECT_EQ(output_of("echo still here"), "still here\n");
}

TEST_F(Agent, SignalsTheWorkerOrItsGroup) {
  const char* const script =
      "trap 'echo parent' USR1; (trap 'echo child' USR1; echo up; sleep 30 & wait; wait) & "
      "while :; do wait; done";
  const LiveProgram program(agent, 1, {"bash", "-c", script}, worker_environment());
  (void)program.out_until("up\n");
  agent.signal_now(1, SIGUSR1, Whom::process);
  EXPECT_EQ(program.out_until("parent\n"), "parent\n");
  agent.signal_now(1, SIGUSR1, Whom::group);
  std::string both = program.out_until("parent\n");
  if (both.find("child") == std::string::npos) both += program.out_until("child\n");
  EXPECT_NE(both.find("child\n"), std::string::npos);
  agent.signal_now(1, SIGKILL, Whom::group);
  EXPECT_EQ(agent.receive().ended.status, SIGKILL);
}

TEST_F(Agent, DropsASignalForNobody) {
  agent.signal_now(77, SIGKILL, Whom::process);
  agent.signal_now(0, SIGKILL, Whom::group);
  agent.signal_now(0, 1000, Whom::process);
  EXPECT_EQ(output_of("echo still here"), "still here\n");
}

TEST_F(Agent, SignalsNotEveryoneOutsideOfABox) {
  agent.signal(0, SIGKILL, Whom::everyone);
  const agent::FromAgent answer = agent.receive();
  EXPECT_EQ(answer.kind, Kind::everyone_gone);
  EXPECT_EQ(answer.everyone_gone.error, EPERM);
}

TEST_F(Agent, HearsNoSignalThatComesFromWithin) {
  const std::string pid = std::to_string(agent.pid());
  (void)output_of("kill -TERM " + pid + "; kill -INT " + pid + "; kill -HUP " + pid +
                  "; kill -USR1 " + pid + "; kill -PIPE " + pid);
  EXPECT_EQ(output_of("echo still here"), "still here\n");
}

TEST_F(Agent, EndsWithItsSocket) {
  agent.hang_up();
  const auto status = agent.wait();
  ASSERT_TRUE(status);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0);
}

}  // namespace
}  // namespace wardcase::test

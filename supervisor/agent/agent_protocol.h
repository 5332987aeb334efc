// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// How the supervisor and the agent talk, the first program of a box that lives on (and of one that
// installs). Each message is one datagram of a SOCK_SEQPACKET socket, which is the agent's
// descriptor 3: a head of fixed size, then, where said, strings that each end with a NUL. Numbers
// have the host's own order of bytes, both ends being on one host. Plain data, shared by both.
//
// What workers and supervisor say to each other on a worker's own channel stands in README.md.
namespace wardcase::agent {

static_assert(std::endian::native == std::endian::little);

inline constexpr int kControl = 3;
inline constexpr std::size_t kMaxMessage = 128 << 10;
inline constexpr std::uint32_t kMaxWorkers = 32;  // at a time; one more is not started: EAGAIN

enum class Kind : std::uint32_t {
  // To the agent.
  start = 1,   // StartHead, strings, and by SCM_RIGHTS kStartDescriptors descriptors
  signal = 2,  // SignalHead
  // From the agent.
  started = 16,        // Started
  ended = 17,          // Ended
  everyone_gone = 18,  // EveryoneGone
  signalled = 19,      // Signalled
};

// What becomes a worker's descriptors 0, 1, 2 and 3; it gets no other.
inline constexpr std::size_t kStartDescriptors = 4;

// Starts a worker: a child in a session of its own, with default signals. Then follow the
// directory that it starts in, argc arguments, envc variables ("NAME=VALUE"). The first argument
// is the program, or several with a newline between them, of which the first that is there is
// taken; one without a slash is looked for in the PATH among the variables. Answered by Started.
inline constexpr std::uint32_t kMaxStrings = 4096;  // argc and envc together
struct StartHead {
  Kind kind;
  std::uint32_t id;  // chosen by the supervisor, unique among the workers that live
  std::uint32_t argc;
  std::uint32_t envc;
};

enum class Whom : std::uint32_t {
  process = 0,   // the worker
  group = 1,     // the worker's process group
  everyone = 2,  // all in the box but its init and the agent; `id` means nothing
};

// A signal for a worker that is not there (any more) is dropped. Answered by Signalled: what is
// sent to the worker from then on comes after the signal. Of those for everyone only SIGKILL is
// answered, by EveryoneGone; the ends of workers are told before that.
struct SignalHead {
  Kind kind;
  std::uint32_t id;
  std::int32_t signo;
  Whom whom;
};

// The worker has been executed, or `error` (errno) says why not: it does not live then, and no
// Ended follows. EBADMSG: the message made no sense.
struct Started {
  Kind kind;
  std::uint32_t id;
  std::int32_t pid;  // as the box counts
  std::int32_t error;
};

// The signal has been sent, or dropped.
struct Signalled {
  Kind kind;
  std::uint32_t id;
};

// A worker has ended. What it started may live on.
struct Ended {
  Kind kind;
  std::uint32_t id;
  std::int32_t code;    // CLD_EXITED, CLD_KILLED or CLD_DUMPED
  std::int32_t status;  // its exit code, or the signal
  std::uint64_t user_us;
  std::uint64_t system_us;
  std::uint64_t peak_memory_bytes;  // of the largest process
};

// error 0: nobody but init and the agent is left. ETIMEDOUT: somebody is, after two seconds.
// EPERM: the agent is not alone with its init in a pid namespace; nobody was signalled.
struct EveryoneGone {
  Kind kind;
  std::int32_t error;
};

static_assert(sizeof(StartHead) == 16 && sizeof(SignalHead) == 16 && sizeof(Started) == 16);
static_assert(sizeof(Ended) == 40 && sizeof(EveryoneGone) == 8 && sizeof(Signalled) == 8);

}  // namespace wardcase::agent

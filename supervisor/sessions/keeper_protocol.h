// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>

namespace wardcase::supervisor {

// How the command line and the keeper of a session talk: frames (frame_channel.h) on a Unix socket,
// one question a connection.
//
// To the keeper, JSON objects with a member `op`, and after `write`, and after an exec that has
// files, the bytes of each file as frames, up to an empty one, once a frame of data has come:
//   exec {id, language, code, name, limits{}, requirements[], requirement_files[], input, events,
//         yield_ms, yield_idle_ms, files[{name, mode}], word, validate: "", "first" or "alone"
//         (and it does not run)}
//   input {data, eof} | end_input | interrupt | kill | reset | close | extend {ttl_ms} | state
//   logs {since, follow} | list {path} | read {path, head} | write {path, mode} | remove {path}
//   archive {path} | unpack {path}: as read and write, of a tar of what is in a directory
// While its exec is under way a client may also send input, end_input, interrupt and stop, which
// are about that one and get no answer of their own.
//
// From the keeper, frames that begin with one of these:
namespace reply {
inline constexpr char kOut = 'o';    // bytes of stdout
inline constexpr char kErr = 'e';    // bytes of stderr
inline constexpr char kEvent = 'v';  // a line of JSON
inline constexpr char kData = 'd';   // bytes of a file; or none: those of files may come
// Its program's stdin is open, or what was sent as input has been taken: more may come.
inline constexpr char kTaken = 'k';
inline constexpr char kWord = 'q';  // of an exec with `word`: it waits for its turn
// The last: a JSON object. `error` ("" where all is well), and what was asked for: of an exec
// {record, exit_code, seq, artifact_paths}, these in base64; of read {mode}. Beside an error `code`
// is that of errno, and 0 where it is none of the kernel's, and `field` what of an exec was wrong.
inline constexpr char kLast = 'r';
}  // namespace reply

inline constexpr std::size_t kMostRequest = 40 << 20;  // code of 16 MiB, escaped
inline constexpr std::size_t kMostReply = 256 << 20;   // a record with all that was kept
inline constexpr std::size_t kMostCode = 16 << 20;
inline constexpr std::size_t kFileChunk = 64 << 10;

}  // namespace wardcase::supervisor

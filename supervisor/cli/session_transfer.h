// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/sys/error.h"
#include "supervisor/cli/run_options.h"
#include "supervisor/cli/session_client.h"
#include "supervisor/languages/out_directory.h"
#include "supervisor/run/run_spec.h"
#include "supervisor/sessions/keeper_protocol.h"

namespace wardcase::supervisor {

// Opens them with the caller's rights. Errors name the flag.
[[nodiscard]] sys::Result<std::vector<PlacedFile>> open_for_session(
    const std::vector<NamedFile>& files);

// Sends files behind the request that has announced them (announce()), as fast as they are taken.
class FileSender {
 public:
  // Both outlive it.
  FileSender(EventLoop& loop, SessionClient& client, const std::vector<PlacedFile>& files)
      : loop_(loop), client_(client), files_(files) {}

  [[nodiscard]] static std::vector<DeliveredFile> announce(const std::vector<PlacedFile>& files);
  // They may come now.
  void begin();
  [[nodiscard]] bool is_done() const { return number_ == files_.size(); }
  // What went wrong, which stops the loop.
  [[nodiscard]] const sys::Status& status() const { return status_; }

 private:
  void send_more();

  EventLoop& loop_;
  SessionClient& client_;
  const std::vector<PlacedFile>& files_;
  std::size_t number_ = 0;  // of the file that is sent
  std::uint64_t at_ = 0;
  std::array<char, kFileChunk> chunk_;
  sys::Status status_;
};

// Brings the artifacts of a program to `out`, by the last frame that told its end. All of them are
// tried; the error is that of the first that could not be had as the record describes it.
[[nodiscard]] sys::Status bring_artifacts(const std::string& session, const std::string& last,
                                          const OutDirectory& out);

}  // namespace wardcase::supervisor

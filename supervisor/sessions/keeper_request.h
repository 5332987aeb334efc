// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/limits.h"
#include "sandbox/sys/error.h"
#include "supervisor/languages/program.h"
#include "supervisor/languages/requirement_source.h"
#include "supervisor/sessions/box_delivery.h"

namespace wardcase::supervisor {

// What is asked of a session's keeper (keeper_protocol.h), for both ends.
struct KeeperRequest {
  std::string op;
  // exec
  std::string id;        // "": the session chooses it
  std::string language;  // a language's name, "": the session's own
  std::string name;
  std::string code;
  // Those of one program; nullopt: none.
  std::vector<std::pair<policies::LimitId, std::optional<std::uint64_t>>> limits;
  AskedRequirements requirements;
  bool open_input = false;
  bool wants_events = false;
  bool wants_output = false;
  bool base64 = false;
  bool wants_word = false;  // once it waits for its turn
  std::optional<std::chrono::milliseconds> yield;
  std::optional<std::chrono::milliseconds> yield_idle;
  std::vector<DeliveredFile> files;  // their bytes follow
  Validation validation = Validation::none;
  // input
  std::string data;
  bool ends_input = false;  // there is no more behind it
  // extend
  std::chrono::milliseconds ttl{0};
  // logs
  std::uint64_t since = 0;
  bool follow = false;
  // list, read, write
  std::string path;
  unsigned mode = 0644;
  bool wants_head = false;  // of read: what the file is; then `range` says what of it is to come
  // range
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

[[nodiscard]] std::string to_json(const KeeperRequest& request);
// The error names the member.
[[nodiscard]] sys::Result<KeeperRequest> parse_keeper_request(std::string_view text);

// The limits that each program of a session may set for itself.
[[nodiscard]] bool is_limit_of_programs(policies::LimitId id);

}  // namespace wardcase::supervisor

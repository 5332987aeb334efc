// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/sys/error.h"
#include "sandbox/sys/unique_fd.h"
#include "supervisor/config/own_places.h"

namespace wardcase::supervisor {

// What a service must not forget when it dies: what it has accepted, and how that ended. Parts are
// appended to numbered files of one directory and never changed; a file goes when all that it
// tells of may be forgotten. They outlive the process, not a loss of power: nothing is synced.
class RunStore {
 public:
  // A part is a text without a line break, as JSON.
  struct Found {
    std::string id;
    std::string accepted;
    std::string ended;  // "": it was still going on
    std::string last;   // its last event, with its line break
  };

  // Takes the directory for itself, and reads what is there; half-written parts are as if they
  // were not there. EWOULDBLOCK: another service has it. `segment`: bytes of a file, about.
  static sys::Result<std::unique_ptr<RunStore>> open(OwnPlace place, std::size_t segment = 8 << 20);
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;
  ~RunStore() = default;

  // In the order in which they were accepted; once.
  [[nodiscard]] std::vector<Found> take_found();

  // An error: nothing was written.
  [[nodiscard]] sys::Status accept(const std::string& id, std::string_view part);
  [[nodiscard]] sys::Status end(const std::string& id, std::string_view part,
                                std::string_view last);
  void forget(const std::string& id);

 private:
  using Number = std::uint64_t;

  RunStore(OwnPlace place, std::size_t segment) : place_(std::move(place)), segment_(segment) {}

  [[nodiscard]] sys::Status read();
  void read_segment(Number number, std::string_view text, std::map<std::string, std::size_t>& at);
  [[nodiscard]] sys::Status append(const std::string& id, std::string_view text);
  [[nodiscard]] sys::Status open_next();
  void hold(const std::string& id, Number number);
  void let_go(Number number);

  OwnPlace place_;
  std::size_t segment_;
  Number current_ = 0;  // the file that is written, once there is one
  sys::UniqueFd file_;
  std::size_t size_ = 0;
  std::map<Number, std::size_t> held_;              // how many ids need the file
  std::map<std::string, std::set<Number>> places_;  // the files that an id needs
  std::vector<Found> found_;
};

}  // namespace wardcase::supervisor

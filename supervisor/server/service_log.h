// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardcase::supervisor {

// What the service says while it serves: to the journal with fields (WARDCASE_RUN=...) where stderr
// is the journal's (systemd.exec(5), $JOURNAL_STREAM), as sentences on a terminal, and elsewhere as
// lines of JSON on stderr. It never waits for who reads there: what has no room is left out, and
// how much that was is said later.
class ServiceLog {
 public:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;  // names in lower case

  ServiceLog();

  void inform(std::string_view message, const Fields& fields = {}) {
    say(kInform, message, fields);
  }
  void warn(std::string_view message, const Fields& fields = {}) { say(kWarn, message, fields); }

 private:
  enum class Form : std::uint8_t { journal, people, json };
  static constexpr int kInform = 6;  // as syslog(3) numbers them
  static constexpr int kWarn = 4;

  void say(int priority, std::string_view message, const Fields& fields);
  void write_line(const std::string& line);

  Form form_;
  std::uint64_t left_out_ = 0;
};

}  // namespace wardcase::supervisor

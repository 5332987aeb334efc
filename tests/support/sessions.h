// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <string>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// A test with a session of its own, which is made with the first program and ended with the test.
class WithSession : public WithCaller {
 protected:
  WithSession();
  ~WithSession() override;

  [[nodiscard]] const std::string& id() const { return id_; }
  // `wardcase WORDS`.
  [[nodiscard]] Command command(std::vector<std::string> words) const;
  [[nodiscard]] Outcome call(std::vector<std::string> words) const {
    return command(std::move(words)).finish();
  }
  // `wardcase session new --id ID FLAGS`, which has to work.
  void make(std::vector<std::string> flags = {}) const;
  // `wardcase exec ID FLAGS -l LANGUAGE -c CODE`.
  [[nodiscard]] Command exec(const std::string& language, const std::string& code,
                             std::vector<std::string> flags = {}) const;
  // The same with --json: its record.
  [[nodiscard]] Record record_in(const std::string& language, const std::string& code,
                                 std::vector<std::string> flags = {}) const;
  [[nodiscard]] Record python_in(const std::string& code,
                                 std::vector<std::string> flags = {}) const {
    return record_in("python", code, std::move(flags));
  }
  // What `wardcase session ls --json` says of this session; empty: nothing.
  [[nodiscard]] Record state() const;
  // Waits until a program runs in it.
  [[nodiscard]] bool is_running_soon() const;

 private:
  std::string id_;
};

}  // namespace wardcase::test

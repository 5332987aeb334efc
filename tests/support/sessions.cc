// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "tests/support/sessions.h"

#include <unistd.h>

#include <utility>

namespace wardcase::test {

WithSession::WithSession() {
  static int number = 0;
  id_ = "test-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
}

WithSession::~WithSession() {
  if (!IsSkipped()) (void)call({"session", "rm", id_});
}

Command WithSession::command(std::vector<std::string> words) const {
  return Command(caller(), std::move(words));
}

void WithSession::make(std::vector<std::string> flags) const {
  flags.insert(flags.begin(), {"session", "new", "--id", id_});
  const Outcome made = call(std::move(flags));
  ASSERT_EQ(made.exit_code, 0) << made;
  ASSERT_EQ(made.out(), id_ + "\n");
}

Command WithSession::exec(const std::string& language, const std::string& code,
                          std::vector<std::string> flags) const {
  flags.insert(flags.begin(), {"exec", id_, "-l", language, "-c", code});
  return command(std::move(flags));
}

Record WithSession::record_in(const std::string& language, const std::string& code,
                              std::vector<std::string> flags) const {
  flags.emplace_back("--json");
  const Outcome outcome = exec(language, code, std::move(flags)).finish();
  if (outcome.out().empty()) ADD_FAILURE() << outcome;
  return outcome.record();
}

Record WithSession::state() const {
  const Outcome listed = call({"session", "ls", "--json"});
  const Record all = Record::parse("{\"sessions\":" + listed.out() + "}");
  for (int i = 0; all.has("sessions." + std::to_string(i)); ++i) {
    const std::string place = "sessions." + std::to_string(i);
    if (all.text(place + ".id") == id_) return Record::parse(all.json(place));
  }
  return {};
}

bool WithSession::is_running_soon() const {
  return eventually([&] { return state().text("state") == "running"; });
}

}  // namespace wardcase::test

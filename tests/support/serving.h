// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/http_client.h"
#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// `wardcase serve` on a socket in a directory of the test's own, where its state is as well; ended
// with it.
class Service {
 public:
  Service(Caller caller, std::vector<std::string> options, const std::string& variable = "");
  // In a directory that outlives it, with what one before it has left there.
  Service(Caller caller, const ScratchDirectory& lasting, std::vector<std::string> options = {});
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  [[nodiscard]] HttpClient client() const;
  // Of another account of this host, which is in these groups besides its own (65534); for root.
  [[nodiscard]] HttpClient client_as(uid_t uid, const std::vector<gid_t>& groups = {}) const;
  // A POST to /v1/runs that is answered with a record, by a client of its own.
  [[nodiscard]] Record run(std::string_view body) const;
  [[nodiscard]] const std::string& socket() const { return socket_; }
  // Of tcp:127.0.0.1:0, which it said.
  [[nodiscard]] std::uint16_t port();
  [[nodiscard]] Running& process() { return process_; }
  // Ends it, or waits for the end that something else brings.
  [[nodiscard]] Outcome stop(int signal = SIGTERM);

 private:
  std::unique_ptr<ScratchDirectory> directory_;
  std::string socket_;
  Running process_;
  bool is_over_ = false;
};

// A configuration of a test's own, for a service.
class OwnConfiguration {
 public:
  explicit OwnConfiguration(Caller caller) : directory_(caller) {}
  // wardcase.toml without its schema.
  void write(const std::string& text) const { write_file("wardcase.toml", text); }
  void write_file(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string path(const std::string& name) const {
    return (directory_.path() / "wardcase" / name).string();
  }
  [[nodiscard]] std::string variable() const {
    return "XDG_CONFIG_HOME=" + directory_.path().string();
  }

 private:
  ScratchDirectory directory_;
};

class Serving : public WithCaller {
 protected:
  [[nodiscard]] static Service start(std::vector<std::string> options = {}) {
    return {caller(), std::move(options)};
  }
  // Waits until a program of that name runs in a box of ours, or none does.
  [[nodiscard]] static bool comes_to_run(std::string_view name);
  [[nodiscard]] static bool comes_to_end(std::string_view name);
};

// The path of a new session.
[[nodiscard]] std::string make_session(HttpClient& client, const std::string& body = "{}");

// The body that has a session run this code; `more` is JSON between its braces.
[[nodiscard]] std::string program_body(std::string_view code, std::string_view more = "");

// Runs it in the session of that path, and waits for its record.
[[nodiscard]] Record exec_in(HttpClient& client, const std::string& session,
                             const std::string& body);

}  // namespace wardcase::test

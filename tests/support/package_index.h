// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/wardcase_command.h"

namespace wardcase::test {

// Packages that are made for one test, and an index of them on a port of this host's loopback,
// in the layouts that pip and npm read. Each package is one small module.
class PackageIndex {
 public:
  explicit PackageIndex(Caller caller);

  // A wheel whose module NAME is `code`; `requires_`: what it needs in turn, "" for nothing;
  // `pth`: the text of NAME.pth, "" for none.
  void add_wheel(const std::string& name, const std::string& version, const std::string& code,
                 const std::string& requires_ = "", const std::string& pth = "") const;
  // A source package: `attack` is run while it is built, and what is in its `seen` becomes the
  // module's text.
  void add_source(const std::string& name, const std::string& attack) const;
  // A page of the index that has the wheel at another address.
  void add_link(const std::string& name, const std::string& url) const;
  // For npm, in place of another version; the index must have begun.
  void add_npm(const std::string& name, const std::string& code,
               const std::string& version = "1.0.0") const;
  // Any file of the index.
  void put(const std::string& path, std::string_view text) const;

  void begin();
  void end();  // nobody is reached there any more

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string pip_url() const { return "http://" + host() + "/simple"; }
  [[nodiscard]] std::string npm_url() const { return "http://" + host() + "/npm"; }
  // The directory of all wheels and source packages.
  [[nodiscard]] std::string links() const { return (files_.path() / "links").string(); }
  // How often this path was asked for.
  [[nodiscard]] int requests(const std::string& path);
  [[nodiscard]] bool is_asked_for(const std::string& path);  // waits for it

 private:
  void make_directories() const;
  void make(std::vector<std::string> words) const;

  Caller caller_;
  ScratchDirectory files_;
  std::optional<Running> server_;
  std::uint16_t port_ = 0;
};

// A policy with an index and, where not empty, more for its [install].
[[nodiscard]] std::string policy_of_index(const std::string& kind, const std::string& urls,
                                          const std::string& install = "");

}  // namespace wardcase::test

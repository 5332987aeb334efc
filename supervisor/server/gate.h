// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "policies/service_settings.h"
#include "supervisor/config/token_file.h"
#include "supervisor/server/caller.h"
#include "supervisor/server/exchange.h"
#include "supervisor/server/http_codec.h"
#include "supervisor/server/problem.h"

namespace wardcase::supervisor {

// Who may come in, and as whom.
class Gate {
 public:
  // Of the configuration, with names of this host looked up, and of a file of tokens; nullopt:
  // nobody needs one.
  static sys::Result<Gate> read(const policies::ServiceSettings& settings,
                                const std::optional<std::string>& token_file);
  Gate() = default;  // no rules and no tokens

  // Over TCP: web pages are kept out, and where there are tokens it takes one. Over a Unix socket
  // a token counts where one is sent, and else who the kernel says that the client is: root and
  // the service's own user are administrators. What that one may not do at all is refused here.
  [[nodiscard]] tl::expected<Caller, Problem> admit(const HttpRequest& request, const Peer& peer,
                                                    std::string_view path) const;

 private:
  struct Rule {
    std::optional<uid_t> user;  // one of the two
    std::optional<gid_t> group;
    policies::Role role = policies::Role::run;
  };

  [[nodiscard]] std::optional<Problem> refuse_browsers(const HttpRequest& request) const;
  [[nodiscard]] bool knows_host(std::string_view host) const;
  [[nodiscard]] tl::expected<Caller, Problem> caller_of(const HttpRequest& request,
                                                        const Peer& peer) const;
  [[nodiscard]] tl::expected<Caller, Problem> holder_of(const std::string& authorization) const;
  [[nodiscard]] tl::expected<Caller, Problem> user_at(const Peer& peer) const;

  std::vector<Rule> rules_;
  std::optional<std::vector<Token>> tokens_;
  std::vector<std::string> hosts_;
};

}  // namespace wardcase::supervisor

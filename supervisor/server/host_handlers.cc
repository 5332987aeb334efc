// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/host_handlers.h"

#include <boost/json.hpp>
#include <memory>
#include <utility>

#include "supervisor/run/record_parts.h"
#include "supervisor/server/request_spec.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// An asker who has gone is told nothing.
class PendingReport : public PendingAnswer {
 public:
  PendingReport(OwnReport& report, std::uint64_t asker) : report_(report), asker_(asker) {}
  PendingReport(const PendingReport&) = delete;
  PendingReport& operator=(const PendingReport&) = delete;
  ~PendingReport() override { report_.forget(asker_); }

 private:
  OwnReport& report_;
  std::uint64_t asker_;
};

}  // namespace

void HostHandlers::tell(OwnReport& report, const ApiCall& call) {
  Exchange& exchange = call.exchange;
  const std::uint64_t asker = report.ask([&exchange](const sys::Result<std::string>& told) {
    if (!told) {
      return exchange.answer(
          to_response(Problem{503, "too_busy", told.error().message(), "", kRetrySeconds}));
    }
    HttpResponse response;
    response.body = *told;
    exchange.answer(response);
  });
  exchange.hold(std::make_unique<PendingReport>(report, asker));
}

void HostHandlers::policies(const ApiCall& call) const {
  json::array all;
  for (const ListedPolicy& policy : configuration_.policies().list()) {
    all.emplace_back(json::object{{"name", to_json_text(policy.name)},
                                  {"place", to_json_text(policy.place)},
                                  {"description", to_json_text(policy.description)}});
  }
  call.exchange.answer(json_response(json::object{{"policies", std::move(all)}}));
}

void HostHandlers::limits(const ApiCall& call) const {
  const auto limits = limits_of_service(configuration_.policies(), host_);
  if (!limits) return call.refuse(limits.error());
  json::object all;
  for (const policies::LimitRow& row : policies::limit_table()) {
    const policies::Maximum& maximum = limits->maximum(row.id);
    all[row.json_key] = json::object{{"default", limit_value(row, limits->get(row.id))},
                                     {"minimum", limit_value(row, row.minimum)},
                                     {"maximum", limit_value(row, maximum.value)},
                                     {"none_allowed", row.none_allowed},
                                     {"set_by", to_json_text(maximum.origin)},
                                     {"meaning", to_json_text(row.help)}};
  }
  call.exchange.answer(json_response(json::object{{"limits", std::move(all)}}));
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "sandbox/private_box.h"

#include <unistd.h>

#include <set>
#include <string>

#include "sandbox/landlock.h"

namespace wardcase::sandbox {
namespace {

void put_places(PlanBuilder& plan, const LaunchRequest& request) {
  std::set<std::string> paths;  // sorted: parents first
  for (const PrivatePlace& place : kPrivatePlaces) paths.emplace(place.name);
  for (const FileRequest& file : request.files) {
    const std::string path = BoxLayout::scratch_path(file.path).value_or("");
    for (auto end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      paths.insert(path.substr(0, end));
    }
  }
  std::vector<PlanDirectory> directories;
  directories.reserve(paths.size());
  for (const std::string& path : paths) directories.push_back({plan.text(path), 0700});
  plan.header.root_directories = plan.list(directories);
}

}  // namespace

sys::Status put_private_box_into(PlanBuilder& plan, FdTable& fds, const LaunchRequest& request,
                                 const std::vector<LayoutBind>& binds) {
  LaunchPlan& header = plan.header;
  header.own_namespaces = false;
  header.own_network = false;
  header.has_privilege = request.ids.is_leased;
  header.inside_uid = request.ids.host_uid;
  header.inside_gid = request.ids.host_gid;
  header.keep_groups = !request.ids.is_leased;
  header.private_directory = fds.borrow(request.private_directory);
  header.supervisor = ::getpid();
  put_places(plan, request);
  auto put = put_host_rules_into(plan, fds, request, binds);
  // Nobody else has an id of the pool; and whoever has ours is out of reach by Landlock.
  header.ends_by_signal = header.confine_signals || request.ids.is_leased;
  return put;
}

}  // namespace wardcase::sandbox

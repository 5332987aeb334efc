// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/host_root_keys.h"

namespace wardcase::policies {
namespace {

constexpr std::size_t kMostRoots = 256;

// A new element is begun for each [[host_root]]; its rows fill the last one.
constexpr Row kRootKeys[] = {
    {"path",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.text();
       if (!text.starts_with('/') || text == "/") {
         return refused(entry, "an absolute path of the host below /");
       }
       std::string& path = entry.reading.policy.host_roots.back().value.path;
       path = text;
       while (path.size() > 1 && path.ends_with('/')) path.pop_back();
       return {};
     }},
    {"mode",
     [](const Entry& entry) -> sys::Status {
       const auto text = entry.text();
       if (text != "ro" && text != "rw") return refused(entry, "a mode; write \"ro\" or \"rw\"");
       entry.reading.policy.host_roots.back().value.mode =
           text == "rw" ? MountMode::read_write : MountMode::read_only;
       return {};
     }},
};

}  // namespace

sys::Status read_host_roots(const Entry& entry) {
  return read_list(entry, "a list of tables; write [[host_root]]", [](const Entry& element) {
    if (element.node.kind != TomlNode::Kind::table) {
      return sys::Status(refused(element, "a table; write [[host_root]]"));
    }
    auto& roots = element.reading.policy.host_roots;
    if (roots.size() == kMostRoots) {
      return sys::Status(wrong(element, "host_root: more than " + std::to_string(kMostRoots)));
    }
    roots.push_back({{}, element.origin()});
    auto status = read_rows(element, "host_root", kRootKeys);
    if (!status || !roots.back().value.path.empty()) return status;
    return sys::Status(wrong(element, "host_root: needs path"));
  });
}

}  // namespace wardcase::policies

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/server/request_binds.h"

#include <boost/json.hpp>
#include <utility>

#include "supervisor/server/received_files.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostBinds = 64;

Read read_path(const std::string& field, const json::value& value, std::string& path) {
  if (!value.is_string()) return invalid(field, "write a string");
  path = std::string(value.get_string());
  if (path.starts_with('/') && path.find('\0') == std::string::npos) return {};
  return invalid(field, "is not absolute; write a path as /data");
}

Read read_mode(const std::string& field, const json::value& value, policies::MountMode& mode) {
  const bool is_writable = value == "rw";
  if (!is_writable && value != "ro") return invalid(field, "write ro or rw");
  mode = is_writable ? policies::MountMode::read_write : policies::MountMode::read_only;
  return {};
}

Read read_member(const std::string& field, std::string_view name, const json::value& value,
                 RunRequest::Bind& bind) {
  const std::string member = field + "." + std::string(name.substr(0, kShownBytes));
  if (name == "path") return read_path(member, value, bind.path);
  if (name == "target") return read_path(member, value, bind.target);
  if (name == "mode") return read_mode(member, value, bind.mode);
  if (name == "fd") return read_descriptor(member, value, bind.descriptor);
  return refuse("unknown_field", member, "no such field; it has path or fd, target and mode");
}

Read read_bind(const std::string& field, const json::value& value, RunRequest::Bind& bind) {
  if (!value.is_object()) return invalid(field, "write an object with path or fd, and target");
  for (const auto& [key, each] : value.get_object()) {
    if (auto read = read_member(field, {key.data(), key.size()}, each, bind); !read) return read;
  }
  if (bind.path.empty() == !bind.descriptor) return invalid(field, "give path or fd");
  if (bind.target.empty()) {
    return refuse("missing_field", field + ".target", "say where it is to be in the box");
  }
  return {};
}

}  // namespace

Read read_descriptor(const std::string& field, const json::value& value,
                     std::optional<std::size_t>& descriptor) {
  if (!value.is_int64() || value.get_int64() < 0 ||
      value.get_int64() >= static_cast<std::int64_t>(ReceivedFiles::kMost)) {
    return invalid(field, "write the number of a descriptor that comes with the request: 0 to " +
                              std::to_string(ReceivedFiles::kMost - 1));
  }
  descriptor = static_cast<std::size_t>(value.get_int64());
  return {};
}

Read read_binds(const json::value& value, RunRequest& request) {
  if (!value.is_array()) return invalid("binds", "write a list of objects");
  if (value.get_array().size() > kMostBinds) {
    return invalid("binds", "are more than " + std::to_string(kMostBinds));
  }
  for (const json::value& each : value.get_array()) {
    const std::string field = "binds[" + std::to_string(request.binds.size()) + "]";
    request.binds.emplace_back();
    if (auto read = read_bind(field, each, request.binds.back()); !read) return read;
  }
  return {};
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/error_hints.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "policies/limits.h"

namespace wardcase::supervisor {
namespace {

using policies::LimitId;

constexpr std::size_t kLongestName = 255;

// Modules whose package has another name, of those that are asked for most.
constexpr std::pair<std::string_view, std::string_view> kPackages[] = {
    {"Crypto", "pycryptodome"},
    {"OpenSSL", "pyOpenSSL"},
    {"PIL", "pillow"},
    {"attr", "attrs"},
    {"bs4", "beautifulsoup4"},
    {"cv2", "opencv-python-headless"},
    {"dateutil", "python-dateutil"},
    {"docx", "python-docx"},
    {"dotenv", "python-dotenv"},
    {"fitz", "PyMuPDF"},
    {"git", "GitPython"},
    {"jwt", "PyJWT"},
    {"magic", "python-magic"},
    {"pptx", "python-pptx"},
    {"serial", "pyserial"},
    {"skimage", "scikit-image"},
    {"sklearn", "scikit-learn"},
    {"yaml", "PyYAML"},
};

// "" for what is too long to be shown or could move a cursor.
std::string shown(std::string_view name) {
  const bool is_plain = std::ranges::all_of(
      name, [](unsigned char letter) { return letter >= 0x20 && letter != 0x7f; });
  return is_plain && name.size() <= kLongestName ? std::string(name) : "";
}

std::string raise(LimitId id, const RunRecord& record) {
  const policies::LimitRow& row = policies::limit_row(id);
  const policies::Maximum& maximum = record.limits.maximum(id);
  const auto value = record.limits.get(id);
  const std::string flag = "--" + std::string(row.flag);
  if (!maximum.value) return "raise it with " + flag;
  const std::string most = policies::format_limit(row, maximum.value);
  if (!value || *value < *maximum.value) return "raise it with " + flag + ", at most " + most;
  return flag + " is at its maximum of " + most + " (limits.max." + std::string(row.key) + ", " +
         maximum.origin + "); raise that " +
         (maximum.origin == policies::kBuiltIn ? "in ~/.config/wardcase/wardcase.toml" : "there");
}

std::string hint_of_status(const RunRecord& record) {
  switch (record.status) {
    case RunStatus::timeout:
      return raise(LimitId::timeout, record);
    case RunStatus::cpu_time:
      return raise(LimitId::cpu_time, record);
    case RunStatus::idle:
      return raise(LimitId::idle_timeout, record);
    case RunStatus::oom:
      return raise(LimitId::memory, record);
    case RunStatus::output_limit:
      return raise(LimitId::output, record);
    case RunStatus::disk_limit:
      return raise(record.signal == SIGXFSZ ? LimitId::file_size : LimitId::disk, record);
    default:
      return "";
  }
}

std::string name_of(std::string_view path) {
  return shown(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
}

std::string hint_of_syntax(const ToldError& told) {
  const std::string name = name_of(told.file);
  if (told.line == 0 || name.empty()) return "";
  return "look at line " + std::to_string(told.line) + " of " + name;
}

std::string hint_of_module(const ToldError& told) {
  const std::string name = shown(told.module);
  if (name.empty()) return "";
  if (name[0] == '.' || name[0] == '/')
    return "'" + name + "' is not in the box; add --workspace DIR";
  return "'" + name + "' is not installed; add --requirement " + package_of(name);
}

// Which the kernel makes for each box, and nobody can show.
bool is_of_the_kernel(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/");
}

std::string hint_of_file(const ToldError& told) {
  const std::string name = shown(told.path);
  if (name.empty() || is_of_the_kernel(told.path)) return "";
  switch (told.error_number) {
    case ENOENT:
      return "'" + name + "' is not in the box; show it with --workspace DIR or -v";
    case EROFS:
    case EACCES:
    case EPERM:
      return "'" + name +
             "' is closed to the program, which writes to /box, /tmp and its home, and to what "
             "--workspace DIR:rw or -v SRC:DST:rw shows";
    case ENOSPC:
      return "the disk limit is reached; raise it with --disk";
    default:
      return "";
  }
}

std::string hint_of_told(const ToldError& told, const ErrorScene& scene, const RunRecord& record) {
  const std::string type = record.error_type.value_or("");
  if (type == "SyntaxError") return hint_of_syntax(told);
  if (type == "ImportError") return hint_of_module(told);
  if (type == "MemoryError") return raise(LimitId::memory, record);
  if (type == "EOFError" && !scene.has_stdin)
    return "the program's stdin is empty; add -i or --stdin FILE";
  return hint_of_file(told);
}

}  // namespace

std::string package_of(std::string_view module) {
  const bool is_scoped = module.starts_with('@');  // @scope/name
  std::size_t end = module.find_first_of("./");
  if (is_scoped && end != std::string_view::npos) end = module.find('/', end + 1);
  module = module.substr(0, end);
  const auto* const found =
      std::ranges::find(kPackages, module, [](const auto& row) { return row.first; });
  return std::string(found == std::end(kPackages) ? module : found->second);
}

std::string find_error_hint(const ToldError& told, const ErrorScene& scene,
                            const RunRecord& record) {
  if (std::string hint = hint_of_status(record); !hint.empty()) return hint;
  if (!record.error_type || record.status == RunStatus::denied) return "";
  return hint_of_told(told, scene, record);
}

}  // namespace wardcase::supervisor

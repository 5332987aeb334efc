// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/cli/session_transfer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/cli/run_files.h"
#include "supervisor/languages/sha256.h"
#include "supervisor/run/json_text.h"

namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

constexpr std::string_view kBox = "/box/";

struct Wanted {
  std::string path;
  std::uint64_t size;
  std::string sum;
};

// The keeper's own words: of this form, and nothing else.
std::vector<Wanted> artifacts_of(const std::string& last) {
  std::vector<Wanted> wanted;
  const json::value value = json::parse(last);
  const json::object& object = value.as_object();
  const json::array& artifacts = object.at("record").as_object().at("artifacts").as_array();
  const json::array& paths = object.at("artifact_paths").as_array();
  for (std::size_t i = 0; i < artifacts.size() && i < paths.size(); ++i) {
    const json::object& artifact = artifacts[i].as_object();
    wanted.push_back({decode_base64(paths[i].as_string()).value_or(""),
                      artifact.at("size").to_number<std::uint64_t>(),
                      std::string(artifact.at("sha256").as_string())});
  }
  return wanted;
}

// Whole in memory, as its mode comes last; an artifact has its bounds.
sys::Status bring(const std::string& session, const Wanted& wanted, const OutDirectory& out) {
  auto loop = EventLoop::create();
  if (!loop) return tl::unexpected(loop.error());
  SessionClient client(*loop);
  KeeperRequest request;
  request.op = "read";
  request.path = wanted.path;
  std::string content;
  auto asked = client.ask(session, request, [&](char, std::string_view bytes) {
    content += bytes;
    if (content.size() > wanted.size) loop->stop();
  });
  if (!asked) return asked;
  const auto last = client.await();
  if (!last && content.size() <= wanted.size) return tl::unexpected(last.error());
  if (content.size() != wanted.size || sha256(content) != wanted.sum) {
    return tl::unexpected(sys::plain_error("it has changed since the program ended"));
  }
  auto file = out.begin(wanted.path, (number_member(*last, "mode") & S_IXUSR) != 0);
  if (!file) return tl::unexpected(std::move(file).error());
  if (auto written = file->write(content); !written) return written;
  return file->finish();
}

}  // namespace

sys::Result<std::vector<PlacedFile>> open_for_session(const std::vector<NamedFile>& files) {
  RunSpec spec;
  if (auto placed = place_named_files(files, spec); !placed) return tl::unexpected(placed.error());
  return std::move(spec.files);
}

std::vector<DeliveredFile> FileSender::announce(const std::vector<PlacedFile>& files) {
  std::vector<DeliveredFile> announced;
  announced.reserve(files.size());
  for (const PlacedFile& file : files) {
    announced.push_back({file.path.substr(kBox.size()), file.mode});
  }
  return announced;
}

void FileSender::begin() {
  client_.on_drained([this] { send_more(); });
  send_more();
}

void FileSender::send_more() {
  while (!is_done() && client_.waiting() == 0 && status_) {
    const int file = files_[number_].content.get();
    const ssize_t n = sys::retry_eintr(
        [&] { return ::pread(file, chunk_.data(), chunk_.size(), static_cast<off_t>(at_)); });
    if (n < 0) {
      status_ = tl::unexpected(
          sys::errno_error("--file: read what comes to '" + files_[number_].path + "'"));
      return loop_.stop();
    }
    client_.send({chunk_.data(), static_cast<std::size_t>(n)});
    at_ += static_cast<std::uint64_t>(n);
    if (n > 0) continue;
    ++number_;
    at_ = 0;
  }
}

sys::Status bring_artifacts(const std::string& session, const std::string& last,
                            const OutDirectory& out) {
  sys::Status first;
  for (const Wanted& wanted : artifacts_of(last)) {
    auto brought = bring(session, wanted, out);
    if (brought || !first) continue;
    first = tl::unexpected(std::move(brought).error().while_doing("'" + wanted.path + "'"));
  }
  return first;
}

}  // namespace wardcase::supervisor

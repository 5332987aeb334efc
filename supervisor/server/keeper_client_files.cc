// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/run/record_parts.h"
#include "supervisor/server/keeper.h"
#include "supervisor/server/keeper_client.h"
#include "supervisor/sessions/box_files.h"
#include "supervisor/sessions/keeper_protocol.h"

// Files of the session's box, on their way to a client and from one.
namespace wardcase::supervisor {

namespace json = boost::json;

namespace {

// A session makes its box with its first program or file.
sys::Error no_box(const std::string& path) {
  return {ENOENT, "look for '" + path + "' in a session that has no box yet"};
}

mode_t file_mode(int file) {
  struct stat info = {};
  return ::fstat(file, &info) < 0 ? 0 : info.st_mode & 07777;
}

}  // namespace

void KeeperClient::list(const std::string& path) {
  const auto place = keeper_.session().place();
  const auto inside = path_in_box(path);
  if (!place || !inside) return fail(place ? inside.error() : no_box(path));
  const auto entries = list_box_files(place->directory, place->owner, *inside);
  if (!entries) return fail(entries.error());
  json::array all;
  for (const BoxEntry& entry : *entries) {
    all.emplace_back(json::object{{"name", to_json_text(entry.name)},
                                  {"type", std::string(1, entry.type)},
                                  {"mode", entry.mode},
                                  {"size", entry.size},
                                  {"modified_ms", entry.modified_ms}});
  }
  finish("", member("entries", all));
}

void KeeperClient::remove(const std::string& path) {
  const auto place = keeper_.session().place();
  const auto inside = path_in_box(path);
  if (!place || !inside) return fail(place ? inside.error() : no_box(path));
  const auto removed = remove_box_file(place->directory, place->owner, *inside);
  removed ? finish("") : fail(removed.error());
}

void KeeperClient::send_file(const std::string& path) {
  const auto place = keeper_.session().place();
  const auto inside = path_in_box(path);
  if (!place || !inside) return fail(place ? inside.error() : no_box(path));
  auto file = open_box_file(place->directory, place->owner, *inside);
  if (!file) return fail(file.error());
  file_ = *std::move(file);
  if (request_->wants_head) return tell_head();
  keeper_.loop().post([this] { send_more_of_file(); });
}

void KeeperClient::tell_head() {
  struct stat info = {};
  if (::fstat(file_.get(), &info) < 0) return fail(sys::errno_error("look at the file"));
  // Its programs can set the time of a change of content, and not that of a change of any kind.
  const std::string tag = std::to_string(info.st_ino) + "-" + std::to_string(info.st_ctim.tv_sec) +
                          "." + std::to_string(info.st_ctim.tv_nsec) + "-" +
                          std::to_string(info.st_size);
  awaits_range_ = true;
  send(reply::kEvent,
       json::serialize(json::object{
           {"size", info.st_size}, {"modified_ms", info.st_mtim.tv_sec * 1000}, {"tag", tag}}));
}

void KeeperClient::begin_range(const KeeperRequest& request) {
  awaits_range_ = false;
  left_ = request.length;
  if (::lseek(file_.get(), static_cast<off_t>(request.offset), SEEK_SET) < 0) {
    return fail(sys::errno_error("find the place in the file"));
  }
  send_more_of_file();
}

// A chunk a turn, and no more than the client takes.
void KeeperClient::send_more_of_file() {
  if (std::exchange(is_paused_, false) && keeper_.session().state().running == exec_id_) {
    return keeper_.session().pause_output(false);
  }
  if (!file_.is_open() || is_finished_ || !channel_.is_open() || channel_.waiting() > 0) return;
  if (awaits_range_) return;
  std::array<char, kFileChunk> chunk;
  const std::size_t wanted = std::min<std::uint64_t>(left_, chunk.size());
  const ssize_t n = sys::retry_eintr([&] { return ::read(file_.get(), chunk.data(), wanted); });
  if (n < 0) return finish(sys::errno_error("read the file").message());
  if (n == 0) return finish("", member("mode", file_mode(file_.get())));
  left_ -= static_cast<std::uint64_t>(n);
  send(reply::kData, {chunk.data(), static_cast<std::size_t>(n)});
  if (channel_.waiting() == 0) keeper_.loop().post([this] { send_more_of_file(); });
}

// The first call makes the file, and needs a box to make it in.
void KeeperClient::receive_file(std::string_view bytes) {
  if (!new_file_) {
    return keeper_.session().with_box([this, alive = alive_](const sys::Status& ready) {
      if (!*alive) return;
      if (!ready) return fail(ready.error());
      const auto place = keeper_.session().place();
      const auto inside = path_in_box(request_->path);
      if (!place || !inside) return fail(place ? inside.error() : place.error());
      auto file = NewBoxFile::create(place->directory, place->owner, *inside, request_->name,
                                     static_cast<mode_t>(request_->mode));
      if (!file) return fail(file.error());
      new_file_.emplace(*std::move(file));
      send(reply::kData, {});  // the bytes may come
    });
  }
  if (bytes.empty()) {
    const auto placed = new_file_->take_place();
    if (placed) keeper_.session().know_file(new_file_->path());
    return placed ? finish("") : fail(placed.error());
  }
  while (!bytes.empty()) {
    const ssize_t n =
        sys::retry_eintr([&] { return ::write(new_file_->fd(), bytes.data(), bytes.size()); });
    if (n < 0) return fail(sys::errno_error("write the file"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Those of a program, which is asked for once they are whole. They need a box to be made in.
void KeeperClient::begin_delivery() {
  keeper_.session().with_box([this, alive = alive_](const sys::Status& ready) {
    if (!*alive) return;
    if (!ready) return finish(ready.error().message());
    const auto place = keeper_.session().place();
    if (!place) return finish(place.error().message());
    auto delivery =
        BoxDelivery::create(place->directory, place->owner, std::exchange(request_->files, {}));
    if (!delivery) return finish(delivery.error().message());
    delivery_ = std::make_unique<BoxDelivery>(*std::move(delivery));
    send(reply::kData, {});  // the bytes may come
  });
}

void KeeperClient::receive_delivery(std::string_view bytes) {
  if (const auto written = delivery_->write(bytes); !written) {
    delivery_.reset();
    return finish(written.error().message());
  }
  if (delivery_->is_whole()) begin_exec(*request_);
}

}  // namespace wardcase::supervisor

// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include <cerrno>
#include <utility>

#include "supervisor/server/keeper.h"
#include "supervisor/server/keeper_client.h"
#include "supervisor/sessions/keeper_protocol.h"

// Directories of the session's box as tars, on their way to a client and from one.
namespace wardcase::supervisor {

void KeeperClient::send_archive(const std::string& path) {
  const auto place = keeper_.session().place();
  const auto inside = path_in_box(path);
  if (!inside) return fail(inside.error());
  if (!place) return fail({ENOENT, "archive what is in a session that has no box yet"});
  auto maker = BoxArchiveMaker::create(place->directory, place->owner, *inside);
  if (!maker) return fail(maker.error());
  maker_ = *std::move(maker);
  send_more_of_archive();
}

// A piece a turn, and no more than the client takes.
void KeeperClient::send_more_of_archive() {
  if (maker_ == nullptr || is_finished_ || !channel_.is_open() || channel_.waiting() > 0) return;
  std::string piece;
  const auto more = maker_->make_more(piece);
  if (!more) return fail(more.error());
  if (!piece.empty()) send(reply::kData, piece);
  if (!*more) return finish("");
  if (channel_.waiting() > 0) return;
  keeper_.loop().post([this, alive = alive_] {
    if (*alive) send_more_of_archive();
  });
}

// The first call asks for the bytes, and needs a box to keep them in.
void KeeperClient::receive_archive(std::string_view bytes) {
  if (reader_ == nullptr) {
    return keeper_.session().with_box([this, alive = alive_](const sys::Status& ready) {
      if (!*alive) return;
      if (!ready) return fail(ready.error());
      const auto place = keeper_.session().place();
      const auto inside = path_in_box(request_->path);
      if (!place || !inside) return fail(place ? inside.error() : place.error());
      auto reader = BoxArchiveReader::create(place->directory, place->owner, *inside);
      if (!reader) return fail(reader.error());
      reader_ = *std::move(reader);
      reader_->on_file = [this](const std::string& path) { keeper_.session().know_file(path); };
      send(reply::kData, {});  // the bytes may come
    });
  }
  if (bytes.empty()) return read_archive();
  if (const auto kept = reader_->add(bytes); !kept) fail(kept.error());
}

// An entry or a piece of one a turn.
void KeeperClient::read_archive() {
  const auto more = reader_->read_more();
  if (!more) return fail(more.error());
  if (!*more) return finish("");
  keeper_.loop().post([this, alive = alive_] {
    if (*alive) read_archive();
  });
}

}  // namespace wardcase::supervisor

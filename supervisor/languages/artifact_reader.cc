// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "supervisor/languages/artifact_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sandbox/sys/retry.h"
#include "supervisor/languages/media_type.h"

namespace wardcase::supervisor {
namespace {

constexpr std::size_t kChunk = 128 * 1024;  // half a millisecond of summing up

// By offset: the position of what is known may be shared with somebody. What is there, up to
// the size of the chunk; nullopt and errno where it can't be read.
std::optional<std::string_view> read_at(int file, std::uint64_t at, std::uint64_t most,
                                        std::vector<char>& chunk) {
  const std::size_t wanted = std::min<std::uint64_t>(most, kChunk);
  chunk.resize(kChunk);
  std::size_t have = 0;
  while (have < wanted) {
    const ssize_t got = sys::retry_eintr([&] {
      return ::pread(file, chunk.data() + have, wanted - have, static_cast<off_t>(at + have));
    });
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return std::string_view(chunk.data(), have);
}

}  // namespace

ArtifactReader::ArtifactReader(std::string path, sys::UniqueFd file, std::uint64_t size, int known,
                               const OutDirectory* out)
    : file_(std::move(file)), size_(size), known_(known), out_(out) {
  artifact_.path = std::move(path);
}

ArtifactReader::State ArtifactReader::step() { return known_ >= 0 ? compare() : read_on(); }

ArtifactReader::State ArtifactReader::compare() {
  const auto now = read_at(file_.get(), at_, size_ - at_, chunk_);
  if (!now) {
    error_ = errno;
    return State::failed;
  }
  // One byte more than that tells whether what is known goes on.
  const auto before = read_at(known_, at_, now->empty() ? 1 : now->size(), known_chunk_);
  if (before && *before == *now) {
    at_ += now->size();
    return now->empty() ? State::unchanged : State::reading;
  }
  known_ = -1;
  at_ = 0;
  return State::changed;
}

ArtifactReader::State ArtifactReader::read_on() {
  if (at_ == 0 && out_ != nullptr && brought_ && !copy_) {
    struct stat info = {};
    const bool is_executable = ::fstat(file_.get(), &info) == 0 && (info.st_mode & S_IXUSR) != 0;
    auto copy = out_->begin(artifact_.path, is_executable);
    if (copy) {
      copy_.emplace(*std::move(copy));
    } else {
      brought_ = tl::unexpected(std::move(copy).error());
    }
  }
  const auto bytes = read_at(file_.get(), at_, size_ - at_, chunk_);
  if (!bytes) {
    error_ = errno;
    return State::failed;
  }
  if (bytes->empty()) return complete();
  if (at_ == 0) beginning_ = bytes->substr(0, kMediaTypeBytes);
  sum_.add(*bytes);
  copy(*bytes);
  at_ += bytes->size();
  return State::reading;
}

void ArtifactReader::copy(std::string_view bytes) {
  if (!copy_) return;
  brought_ = copy_->write(bytes);
  if (!brought_) copy_.reset();
}

ArtifactReader::State ArtifactReader::complete() {
  artifact_.size = at_;
  artifact_.mime = media_type_of(artifact_.path, beginning_);
  artifact_.sha256 = sum_.finish();
  if (copy_) brought_ = copy_->finish();
  copy_.reset();
  return State::whole;
}

}  // namespace wardcase::supervisor

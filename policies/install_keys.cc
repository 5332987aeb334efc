// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
#include "policies/install_keys.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "policies/web_address.h"

namespace wardcase::policies {
namespace {

constexpr std::size_t kMostPlaces = 16;

// A list of texts, each of which `check` accepts.
template <typename Check>
sys::Status read_places(const Entry& entry, std::string_view accepted,
                        Maybe<std::vector<std::string>>& place, Check check) {
  std::vector<std::string> texts;
  auto status = read_list(entry, accepted, [&](const Entry& element) -> sys::Status {
    auto text = text_of(element, accepted);
    if (!text) return tl::unexpected(std::move(text).error());
    if (auto checked = check(element, *text); !checked) return checked;
    texts.push_back(*std::move(text));
    return {};
  });
  if (!status) return status;
  if (texts.size() > kMostPlaces) {
    return wrong(entry, entry.key + ": more than " + std::to_string(kMostPlaces));
  }
  keep(entry, place, std::move(texts));
  return {};
}

sys::Status read_urls(const Entry& entry, Installer installer) {
  auto& place = entry.reading.policy.install.urls[static_cast<std::size_t>(installer)];
  return read_places(entry, "a list of URLs, the index first", place,
                     [](const Entry& element, const std::string& url) -> sys::Status {
                       const auto address = parse_web_address(url);
                       if (address) return {};
                       return wrong(element,
                                    element.key + ": '" + url + "': " + address.error().what);
                     });
}

constexpr Row kUrlKeys[] = {
    {"pip", [](const Entry& entry) { return read_urls(entry, Installer::pip); }},
    {"npm", [](const Entry& entry) { return read_urls(entry, Installer::npm); }},
};

sys::Status read_find_links(const Entry& entry) {
  return read_places(entry, "a list of directories of the host",
                     entry.reading.policy.install.find_links,
                     [](const Entry& element, const std::string& path) -> sys::Status {
                       if (path.starts_with('/')) return {};
                       return refused(element, "an absolute path of the host");
                     });
}

// Beside the keys of the limits.
constexpr Row kOwnKeys[] = {
    {"find_links", read_find_links},
};

}  // namespace

sys::Status read_install_urls(const Entry& entry) { return read_section(entry, kUrlKeys); }

sys::Status read_install(const Entry& entry) {
  return read_table(entry, [&](const Entry& value, std::size_t index) -> sys::Status {
    const std::string& name = entry.node.keys[index].name;
    const auto* const own = std::ranges::find(kOwnKeys, name, &Row::key);
    if (own != std::end(kOwnKeys)) return own->read(value);
    const auto row = std::ranges::find(limit_table(), name, &LimitRow::key);
    if (row != limit_table().end()) {
      return read_limit(value, *row, entry.reading.policy.install.limits, /*is_maximum=*/false);
    }
    std::vector<std::string_view> known;
    for (const Row& candidate : kOwnKeys) known.push_back(candidate.key);
    for (const LimitRow& candidate : limit_table()) known.push_back(candidate.key);
    return unknown_key(entry.reading, entry.node, index, entry.key, known);
  });
}

}  // namespace wardcase::policies

#include "datasets/duplicates.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "vit/checksum.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

/// The bytes of a picture and what keeps them in memory.
struct Content {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

Content content_of(const LabelledImages& images, const Sample& sample) {
  if (!sample.stored) {
    auto file = MappedFile::open(sample.path);
    const Bytes bytes = file->bytes();
    return {std::move(file), bytes};
  }
  const StoredPictures& stored = *images.stored;
  const std::size_t length =
      static_cast<std::size_t>(stored.size.width) * stored.size.height * stored.channels;
  return {images.stored,
          std::as_bytes(std::span(stored.bytes)).subspan(*sample.stored * length, length)};
}

bool equal(const LabelledImages& images, const Sample& a, const Sample& b) {
  try {
    const Content first = content_of(images, a);
    const Content second = content_of(images, b);
    return std::equal(first.bytes.begin(), first.bytes.end(), second.bytes.begin(),
                      second.bytes.end());
  } catch (const InputError&) {
    return false;  // one of them is gone by now
  }
}

}  // namespace

Fingerprint fingerprint(Bytes content) { return {content.size(), crc32_of(content)}; }

Fingerprint fingerprint(const LabelledImages& images, const Sample& sample) {
  try {
    return fingerprint(content_of(images, sample).bytes);
  } catch (const InputError&) {
    return {};
  }
}

std::vector<std::vector<std::size_t>> find_duplicates(
    const LabelledImages& images, const std::vector<Fingerprint>& fingerprints) {
  std::map<Fingerprint, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < fingerprints.size(); ++i)
    if (fingerprints[i].length > 0) alike[fingerprints[i]].push_back(i);
  std::vector<std::vector<std::size_t>> result;
  for (const auto& [print, members] : alike) {
    if (members.size() < 2) continue;
    std::vector<std::vector<std::size_t>> groups;  // equal contents among the members
    std::set<std::string> paths;
    for (const std::size_t i : members) {
      const Sample& sample = images.samples[i];
      if (!paths.insert(sample.path).second) continue;
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
        return equal(images, images.samples[other.front()], sample);
      });
      if (group == groups.end()) {
        groups.push_back({i});
      } else {
        group->push_back(i);
      }
    }
    std::copy_if(groups.begin(), groups.end(), std::back_inserter(result),
                 [](const auto& group) { return group.size() > 1; });
  }
  std::sort(result.begin(), result.end());
  return result;
}

DuplicateKind duplicate_kind(const LabelledImages& images, const std::vector<std::size_t>& group) {
  const Sample& first = images.samples[group.front()];
  const auto differ = [&](auto member) {
    return std::any_of(group.begin(), group.end(),
                       [&](std::size_t i) { return images.samples[i].*member != first.*member; });
  };
  if (differ(&Sample::labels)) return DuplicateKind::labels;
  return differ(&Sample::split) ? DuplicateKind::splits : DuplicateKind::same_use;
}

}  // namespace vitascope::datasets

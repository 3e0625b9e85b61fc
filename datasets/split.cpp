#include "datasets/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/image/random_stream.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

std::size_t at(Split split) { return static_cast<std::size_t>(split); }

/// FNV-1a (Fowler, Noll, Vo), then mixed with the seed.
std::uint64_t rank_of(const Sample& sample, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name_in_folder(sample.path))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return image::RandomStream::of(seed, 0, hash).bits();
}

/// The samples that may be divided, in the order in which they go to validation.
std::vector<std::size_t> candidates(const LabelledImages& images, std::uint64_t seed) {
  std::vector<std::size_t> order;
  std::vector<std::uint64_t> ranks(images.samples.size());
  order.reserve(images.samples.size());
  for (std::size_t i = 0; i < images.samples.size(); ++i) {
    const Sample& sample = images.samples[i];
    if (sample.split != Split::none && sample.split != Split::train) continue;
    ranks[i] = rank_of(sample, seed);
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  return order;
}

/// How many of `count` pictures go to validation.
std::size_t share(std::size_t count, double fraction) {
  if (count < 2) return 0;
  const auto rounded =
      static_cast<std::size_t>(std::llround(static_cast<double>(count) * fraction));
  return std::clamp<std::size_t>(rounded, 1, count - 1);
}

}  // namespace

std::vector<SplitCounts> count_classes(const LabelledImages& images) {
  std::vector<SplitCounts> counts(images.classes.size());
  for (const Sample& sample : images.samples)
    for (const int label : sample.labels) ++counts[label][at(sample.split)];
  return counts;
}

SplitCounts count_splits(const LabelledImages& images) {
  SplitCounts counts{};
  for (const Sample& sample : images.samples) ++counts[at(sample.split)];
  return counts;
}

std::vector<std::size_t> samples_of(const LabelledImages& images, Split split) {
  std::vector<std::size_t> samples;
  for (std::size_t i = 0; i < images.samples.size(); ++i)
    if (images.samples[i].split == split) samples.push_back(i);
  return samples;
}

void split_validation(LabelledImages& images, double fraction, std::uint64_t seed) {
  if (!(fraction > 0 && fraction < 1))
    throw UsageError(fmt::format(
        "the part for validation is {}, expected a number between 0 and 1, as 0.1", fraction));
  const std::vector<std::size_t> order = candidates(images, seed);
  // The last group is of pictures without labels.
  std::vector<std::vector<std::size_t>> members(images.classes.size() + 1);
  for (const std::size_t i : order) {
    images.samples[i].split = Split::none;
    for (const int label : images.samples[i].labels) members[label].push_back(i);
    if (images.samples[i].labels.empty()) members.back().push_back(i);
  }
  std::vector<std::size_t> rarest(members.size());
  std::iota(rarest.begin(), rarest.end(), std::size_t{0});
  std::stable_sort(rarest.begin(), rarest.end(), [&](std::size_t a, std::size_t b) {
    return members[a].size() < members[b].size();
  });
  std::size_t moved = 0;
  for (const std::size_t group : rarest) {
    std::size_t wanted = share(members[group].size(), fraction);
    // What rarer labels have decided counts first.
    for (const std::size_t i : members[group])
      if (wanted > 0 && images.samples[i].split == Split::validation) --wanted;
    for (const std::size_t i : members[group]) {
      Split& split = images.samples[i].split;
      if (split != Split::none) continue;
      split = wanted > 0 ? Split::validation : Split::train;
      if (wanted > 0) --wanted;
      moved += split == Split::validation ? 1 : 0;
    }
  }
  if (moved == 0)
    throw UsageError(
        fmt::format("a part of {} for validation leaves no picture to validate with; "
                    "every class has fewer than two",
                    fraction));
}

std::vector<std::string> uneven_classes(const LabelledImages& images) {
  std::vector<std::string> lines;
  const SplitCounts all = count_splits(images);
  if (all[at(Split::train)] == 0 || all[at(Split::validation)] == 0) return lines;
  const std::vector<SplitCounts> counts = count_classes(images);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const std::size_t train = counts[c][at(Split::train)];
    const std::size_t validation = counts[c][at(Split::validation)];
    if ((train == 0) == (validation == 0)) continue;
    lines.push_back(train == 0
                        ? fmt::format("the class '{}' has {} pictures in validation and none "
                                      "in train: it can't be learned",
                                      printable(images.classes[c]), validation)
                        : fmt::format("the class '{}' has {} pictures in train and none in "
                                      "validation: it can't be measured",
                                      printable(images.classes[c]), train));
  }
  return lines;
}

}  // namespace vitascope::datasets

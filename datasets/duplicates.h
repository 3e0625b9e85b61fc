#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/labelled_images.h"
#include "vit/file.h"

/// \file
/// Pictures that are there twice, byte for byte.
namespace vitascope::datasets {

/// What tells most contents apart without keeping them.
struct Fingerprint {
  std::uint64_t length = 0;  ///< 0: the content could not be read
  std::uint32_t crc = 0;

  auto operator<=>(const Fingerprint&) const = default;
};

/// Length and CRC-32.
Fingerprint fingerprint(Bytes content);

/// The fingerprint of a stored picture's pixels or of a file, {} when the file can't be read.
Fingerprint fingerprint(const LabelledImages& images, const Sample& sample);

/// Groups of samples whose contents are equal, found by fingerprint and then compared byte by byte;
/// in each, and among themselves, in the order of the samples. A file listed twice is no duplicate
/// of itself: of such only the first counts.
/// \param fingerprints one for each sample
std::vector<std::vector<std::size_t>> find_duplicates(const LabelledImages& images,
                                                      const std::vector<Fingerprint>& fingerprints);

/// What a group of equal pictures spoils.
enum class DuplicateKind {
  same_use,  ///< same split, same labels: counted twice
  splits,    ///< in more than one split: measures of quality are too good
  labels     ///< with different labels: one of them is wrong
};

/// The worst that holds for the group.
DuplicateKind duplicate_kind(const LabelledImages& images, const std::vector<std::size_t>& group);

}  // namespace vitascope::datasets

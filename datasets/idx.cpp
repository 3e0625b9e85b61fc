#include "datasets/idx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "datasets/benchmark_files.h"
#include "datasets/image_folder.h"
#include "vit/error.h"

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;

/// An IDX file of unsigned bytes.
struct Array {
  std::vector<std::uint32_t> shape;
  std::vector<std::uint8_t> values;  // after the header
};

std::uint32_t big_endian(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
}

/// The header: two zeros, the type (8: unsigned bytes), the number of dimensions, then each.
Array read_array(const std::string& path, std::size_t dimensions) {
  std::vector<std::uint8_t> bytes = read_maybe_gzip(path);
  const std::size_t header = 4 + 4 * dimensions;
  if (bytes.size() < header)
    throw InputError(
        path, fmt::format("is cut short: {} bytes, its header takes {}", bytes.size(), header));
  const std::uint32_t magic = big_endian(bytes, 0);
  if (magic != (0x800u | dimensions))
    throw InputError(path, fmt::format("begins with 0x{:08X}, expected 0x{:08X}: IDX, unsigned "
                                       "bytes, {} dimensions",
                                       magic, 0x800u | dimensions, dimensions));
  Array array;
  std::size_t left = bytes.size() - header;
  std::size_t expected = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    array.shape.push_back(big_endian(bytes, 4 + 4 * d));
    // No product of what was read before overflows: it is at most the length of the file.
    if (array.shape.back() == 0 || expected > left / array.shape.back())
      throw InputError(path, fmt::format("says it holds {} values, {} bytes follow",
                                         fmt::join(array.shape, " x "), left));
    expected *= array.shape.back();
  }
  if (expected != left)
    throw InputError(path, fmt::format("says it holds {} values, {} bytes follow",
                                       fmt::join(array.shape, " x "), left));
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  array.values = std::move(bytes);
  return array;
}

struct Pair {
  std::string images, labels;
  Split split = Split::none;
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::vector<Pair> find_pairs(const std::string& folder) {
  const std::vector<std::string> files = entries(folder).files;
  std::vector<Pair> pairs;
  for (const std::string& name : files) {
    if (name.find("images") == std::string::npos || name.find("idx3") == std::string::npos)
      continue;
    const std::string wanted = replaced(replaced(name, "images", "labels"), "idx3", "idx1");
    // Either of the two may have been decompressed.
    const std::string other =
        wanted.ends_with(".gz") ? wanted.substr(0, wanted.size() - 3) : wanted + ".gz";
    for (const std::string& labels : {wanted, other}) {
      if (std::find(files.begin(), files.end(), labels) == files.end()) continue;
      const bool test =
          name.find("t10k") != std::string::npos || name.find("test") != std::string::npos;
      const bool train = name.find("train") != std::string::npos;
      pairs.push_back({(fs::path(folder) / name).string(), (fs::path(folder) / labels).string(),
                       train  ? Split::train
                       : test ? Split::test
                              : Split::none});
      break;
    }
  }
  return pairs;
}

std::size_t read_pair(const Pair& pair, LabelledImages& images, StoredPictures& stored) {
  Array pictures = read_array(pair.images, 3);
  const Array labels = read_array(pair.labels, 1);
  const image::Size size{static_cast<int>(pictures.shape[2]), static_cast<int>(pictures.shape[1])};
  if (pictures.shape[0] != labels.shape[0])
    throw InputError(pair.labels, fmt::format("holds {} labels, {} holds {} pictures",
                                              labels.shape[0], pair.images, pictures.shape[0]));
  if (!stored.bytes.empty() && size != stored.size)
    throw InputError(pair.images,
                     fmt::format("holds pictures of {} x {}, the others are {} x {}", size.width,
                                 size.height, stored.size.width, stored.size.height));
  stored.size = size;
  if (stored.bytes.empty()) {
    stored.bytes = std::move(pictures.values);
  } else {
    stored.bytes.insert(stored.bytes.end(), pictures.values.begin(), pictures.values.end());
  }
  images.samples.reserve(images.samples.size() + labels.values.size());
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    Sample sample;
    sample.path = fmt::format("{}#{}", pair.images, i);
    sample.stored = images.samples.size();
    sample.labels = {labels.values[i]};
    sample.split = pair.split;
    images.samples.push_back(std::move(sample));
  }
  return std::size_t{1} + *std::max_element(labels.values.begin(), labels.values.end());
}

}  // namespace

bool is_idx_folder(const std::string& folder) { return !find_pairs(folder).empty(); }

LabelledImages read_idx(const std::string& folder) {
  LabelledImages images;
  images.source = "IDX files, as MNIST's";
  auto stored = std::make_shared<StoredPictures>();
  std::size_t classes = 0;
  for (const Pair& pair : find_pairs(folder))
    classes = std::max(classes, read_pair(pair, images, *stored));
  images.stored = std::move(stored);
  const std::string names = (fs::path(folder) / "classes.txt").string();
  images.classes = fs::exists(names) ? read_class_names(names) : numbered_classes(classes);
  if (images.classes.size() < classes)
    throw InputError(names, fmt::format("names {} classes, the labels go up to {}",
                                        images.classes.size(), classes - 1));
  return images;
}

}  // namespace vitascope::datasets

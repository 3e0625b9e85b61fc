#include "datasets/cifar.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "datasets/benchmark_files.h"
#include "datasets/image_folder.h"
#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = 3 * 32 * 32;

/// How one of the two data sets is stored.
struct Kind {
  std::size_t labels;  ///< label bytes before the pixels, of which the last counts
  std::size_t classes;
  const char* names;  ///< file of class names
};
constexpr Kind kTen{1, 10, "batches.meta.txt"};
constexpr Kind kHundred{2, 100, "fine_label_names.txt"};

struct Batches {
  Kind kind = kTen;
  std::vector<std::pair<std::string, Split>> files;
};

Batches find_batches(const std::string& folder) {
  Batches batches;
  const std::vector<std::string> names = entries(folder).files;
  const auto collect = [&](const char* train, const char* test) {
    batches.files.clear();
    bool trained = false;
    for (const std::string& name : names) {
      if (!name.ends_with(".bin")) continue;
      if (name.starts_with(train)) batches.files.emplace_back(name, Split::train);
      if (name.starts_with(test)) batches.files.emplace_back(name, Split::test);
      trained = trained || name.starts_with(train);
    }
    return trained;
  };
  if (collect("data_batch_", "test_batch.")) return batches;
  batches.kind = kHundred;
  if (!collect("train.", "test.")) batches.files.clear();
  return batches;
}

void read_batch(const std::string& path, const Kind& kind, Split split, LabelledImages& images,
                StoredPictures& stored) {
  const auto file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  const std::size_t record = kind.labels + kPixels;
  if (bytes.empty() || bytes.size() % record != 0)
    throw InputError(path, fmt::format("has {} bytes, expected a multiple of {}, which is a label "
                                       "and a picture of CIFAR-{}",
                                       bytes.size(), record, kind.classes));
  const std::size_t count = bytes.size() / record;
  images.samples.reserve(images.samples.size() + count);
  stored.bytes.reserve(stored.bytes.size() + count * kPixels);
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes one = bytes.subspan(i * record, record);
    const auto label = std::to_integer<std::size_t>(one[kind.labels - 1]);
    if (label >= kind.classes)
      throw InputError(path, fmt::format("picture {} (byte {}): label {}, expected one below {}", i,
                                         i * record + kind.labels - 1, label, kind.classes));
    Sample sample;
    sample.path = fmt::format("{}#{}", path, i);
    sample.stored = images.samples.size();
    sample.labels = {static_cast<int>(label)};
    sample.split = split;
    images.samples.push_back(std::move(sample));
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(one.data()) + kind.labels;
    stored.bytes.insert(stored.bytes.end(), pixels, pixels + kPixels);
  }
}

}  // namespace

bool is_cifar_folder(const std::string& folder) { return !find_batches(folder).files.empty(); }

LabelledImages read_cifar(const std::string& folder) {
  const Batches batches = find_batches(folder);
  LabelledImages images;
  images.source = fmt::format("CIFAR-{} in its binary version", batches.kind.classes);
  const std::string names = (fs::path(folder) / batches.kind.names).string();
  if (fs::exists(names)) {
    images.classes = read_class_names(names);
    if (images.classes.size() != batches.kind.classes)
      throw InputError(names, fmt::format("names {} classes, expected {}", images.classes.size(),
                                          batches.kind.classes));
  } else {
    images.classes = numbered_classes(batches.kind.classes);
    images.notes.push_back(
        fmt::format("{} is missing; classes are called by number", batches.kind.names));
  }
  auto stored = std::make_shared<StoredPictures>();
  stored->size = {32, 32};
  stored->channels = 3;
  for (const auto& [name, split] : batches.files)
    read_batch((fs::path(folder) / name).string(), batches.kind, split, images, *stored);
  images.stored = std::move(stored);
  return images;
}

}  // namespace vitascope::datasets

#include "datasets/class_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "datasets/image_folder.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;

/// Whether the folders are splits: all are named so, or 'train' is among them.
bool are_splits(const std::vector<std::string>& folders) {
  const auto is_split = [](const std::string& name) { return parse_split(name).has_value(); };
  const auto is_train = [](const std::string& name) { return parse_split(name) == Split::train; };
  return std::any_of(folders.begin(), folders.end(), is_train) ||
         (!folders.empty() && std::all_of(folders.begin(), folders.end(), is_split));
}

/// Collects the pictures of class folders.
class Classes {
 public:
  explicit Classes(LabelledImages& images) : images_(images) {}

  void add(const fs::path& folder, const Entries& inside, Split split) {
    for (const std::string& name : inside.folders) {
      std::size_t& count = counts_[name];
      const ImageList list = list_images({(folder / name).string()}, /*recursive=*/true);
      named_.reserve(named_.size() + list.paths.size());
      for (const std::string& path : list.paths) {
        Sample sample;
        sample.path = path;
        sample.split = split;
        named_.push_back({std::move(sample), {name}});
      }
      count += list.paths.size();
    }
    const auto stray = std::count_if(inside.files.begin(), inside.files.end(), has_image_extension);
    if (stray > 0)
      note("{} pictures lie in {} beside the class folders and have no label; left out", stray,
           folder.string());
  }

  void finish() {
    for (const auto& [name, count] : counts_)
      if (count == 0) note("the class '{}' has no pictures; left out", printable(name));
    number_labels(std::move(named_), images_);
  }

 private:
  template <typename... Values>
  void note(fmt::format_string<Values...> text, Values&&... values) {
    images_.notes.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  LabelledImages& images_;
  std::vector<NamedSample> named_;
  std::map<std::string, std::size_t> counts_;
};

void read_splits(const fs::path& root, const Entries& inside, LabelledImages& images) {
  Classes classes(images);
  for (const std::string& name : inside.folders) {
    const auto split = parse_split(name);
    if (!split) {
      images.notes.push_back(fmt::format("the folder '{}' is no split; left out", printable(name)));
      continue;
    }
    const fs::path folder = root / name;
    const Entries in_split = entries(folder.string());
    if (in_split.folders.empty() &&
        std::any_of(in_split.files.begin(), in_split.files.end(), has_image_extension))
      throw InputError(folder.string(),
                       "holds pictures but no class folders; expected a folder for each class, or "
                       "a table of labels beside the splits");
    classes.add(folder, in_split, *split);
  }
  classes.finish();
}

}  // namespace

LabelledImages read_class_folders(const std::string& root) {
  LabelledImages images;
  const Entries inside = entries(root);
  if (are_splits(inside.folders)) {
    images.source = "class folders in folders named after splits";
    read_splits(root, inside, images);
  } else if (inside.folders.empty()) {
    images.source = "a folder of pictures without labels";
    for (const std::string& name : inside.files) {
      if (!has_image_extension(name)) continue;
      Sample sample;
      sample.path = (fs::path(root) / name).string();
      images.samples.push_back(std::move(sample));
    }
  } else {
    images.source = "class folders";
    Classes classes(images);
    classes.add(root, inside, Split::none);
    classes.finish();
  }
  if (images.samples.empty())
    throw InputError(root,
                     "holds no pictures; expected a folder for each class, in train/ and val/ or "
                     "not, a table (labels.csv, metadata.jsonl), CIFAR's or MNIST's files");
  return images;
}

}  // namespace vitascope::datasets

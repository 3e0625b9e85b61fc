#include "datasets/captions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "datasets/caption_text.h"
#include "datasets/image_folder.h"
#include "datasets/split.h"
#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{1} << 30;

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The folders in which photos are looked for: the captions' own, the one above, and those inside.
/// What can't be read is passed over.
std::vector<fs::path> candidates(const fs::path& own) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path above = parent_of(fs::absolute(own, error).lexically_normal());
  for (const fs::path& folder : {own, own == "." ? fs::path("..") : above}) {
    folders.push_back(folder);
    const auto inside = static_cast<std::ptrdiff_t>(folders.size());
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) folders.push_back(entry->path());
    }
    std::sort(folders.begin() + inside, folders.end());
  }
  return folders;
}

/// Some of the photos, spread over all: files are in order, and one folder may hold the first only.
std::vector<const CaptionedImage*> spread(const CaptionedImages& images) {
  constexpr std::size_t kTried = 50;
  const std::size_t step = std::max<std::size_t>(images.photos.size() / kTried, 1);
  std::vector<const CaptionedImage*> some;
  some.reserve(images.photos.size() / step + 1);
  for (std::size_t i = 0; i < images.photos.size(); i += step) some.push_back(&images.photos[i]);
  return some;
}

/// The folder that has most of the photos.
fs::path folder_of_photos(const CaptionedImages& images, const fs::path& own) {
  fs::path best = own;
  std::ptrdiff_t most = 0;
  const std::vector<const CaptionedImage*> some = spread(images);
  for (const fs::path& folder : candidates(own)) {
    const auto found = std::count_if(some.begin(), some.end(), [&](const CaptionedImage* photo) {
      return is_file(folder / photo->path);
    });
    if (found > most) best = folder;
    most = std::max<std::ptrdiff_t>(most, found);
  }
  return best;
}

/// Photos where they lie; those that are not there are left out.
void place_photos(CaptionedImages& images, const std::string& path, const std::string& folder) {
  const fs::path place =
      folder.empty() ? folder_of_photos(images, parent_of(path)) : fs::path(folder);
  std::vector<std::string> missing;
  std::vector<CaptionedImage> found;
  found.reserve(images.photos.size());
  for (CaptionedImage& photo : images.photos) {
    fs::path file = place / photo.path;
    if (!is_file(file)) {
      missing.push_back(std::move(photo.path));
      continue;
    }
    photo.path = file.lexically_normal().string();
    found.push_back(std::move(photo));
  }
  if (found.empty())
    throw InputError(path, fmt::format("names {} photos, and none of them is {}{}: {}; give the "
                                       "folder that holds them",
                                       missing.size(), folder.empty() ? "near it" : "in ",
                                       printable(folder), first_few(missing)));
  if (!missing.empty())
    images.notes.push_back(fmt::format("{} of {} photos are not in {} and left out: {}",
                                       missing.size(), missing.size() + found.size(),
                                       printable(place.string()), first_few(missing)));
  images.photos = std::move(found);
}

/// A list of the photos of a split, as Flickr_8k.trainImages.txt.
struct SplitList {
  std::string path;
  Split split;
};

std::vector<SplitList> split_lists(const std::string& folder) {
  constexpr std::array<std::pair<std::string_view, Split>, 4> kEnds{
      {{"trainimages.txt", Split::train},
       {"devimages.txt", Split::validation},
       {"valimages.txt", Split::validation},
       {"testimages.txt", Split::test}}};
  std::vector<SplitList> lists;
  for (const std::string& name : entries(folder).files)
    for (const auto& [end, split] : kEnds)
      if (lower_case(name).ends_with(end))
        lists.push_back({(fs::path(folder) / name).string(), split});
  return lists;
}

/// Splits by the lists beside the captions, where there are any.
void apply_lists(CaptionedImages& images, const std::string& path) {
  const std::vector<SplitList> lists = split_lists(parent_of(path).string());
  if (lists.empty()) return;
  std::unordered_map<std::string, Split> splits;
  for (const SplitList& list : lists)
    for (std::string& name : parse_name_list(read_file(list.path, kLargestFile))) {
      const auto [place, is_new] = splits.emplace(name, list.split);
      if (!is_new && place->second != list.split)
        throw InputError(list.path, fmt::format("names {}, which is also listed for {}",
                                                printable(name), split_name(place->second)));
    }
  std::vector<std::string> unlisted;
  for (CaptionedImage& photo : images.photos) {
    const auto place = splits.find(fs::path(photo.path).filename().string());
    if (place != splits.end()) {
      photo.split = place->second;
      splits.erase(place);
    } else {
      unlisted.push_back(photo.path);
    }
  }
  if (!unlisted.empty())
    images.notes.push_back(fmt::format("{} photos are in none of the lists of splits: {}",
                                       unlisted.size(), first_few(unlisted)));
  if (!splits.empty())
    images.notes.push_back(
        fmt::format("the lists of splits name {} photos that have no captions", splits.size()));
}

}  // namespace

CaptionedImages read_captions(const std::string& path) {
  return parse_captions(read_file(path, kLargestFile), path);
}

CaptionedImages open_captions(const std::string& path, const std::string& photos) {
  CaptionedImages images = read_captions(path);
  apply_lists(images, path);
  place_photos(images, path, photos);
  return images;
}

void split_validation(CaptionedImages& images, double fraction, std::uint64_t seed) {
  LabelledImages unlabelled;
  unlabelled.samples.reserve(images.photos.size());
  for (const CaptionedImage& photo : images.photos) {
    Sample& sample = unlabelled.samples.emplace_back();
    sample.path = photo.path;
    sample.split = photo.split;
  }
  split_validation(unlabelled, fraction, seed);
  for (std::size_t i = 0; i < images.photos.size(); ++i)
    images.photos[i].split = unlabelled.samples[i].split;
}

}  // namespace vitascope::datasets

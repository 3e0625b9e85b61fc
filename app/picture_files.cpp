#include "app/picture_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "app/drawing/write_picture.h"
#include "app/values.h"
#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::app {

namespace fs = std::filesystem;

bool names_a_picture(const std::string& path) {
  if (path.ends_with('/') || fs::is_directory(path) || !fs::path(path).has_extension())
    return false;
  drawing::picture_format(path);  // throws for another ending
  return true;
}

std::vector<std::string> picture_files(const std::vector<std::string>& photos,
                                       const PictureTarget& target) {
  if (target.path.empty()) return std::vector<std::string>(photos.size());
  std::vector<std::string> files;
  if (names_a_picture(target.path)) {
    if (photos.size() > 1) {
      throw UsageError(fmt::format("{} {} is one picture, and there are {} photos; name a folder",
                                   target.flag, in_quotes(target.path), photos.size()));
    }
    files.push_back(target.path);
  } else {
    std::set<std::string> taken;
    files.reserve(photos.size());
    for (const std::string& photo : photos) {
      const std::string stem = fs::path(photo).stem().string();
      std::string name = stem;
      for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", stem, i);
      files.push_back((fs::path(target.path) / (name + ".png")).string());
    }
    if (!fs::exists(target.path)) return files;
  }
  for (const std::string& file : files) check_writable(file, target.force);
  return files;
}

}  // namespace vitascope::app

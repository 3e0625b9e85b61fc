#include "datasets/image_folder.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "datasets/extension.h"
#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::datasets {
namespace {

namespace fs = std::filesystem;

bool hidden(const std::string& name) { return !name.empty() && name.front() == '.'; }

/// Names in `folder` in natural order, hidden ones left out.
std::vector<std::string> visible_names(const fs::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!hidden(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

/// Collects the pictures below a folder.
class FolderScan {
 public:
  FolderScan(bool recursive, ImageList& list) : recursive_(recursive), list_(list) {}

  void scan(const fs::path& folder) {
    std::error_code error;
    // A folder reached twice through links holds the same pictures; this also ends loops of links.
    const fs::path real = fs::canonical(folder, error);
    if (!seen_.insert(error ? folder.string() : real.string()).second) return;
    const std::vector<std::string> names = visible_names(folder, error);
    if (error) {
      list_.failures.push_back(printable(folder.string()) +
                               ": the folder can't be read: " + error.message());
      return;
    }
    std::vector<fs::path> folders;
    for (const std::string& name : names) {
      const fs::path path = folder / name;
      std::error_code ignored;
      if (fs::is_directory(path, ignored)) {
        folders.push_back(path);
      } else if (has_image_extension(name)) {
        list_.paths.push_back(path.string());
      }
    }
    folders_inside_ += folders.size();
    if (!recursive_) return;
    for (const fs::path& path : folders) scan(path);
  }

  std::size_t folders_inside() const { return folders_inside_; }

 private:
  bool recursive_;
  ImageList& list_;
  std::set<std::string> seen_;
  std::size_t folders_inside_ = 0;
};

void list_folder(const std::string& folder, bool recursive, ImageList& list) {
  const std::size_t paths = list.paths.size();
  const std::size_t failures = list.failures.size();
  FolderScan scan(recursive, list);
  scan.scan(folder);
  if (list.paths.size() > paths || list.failures.size() > failures) return;
  std::string message = printable(folder) + ": no pictures in this folder";
  if (!recursive && scan.folders_inside() > 0) {
    message += "; --recursive also looks into the folders inside";
  }
  list.failures.push_back(message);
}

bool is_glob(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// Paths that match the components from `index` on, below `base`.
void match(const std::vector<std::string>& components, std::size_t index, const fs::path& base,
           std::vector<std::string>& matches) {
  if (index == components.size()) {
    matches.push_back(base.string());
    return;
  }
  const std::string& component = components[index];
  std::error_code error;
  if (!is_glob(component)) {
    const fs::path path = base / component;
    if (fs::exists(path, error)) match(components, index + 1, path, matches);
    return;
  }
  for (const std::string& name : visible_names(base.empty() ? fs::path(".") : base, error)) {
    if (fnmatch(component.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
    const fs::path path = base / name;
    if (index + 1 < components.size() && !fs::is_directory(path, error)) continue;
    match(components, index + 1, path, matches);
  }
}

std::vector<std::string> expand_glob(const std::string& pattern) {
  std::vector<std::string> components;
  fs::path base;
  for (const fs::path& part : fs::path(pattern)) {
    if (part == "/") {
      base = part;
    } else if (!part.empty()) {
      components.push_back(part.string());
    }
  }
  std::vector<std::string> matches;
  match(components, 0, base, matches);
  return matches;
}

void list_input(const std::string& input, bool recursive, ImageList& list) {
  std::error_code error;
  const fs::file_status status = fs::status(input, error);
  if (fs::is_directory(status)) {
    list_folder(input, recursive, list);
  } else if (fs::exists(status)) {
    list.paths.push_back(input);
  } else if (status.type() == fs::file_type::none) {  // there, or maybe there, but out of reach
    list.failures.push_back(printable(input) + ": " + error.message());
  } else {
    list.failures.push_back(printable(input) + ": no such file or folder");
  }
}

}  // namespace

image::Format format_of_extension(const std::string& path) {
  using image::Format;
  constexpr std::pair<std::string_view, Format> kFormats[] = {
      {".jpg", Format::jpeg},  {".jpeg", Format::jpeg}, {".jpe", Format::jpeg},
      {".jfif", Format::jpeg}, {".png", Format::png},   {".gif", Format::gif},
      {".webp", Format::webp}, {".tif", Format::tiff},  {".tiff", Format::tiff},
      {".bmp", Format::bmp},   {".heic", Format::heif}, {".heif", Format::heif},
      {".avif", Format::avif}};
  const std::string extension = lower_extension(path);
  for (const auto& [known, format] : kFormats)
    if (extension == known) return format;
  return Format::unknown;
}

bool has_image_extension(const std::string& path) {
  return format_of_extension(path) != image::Format::unknown;
}

Entries entries(const std::string& folder) {
  std::error_code error;
  Entries result;
  for (const std::string& name : visible_names(folder, error)) {
    std::error_code ignored;
    const bool inner = fs::is_directory(fs::path(folder) / name, ignored);
    (inner ? result.folders : result.files).push_back(name);
  }
  if (error) throw InputError(folder, "the folder can't be read: " + error.message());
  return result;
}

ImageList list_images(const std::vector<std::string>& inputs, bool recursive) {
  ImageList list;
  for (const std::string& input : inputs) {
    std::error_code error;
    // What exists wins over its reading as a glob: 'holiday [2].jpg' is a file's name.
    if (!is_glob(input) || fs::exists(input, error)) {
      list_input(input, recursive, list);
      continue;
    }
    const std::vector<std::string> matches = expand_glob(input);
    if (matches.empty()) list.failures.push_back(printable(input) + ": nothing matches");
    for (const std::string& found : matches) list_input(found, recursive, list);
  }
  return list;
}

}  // namespace vitascope::datasets

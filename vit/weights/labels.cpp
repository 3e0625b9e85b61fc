#include "vit/weights/labels.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::weights {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestLabelFile = 64u << 20;
constexpr int kMostClasses = 1000000;

// The sizes of the lists differ, so a head's size tells which one it was trained for.
constexpr std::pair<int, std::string_view> kBuiltInLists[] = {
    {1000, "imagenet-1k"},        {11821, "imagenet-12k"}, {21843, "imagenet-21k"},
    {11221, "imagenet-21k-miil"}, {21841, "imagenet-22k"}, {21842, "imagenet-22k-ms"}};

std::optional<int> class_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || number < 0 || number >= kMostClasses) return std::nullopt;
  return number;
}

/// {"0": ..., "1": ...} in numeric order, without gaps.
std::vector<std::string> numbered_labels(const Json& labels, const std::string& key,
                                         const std::string& path) {
  std::map<int, std::string> ordered;
  for (const auto& [id, label] : labels.items()) {
    const auto number = class_number(id);
    if (!number) {
      throw InputError(path, fmt::format("'{}' has the key '{}': expected class numbers from 0 on",
                                         key, printable(id)));
    }
    if (!label.is_string()) {
      throw InputError(path, fmt::format("'{}' of class {} is no text: expected a label", key, id));
    }
    if (!ordered.emplace(*number, label.get<std::string>()).second) {
      throw InputError(path, fmt::format("'{}' names class {} twice", key, *number));
    }
  }
  std::vector<std::string> result;
  for (auto& [number, label] : ordered) {
    if (number != static_cast<int>(result.size())) {
      throw InputError(path, fmt::format("'{}' has no class {}, but a class {}: expected numbers "
                                         "without a gap",
                                         key, result.size(), number));
    }
    result.push_back(std::move(label));
  }
  return result;
}

std::vector<std::string> listed_labels(const Json& labels, const std::string& key,
                                       const std::string& path) {
  std::vector<std::string> result;
  for (const Json& label : labels) {
    if (!label.is_string()) {
      throw InputError(path, fmt::format("'{}' has an entry that is no text at position {}: "
                                         "expected a label",
                                         key, result.size()));
    }
    result.push_back(label.get<std::string>());
  }
  return result;
}

bool are_placeholders(const std::vector<std::string>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != fmt::format("LABEL_{}", i)) return false;
  }
  return true;
}

/// WordNet's identifiers of nouns, as ImageNet's folders are named: n and eight digits.
bool is_wordnet_id(const std::string& label) {
  return label.size() == 9 && label[0] == 'n' &&
         std::all_of(label.begin() + 1, label.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

std::vector<std::string> labels_from_id2label(const Json& id2label, const std::string& path) {
  if (id2label.is_null()) return {};
  if (!id2label.is_object()) {
    throw InputError(path, "'id2label' is no JSON object: expected {\"0\": \"label\", ...}");
  }
  std::vector<std::string> labels = numbered_labels(id2label, "id2label", path);
  return are_placeholders(labels) ? std::vector<std::string>{} : labels;
}

std::vector<std::string> labels_from_timm(const Json& names, const Json& descriptions,
                                          const std::string& path) {
  if (names.is_null()) return {};
  if (!names.is_array() && !names.is_object()) {
    throw InputError(path, "'label_names' is neither a list nor a JSON object: expected labels");
  }
  std::vector<std::string> labels = names.is_array() ? listed_labels(names, "label_names", path)
                                                     : numbered_labels(names, "label_names", path);
  if (!descriptions.is_object() || !std::ranges::all_of(labels, is_wordnet_id)) return labels;
  for (std::string& label : labels) {
    const auto found = descriptions.find(label);
    if (found != descriptions.end() && found->is_string()) label = found->get<std::string>();
  }
  return labels;
}

std::vector<std::string> read_labels(const std::string& path, int classes) {
  std::string text = read_file(path, kLongestLabelFile);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark is no label
  std::vector<std::string> labels = lines_of(text);
  const auto empty = std::ranges::find(labels, std::string());
  if (empty != labels.end()) {
    throw InputError(path, fmt::format("line {} is empty: expected one label a line",
                                       empty - labels.begin() + 1));
  }
  if (labels.size() != static_cast<std::size_t>(classes)) {
    throw InputError(path, fmt::format("holds {} labels, one a line: expected {}, as the model's "
                                       "head has classes",
                                       labels.size(), classes));
  }
  return labels;
}

std::string built_in_list(int classes) {
  for (const auto& [size, name] : kBuiltInLists) {
    if (size == classes) return std::string(name);
  }
  return "";
}

std::vector<std::string> built_in_labels(const std::string& list) {
  const fs::path file = fs::path(share_folder()) / "labels" / (list + ".txt");
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  return lines_of(read_file(file.string(), kLongestLabelFile));
}

std::string share_folder() {
  if (const char* said = std::getenv("VITASCOPE_SHARE"); said != nullptr && *said != '\0') {
    return said;
  }
  // The file that holds this very function: the program, or the library in someone else's.
  Dl_info info{};
  std::error_code error;
  fs::path own;
  if (dladdr(reinterpret_cast<const void*>(&share_folder), &info) != 0 &&
      info.dli_fname != nullptr) {
    own = fs::canonical(info.dli_fname, error);
  }
  // A program started through PATH may be named without its folder.
  if (error || own.empty()) own = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = own.parent_path() / "share";
  if (fs::is_directory(beside, error)) return beside.string();
  return (own.parent_path() / ".." / "share" / "vitascope").lexically_normal().string();
}

}  // namespace vitascope::weights

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"
#include "vit/weights/model_directory.h"
#include "vit/weights/saved_layout.h"
#include "vit/weights/tensor_file.h"

namespace vitascope::weights {
namespace {

namespace fs = std::filesystem;

/// What a folder that --force may replace holds at most; anything else is somebody's work.
constexpr std::array<std::string_view, 3> kOwnFiles{"config.json", "model.safetensors",
                                                    "preprocessor_config.json"};

/// \throws UsageError unless `directory` may be written
void check_target(const fs::path& directory, bool force) {
  const std::string shown = printable(directory.string());
  const fs::path parent = directory.parent_path().empty() ? "." : directory.parent_path();
  if (!fs::is_directory(parent)) {
    throw UsageError(fmt::format("{}: its folder does not exist: make it first", shown));
  }
  if (::access(parent.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("{}: its folder is not writable", shown));
  }
  if (!fs::exists(directory)) return;
  if (!fs::is_directory(directory)) {
    throw UsageError(fmt::format("{} is a file: expected the name of a folder to make", shown));
  }
  if (!force && !fs::is_empty(directory)) {
    throw UsageError(
        fmt::format("{} exists already: choose another name, or --force to replace it", shown));
  }
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(kOwnFiles, name) != kOwnFiles.end()) continue;
    throw UsageError(
        fmt::format("{} holds more than a saved model ('{}'), so it is not replaced: "
                    "choose another name",
                    shown, printable(name)));
  }
}

void synchronise(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

/// A folder that is gone at the end unless it was moved away.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) { fs::create_directory(path_); }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The weights come last: without them a folder is no model.
void write_content(const SavedLayout& content, const fs::path& folder, bool force) {
  for (const auto& [name, json] : content.files) {
    const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    write_file((folder / name).string(), force, text);
  }
  // Python's readers refuse a file that does not say what it is for.
  write_tensors((folder / "model.safetensors").string(), content.tensors, {{"format", "pt"}},
                force);
}

/// Puts the finished folder in its place. The former one is moved aside first and is back there
/// when that fails.
void put_in_place(const fs::path& finished, const fs::path& directory, const fs::path& former) {
  const bool replaces = fs::exists(directory);
  if (replaces) fs::rename(directory, former);
  std::error_code error;
  fs::rename(finished, directory, error);
  if (error && replaces) fs::rename(former, directory);
  if (error) {
    throw FailureError(fmt::format("{}: can't be put in place: {}", printable(directory.string()),
                                   error.message()));
  }
  if (replaces) fs::remove_all(former, error);
}

}  // namespace

void save_model(const Model& model, const std::string& directory, Layout layout, bool force) {
  fs::path target = fs::path(directory).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // a trailing slash
  if (target.empty()) throw UsageError("the folder to write has no name");
  check_target(target, force);
  const SavedLayout content = saved_layout(model, layout);
  const auto sibling = [&](const char* purpose) {
    return target.parent_path() /
           fmt::format(".{}.{}-{}", target.filename().string(), purpose, ::getpid());
  };
  try {
    const TemporaryFolder temporary(sibling("writing"));
    write_content(content, temporary.path(), /*force=*/false);
    synchronise(temporary.path());
    put_in_place(temporary.path(), target, sibling("former"));
    synchronise(target.parent_path().empty() ? "." : target.parent_path());
  } catch (const fs::filesystem_error& error) {
    throw FailureError(
        fmt::format("{}: writing failed: {}", printable(target.string()), error.code().message()));
  }
}

void update_model(const Model& model, const std::string& directory, Layout layout) {
  const SavedLayout content = saved_layout(model, layout);
  write_content(content, directory, /*force=*/true);
  synchronise(directory);
}

}  // namespace vitascope::weights

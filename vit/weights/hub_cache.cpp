#include "vit/weights/hub_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "vit/error.h"
#include "vit/file.h"

namespace vitascope::weights {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path user_cache() {
  const std::string xdg = environment("XDG_CACHE_HOME");
  return xdg.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(xdg);
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

/// Letters, digits, '-', '_' and '.', and nothing that would climb out of a folder.
bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find("..") == std::string_view::npos && std::ranges::all_of(text, is_name_character);
}

/// A branch may have slashes in its name, as refs/pr/3 has.
bool is_revision(std::string_view text) {
  while (true) {
    const std::size_t slash = text.find('/');
    if (!is_name(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

}  // namespace

std::optional<Repository> parse_repository(const std::string& text) {
  const std::size_t at = text.find('@');
  Repository repository{text.substr(0, at), "main"};
  if (at != std::string::npos) repository.revision = text.substr(at + 1);
  const std::size_t slash = repository.id.find('/');
  if (slash == std::string::npos || !is_name(repository.id.substr(0, slash)) ||
      !is_name(repository.id.substr(slash + 1)) || !is_revision(repository.revision)) {
    return std::nullopt;
  }
  return repository;
}

std::string hugging_face_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const std::string said = environment(name); !said.empty()) return said;
  }
  const std::string home = environment("HF_HOME");
  const fs::path folder = home.empty() ? user_cache() / "huggingface" : fs::path(home);
  return (folder / "hub").string();
}

std::optional<std::string> cached_snapshot(const Repository& repository) {
  std::string name = "models--" + repository.id;
  name.replace(name.find('/'), 1, "--");
  const fs::path folder = fs::path(hugging_face_cache()) / name;
  std::error_code error;
  std::string commit = repository.revision;
  if (const fs::path ref = folder / "refs" / repository.revision; fs::is_regular_file(ref, error)) {
    commit = read_file(ref.string(), 4096);
    while (!commit.empty() && std::isspace(static_cast<unsigned char>(commit.back()))) {
      commit.pop_back();
    }
    if (!is_name(commit)) throw InputError(ref.string(), "holds no commit: expected its hash");
  }
  const fs::path snapshot = folder / "snapshots" / commit;
  if (!fs::is_directory(snapshot, error)) return std::nullopt;
  return snapshot.string();
}

std::optional<std::string> cached_checkpoint(const std::string& file) {
  if (!is_name(file)) return std::nullopt;
  const std::string home = environment("TORCH_HOME");
  const fs::path folder = home.empty() ? user_cache() / "torch" : fs::path(home);
  const fs::path path = folder / "hub" / "checkpoints" / file;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  return path.string();
}

std::string download_command(const Repository& repository) {
  return repository.revision == "main"
             ? fmt::format("hf download {}", repository.id)
             : fmt::format("hf download {} --revision {}", repository.id, repository.revision);
}

}  // namespace vitascope::weights

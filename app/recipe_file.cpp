#include "app/recipe_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>
#include <utility>

#include "vit/error.h"
#include "vit/file.h"
#include "vit/text.h"

namespace vitascope::app {
namespace {

constexpr std::size_t kRecipeBytes = 1'000'000;

/// Takes the parser's events. Whatever a recipe has no use for is refused as it comes up, before
/// the parser descends into it, so that neither depth nor aliases can cost anything.
class RecipeReader : public YAML::EventHandler {
 public:
  explicit RecipeReader(std::string path) : path_(std::move(path)) {}

  std::vector<RecipeEntry> take() { return std::move(entries_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "an alias (*) is not allowed in a recipe");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    fail(mark, "an anchor (&) is not allowed in a recipe");
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    switch (place_) {
      case Place::outside:  // an empty file
        return;
      case Place::key:
        fail(mark, "a key is missing before ':'");
      case Place::list:
        fail(mark, "an item of this list is empty");
      case Place::value:
        entries_.back().is_null = true;
        place_ = Place::key;
    }
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    switch (place_) {
      case Place::outside:
        fail(mark, "expected a map, as in 'batch-size: 8'");
      case Place::key:
        start_entry(mark, value);
        return;
      case Place::list:
        entries_.back().values.push_back(value);
        return;
      case Place::value:
        set_value_place(mark);
        entries_.back().values = {value};
        place_ = Place::key;
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    if (place_ != Place::value) fail(mark, "expected a single value, got a list");
    set_value_place(mark);
    entries_.back().is_list = true;
    place_ = Place::list;
  }
  void OnSequenceEnd() override { place_ = Place::key; }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    if (place_ != Place::outside)
      fail(mark, "expected a value, got keys inside a key; a recipe is flat");
    place_ = Place::key;
  }
  void OnMapEnd() override { place_ = Place::outside; }

 private:
  enum class Place { outside, key, value, list };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
    throw UsageError(recipe_place(path_, mark.line + 1, mark.column + 1) + ": " + message);
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    // "?" is a plain value, "!" a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(mark, "a tag (!) is not allowed in a recipe");
  }

  void start_entry(const YAML::Mark& mark, const std::string& key) {
    RecipeEntry entry;
    entry.key = key;
    entry.line = entry.value_line = mark.line + 1;
    entry.column = entry.value_column = mark.column + 1;
    const auto [first, added] = lines_.emplace(key, entry.line);
    if (!added)
      fail(mark, fmt::format("'{}' is there already, in line {}", printable(key), first->second));
    entries_.push_back(std::move(entry));
    place_ = Place::value;
  }

  void set_value_place(const YAML::Mark& mark) {
    entries_.back().value_line = mark.line + 1;
    entries_.back().value_column = mark.column + 1;
  }

  std::string path_;
  std::vector<RecipeEntry> entries_;
  std::map<std::string, int> lines_;
  Place place_ = Place::outside;
};

}  // namespace

std::string recipe_place(const std::string& path, int line, int column) {
  return fmt::format("{}:{}:{}", printable(path), line, column);
}

std::vector<RecipeEntry> parse_recipe(const std::string& text, const std::string& path) {
  RecipeReader reader(path);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(reader);
    std::vector<RecipeEntry> entries = reader.take();
    RecipeReader second(path);
    if (parser.HandleNextDocument(second)) {
      throw UsageError(printable(path) +
                       ": a recipe is one YAML document; this file holds several");
    }
    return entries;
  } catch (const YAML::Exception& error) {
    throw UsageError(recipe_place(path, error.mark.line + 1, error.mark.column + 1) +
                     ": this is not YAML: " + error.msg);
  }
}

std::vector<RecipeEntry> read_recipe(const std::string& path) {
  try {
    return parse_recipe(read_file(path, kRecipeBytes), path);
  } catch (const InputError& error) {
    throw UsageError(std::string("--config: ") + error.what());
  }
}

}  // namespace vitascope::app

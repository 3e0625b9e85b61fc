#include "vit/image/specification_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::image {
namespace {

/// The keys of one JSON object, each checked as it is read. A key with the value null is missing.
class Keys {
 public:
  Keys(const Json& json, const std::string& path) : json_(json), path_(path) {
    if (!json.is_object()) throw InputError(path, "is not a JSON object");
  }

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  const Json& at(const char* key) const {
    if (!has(key))
      throw InputError(path_,
                       fmt::format("has no '{}', which says how pictures are prepared", key));
    return json_.at(key);
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const {
    const Json& value = json_.contains(key) ? json_.at(key) : json_;
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    throw InputError(path_, fmt::format("'{}' is {}; expected {}", key, printable(text), expected));
  }

  bool flag(const char* key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!at(key).is_boolean()) refuse(key, "true or false");
    return at(key).get<bool>();
  }

  std::string text(const char* key) const {
    if (!at(key).is_string()) refuse(key, "a name in quotes");
    return at(key).get<std::string>();
  }

  /// A finite number above 0.
  double positive(const char* key) const {
    const double value = at(key).is_number() ? at(key).get<double>() : 0.0;
    if (!std::isfinite(value) || value <= 0) refuse(key, "a number above 0");
    return value;
  }

  /// `value`, which belongs to `key`, as a number of pixels.
  int side(const char* key, const Json& value) const {
    if (value.is_number_integer()) {
      const auto pixels = value.get<double>();
      if (pixels >= 1 && pixels <= kLargestSide) return static_cast<int>(pixels);
    }
    refuse(key, fmt::format("whole numbers of pixels, 1 to {}", kLargestSide));
  }

  /// Three numbers, or one for all channels; above 0 when `positive`.
  std::array<float, 3> channels(const char* key, bool positive) const {
    const Json& value = at(key);
    const auto wrong = [&] {
      refuse(key, positive ? "a number above 0 or a list of three" : "a number or a list of three");
    };
    if (!value.is_number() && !(value.is_array() && value.size() == 3)) wrong();
    std::array<float, 3> result{};
    for (std::size_t c = 0; c < 3; ++c) {
      const Json& channel = value.is_array() ? value[c] : value;
      if (!channel.is_number()) wrong();
      result[c] = static_cast<float>(channel.get<double>());
      if (!std::isfinite(result[c]) || (positive && !(result[c] > 0))) wrong();
    }
    return result;
  }

  const std::string& path() const { return path_; }

 private:
  const Json& json_;
  const std::string& path_;
};

/// What transformers' classes do where the file is silent.
struct Defaults {
  const char* name;
  bool center_crop;
  bool square;  ///< `size` as one number is a square, not the shortest edge
  Filter filter;
};

constexpr Defaults kProcessors[] = {{"ViT", false, true, Filter::bilinear},
                                    {"DeiT", true, true, Filter::bicubic},
                                    {"Bit", true, false, Filter::bicubic}};

/// The class behind a name such as ViTImageProcessorFast; nothing for classes not known here.
const Defaults* find_processor(std::string_view name) {
  for (const char* twin : {"Fast", "Pil"})
    if (name.ends_with(twin)) name.remove_suffix(std::string_view(twin).size());
  for (const Defaults& known : kProcessors)
    if (name == fmt::format("{}ImageProcessor", known.name) ||
        name == fmt::format("{}FeatureExtractor", known.name))
      return &known;
  return nullptr;
}

/// A class that isn't known is taken at its word when the file says everything and nothing that
/// only that class would understand.
void check_unknown_processor(const Keys& keys, const std::string& name) {
  std::vector<std::string> missing;
  for (const char* key : {"do_resize", "do_center_crop", "do_rescale", "do_normalize", "resample",
                          "image_mean", "image_std", "rescale_factor", "size"})
    if (!keys.has(key)) missing.emplace_back(key);
  std::vector<std::string> foreign;
  for (const char* key : {"crop_pct", "keep_aspect_ratio", "ensure_multiple_of", "do_pad",
                          "do_thumbnail", "do_align_long_axis", "do_flip_channel_order",
                          "do_color_quantize", "size_divisor", "patch_size", "max_num_patches"})
    if (keys.has(key) && keys.at(key) != false) foreign.emplace_back(key);
  if (missing.empty() && foreign.empty()) return;
  throw InputError(
      keys.path(),
      fmt::format("is for '{}', which is not known here and {} {}; known are ViTImageProcessor, "
                  "DeiTImageProcessor and BitImageProcessor",
                  printable(name), missing.empty() ? "also asks for" : "doesn't say",
                  fmt::join(missing.empty() ? foreign : missing, ", ")));
}

/// Which class the file is for. Early files of ViT name none: what they hold tells it.
const Defaults& processor_of(const Keys& keys, std::string& name) {
  for (const char* key : {"image_processor_type", "feature_extractor_type"}) {
    if (!keys.has(key)) continue;
    name = keys.text(key);
    if (const Defaults* known = find_processor(name)) return *known;
    check_unknown_processor(keys, name);
    return kProcessors[0];
  }
  const bool edge = keys.has("size") && keys.at("size").contains("shortest_edge");
  const bool crops = keys.has("crop_size") || keys.flag("do_center_crop", false);
  const Defaults& likely = kProcessors[edge ? 2 : crops ? 1 : 0];
  name = fmt::format("{}ImageProcessor, as no class is named", likely.name);
  return likely;
}

/// {height, width}, [height, width], or one number for both.
Size read_size(const Keys& keys, const char* key) {
  const Json& value = keys.at(key);
  if (value.is_array() && value.size() == 2)
    return {keys.side(key, value[1]), keys.side(key, value[0])};
  if (!value.is_object()) return {keys.side(key, value), keys.side(key, value)};
  if (value.size() != 2 || !value.contains("height") || !value.contains("width"))
    keys.refuse(key, "a number or {\"height\": ..., \"width\": ...}");
  return {keys.side(key, value["width"]), keys.side(key, value["height"])};
}

void read_resize(const Keys& keys, const Defaults& defaults, Specification& specification) {
  specification.resize = ResizeMode::none;
  if (!keys.flag("do_resize", true)) return;
  const Json& size = keys.at("size");
  if (size.is_object() && !size.contains("height")) {
    if (size.size() != 1 || !size.contains("shortest_edge"))
      keys.refuse("size", R"(a number, {"height", "width"} or {"shortest_edge"})");
    specification.resize = ResizeMode::shortest_edge;
    specification.edge = keys.side("size", size["shortest_edge"]);
  } else if (size.is_number() && !defaults.square) {
    specification.resize = ResizeMode::shortest_edge;
    specification.edge = keys.side("size", size);
  } else {
    specification.resize = ResizeMode::squash;
    specification.size = read_size(keys, "size");
  }
  specification.filter = defaults.filter;
  if (!keys.has("resample")) return;
  const Json& code = keys.at("resample");
  const auto number = code.is_number_integer() ? code.get<double>() : -1.0;
  if (number < 0 || number > 5)
    keys.refuse("resample", "0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box or 5 hamming");
  specification.filter = static_cast<Filter>(static_cast<int>(number));
}

Filter filter_of(const Keys& keys, const std::string& name) {
  if (name == "random") return Filter::bilinear;  // drawn anew for each picture when training
  std::vector<std::string> names;
  for (const Filter filter : {Filter::nearest, Filter::lanczos, Filter::bilinear, Filter::bicubic,
                              Filter::box, Filter::hamming}) {
    names.emplace_back(filter_name(filter));
    if (name == names.back()) return filter;
  }
  keys.refuse("interpolation", fmt::format("{}", fmt::join(names, ", ")));
}

ResizeMode mode_of(const Keys& keys) {
  if (!keys.has("crop_mode")) return ResizeMode::shortest_edge;
  const std::string mode = keys.text("crop_mode");
  if (mode == "center") return ResizeMode::shortest_edge;
  if (mode == "squash") return ResizeMode::squash;
  if (mode == "border") return ResizeMode::longest_edge;
  keys.refuse("crop_mode", "center, squash or border");
}

}  // namespace

Specification specification_from_transformers(const Json& preprocessor, const std::string& path) {
  const Keys keys(preprocessor, path);
  std::string name;
  const Defaults& defaults = processor_of(keys, name);
  Specification specification;
  specification.source = fmt::format("{} ({})", path, printable(name));
  specification.crop_offset = CropOffset::floor;
  read_resize(keys, defaults, specification);
  if (keys.flag("do_center_crop", defaults.center_crop))
    specification.crop = read_size(keys, "crop_size");
  specification.rescale = keys.flag("do_rescale", true);
  if (specification.rescale && keys.has("rescale_factor"))
    specification.rescale_factor = keys.positive("rescale_factor");
  specification.normalise = keys.flag("do_normalize", true);
  if (specification.normalise) {
    specification.mean = keys.channels("image_mean", false);
    specification.std = keys.channels("image_std", true);
  }
  return specification;
}

Specification specification_from_timm(const Json& pretrained_cfg, const std::string& path) {
  const Keys keys(pretrained_cfg, path);
  Specification specification;
  specification.source = fmt::format("{} (timm)", path);
  specification.crop_offset = CropOffset::round_half_even;
  const Json& input = keys.at("input_size");
  if (!input.is_array() || input.size() != 3 || input[0] != 3)
    keys.refuse("input_size", "[3, height, width]");
  const Size size{keys.side("input_size", input[2]), keys.side("input_size", input[1])};
  specification.resize = mode_of(keys);
  specification.filter = filter_of(keys, keys.text("interpolation"));
  specification.crop_pct = keys.has("crop_pct") ? keys.positive("crop_pct") : 0.875;
  if (specification.crop_pct < 0.05 || specification.crop_pct > 4)
    keys.refuse("crop_pct", "a part between 0.05 and 4");
  specification.mean = keys.channels("mean", false);
  specification.std = keys.channels("std", true);
  return with_input_size(specification, size);
}

}  // namespace vitascope::image

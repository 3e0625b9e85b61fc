#include "vit/weights/key_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "vit/error.h"
#include "vit/text.h"

namespace vitascope::weights {
namespace {

using Shape = std::vector<std::int64_t>;
using model::Config;

/// Shapes that the sources of a parameter must have, and how they become one.
struct Recipe {
  Assignment::How how = Assignment::How::as_is;
  std::vector<Shape> shapes;
};

Recipe augreg_recipe(const std::string& name, const Shape& shape, std::size_t sources,
                     const Config& config) {
  using How = Assignment::How;
  const std::int64_t heads = config.heads;
  const std::int64_t head_width = config.head_width();
  if (name == "patch_embed.proj.weight") {
    return {How::hwio, {{shape[2], shape[3], shape[1], shape[0]}}};
  }
  if (name.ends_with("attn.qkv.weight")) {
    return {How::transpose, std::vector<Shape>(sources, {config.width, heads, head_width})};
  }
  if (name.ends_with("attn.qkv.bias")) {
    return {How::concatenate, std::vector<Shape>(sources, {heads, head_width})};
  }
  if (name.ends_with("attn.proj.weight")) {
    return {How::transpose, {{heads, head_width, config.width}}};
  }
  if (shape.size() == 2) return {How::transpose, {{shape[1], shape[0]}}};
  return {How::as_is, {shape}};
}

Recipe recipe(const std::string& name, const Shape& shape, std::size_t sources,
              const Config& config, KeyStyle style) {
  if (style == KeyStyle::augreg) return augreg_recipe(name, shape, sources, config);
  if (sources == 1) return {Assignment::How::as_is, {shape}};
  Shape part = shape;
  part[0] /= static_cast<std::int64_t>(sources);
  return {Assignment::How::concatenate, std::vector<Shape>(sources, part)};
}

/// What does not fit, in the order in which it was found.
struct Complaints {
  std::vector<std::string> missing, misshapen, unknown;

  bool empty() const { return missing.empty() && misshapen.empty() && unknown.empty(); }

  std::string text() const {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> sentences;
    const auto add = [&](std::string_view title, const std::vector<std::string>& list) {
      if (list.empty()) return;
      const std::size_t shown = std::min(kShown, list.size());
      std::string sentence =
          fmt::format("{} {}: {}", list.size(), title,
                      fmt::join(list.begin(), list.begin() + std::ptrdiff_t(shown), ", "));
      if (list.size() > shown) sentence += fmt::format(" and {} more", list.size() - shown);
      sentences.push_back(std::move(sentence));
    };
    add("missing", missing);
    add("of another shape", misshapen);
    add("not known", unknown);
    return fmt::format("the tensors do not fit the model's description: {}",
                       fmt::join(sentences, "; "));
  }
};

bool is_float(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

void check_source(const StoredTensor& tensor, const std::string& name, const Shape& expected,
                  Complaints& complaints) {
  if (tensor.shape != expected) {
    complaints.misshapen.push_back(fmt::format("'{}' is {}, expected {}", printable(name),
                                               shape_text(tensor.shape), shape_text(expected)));
  } else if (!is_float(tensor.dtype)) {
    complaints.misshapen.push_back(fmt::format("'{}' is of type {}, expected F32, F16 or BF16",
                                               printable(name), dtype_name(tensor.dtype)));
  }
}

void account_for_the_rest(const StoredTensors& tensors, const std::set<std::string>& used,
                          KeyStyle style, Complaints& complaints, std::vector<std::string>& notes) {
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : tensors.tensors) {
    if (used.contains(name)) continue;
    if (is_known_unused(canonical_name(name, style))) {
      unused.push_back(printable(name));
    } else {
      complaints.unknown.push_back(
          fmt::format("'{}' {}", printable(name), shape_text(tensor.shape)));
    }
  }
  if (unused.empty()) return;
  constexpr std::size_t kShown = 3;
  const std::size_t shown = std::min(kShown, unused.size());
  std::string note = fmt::format(
      "not used: {}", fmt::join(unused.begin(), unused.begin() + std::ptrdiff_t(shown), ", "));
  if (unused.size() > shown) note += fmt::format(" and {} more", unused.size() - shown);
  notes.push_back(std::move(note));
}

}  // namespace

KeyStyle detect_key_style(const StoredTensors& tensors, const std::string& path) {
  // Anchored at the first block, so that a file of gradients or features is not taken for weights.
  const auto any_name = [&](KeyStyle style, std::string_view beginning) {
    return std::ranges::any_of(tensors.tensors, [&](const auto& entry) {
      return canonical_name(entry.first, style).starts_with(beginning);
    });
  };
  constexpr std::pair<KeyStyle, std::string_view> kMarks[] = {
      {KeyStyle::augreg, "Transformer/encoderblock_0/"},
      {KeyStyle::transformers5, "layers.0.attention.q_proj."},
      {KeyStyle::transformers5, "encoder.layer.0.attention.q_proj."},
      {KeyStyle::transformers4, "encoder.layer.0.attention.attention.query."},
      {KeyStyle::timm, "blocks.0.attn.qkv."}};
  for (const auto& [style, beginning] : kMarks) {
    if (any_name(style, beginning)) return style;
  }
  std::vector<std::string> first;
  for (const auto& [name, tensor] : tensors.tensors) {
    if (first.size() < 3) first.push_back(fmt::format("'{}'", printable(name)));
  }
  throw InputError(
      path, fmt::format("no vision transformer that is known by its tensors' names: holds {} "
                        "tensors, {}{}; expected the names of transformers, timm or AugReg",
                        tensors.tensors.size(), fmt::join(first, ", "),
                        tensors.tensors.size() > first.size() ? ", ..." : ""));
}

std::map<std::string, std::string> canonical_names(const StoredTensors& tensors, KeyStyle style,
                                                   const std::string& path) {
  std::map<std::string, std::string> names;
  for (const auto& [name, tensor] : tensors.tensors) {
    const auto [earlier, is_new] = names.emplace(canonical_name(name, style), name);
    if (!is_new) {
      throw InputError(path, fmt::format("'{}' and '{}' name the same tensor: expected one of them",
                                         printable(earlier->second), printable(name)));
    }
  }
  return names;
}

std::vector<Assignment> map_keys(const StoredTensors& tensors, const Config& config, KeyStyle style,
                                 const std::string& path, std::vector<std::string>& notes) {
  const std::map<std::string, std::string> names = canonical_names(tensors, style, path);
  // The prefix that this file uses, so that a missing name is told as it would stand there.
  std::string prefix;
  for (const auto& [canonical, stored] : names) {
    if (prefix.empty() && canonical.size() < stored.size() && stored.ends_with(canonical)) {
      prefix = stored.substr(0, stored.size() - canonical.size());
    }
  }
  std::vector<Assignment> assignments;
  std::set<std::string> used;
  Complaints complaints;
  for (const auto& [parameter, shape] : model::parameter_shapes(config)) {
    const auto ways = names_on_disk(parameter, config, style);
    const auto complete = [&](const std::vector<std::string>& way) {
      return !way.empty() &&
             std::ranges::all_of(way, [&](const std::string& n) { return names.contains(n); });
    };
    const auto found = std::ranges::find_if(ways, complete);
    const std::vector<std::string>& way = found == ways.end() ? ways.front() : *found;
    if (way.empty()) {
      throw InputError(path, fmt::format("'{}' has no name in the style of {}", parameter,
                                         key_style_name(style)));
    }
    const Recipe made = recipe(parameter, shape, way.size(), config, style);
    Assignment assignment{parameter, shape, {}, made.how};
    for (std::size_t i = 0; i < way.size(); ++i) {
      const auto entry = names.find(way[i]);
      if (entry == names.end()) {
        complaints.missing.push_back(
            fmt::format("'{}' {}", with_prefix(way[i], prefix), shape_text(made.shapes[i])));
        continue;
      }
      const std::string& stored = entry->second;
      check_source(tensors.tensors.at(stored), stored, made.shapes[i], complaints);
      used.insert(stored);
      assignment.sources.push_back(stored);
    }
    assignments.push_back(std::move(assignment));
  }
  account_for_the_rest(tensors, used, style, complaints, notes);
  if (!complaints.empty()) throw InputError(path, complaints.text());
  return assignments;
}

}  // namespace vitascope::weights

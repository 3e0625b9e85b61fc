#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "vit/caption/cnn_families.h"

namespace vitascope::caption {
namespace {

/// N of `features.N.weight`, or nothing.
std::optional<int> place_of(std::string_view name) {
  constexpr std::string_view kBefore = "features.", kBehind = ".weight";
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return std::nullopt;
  name.remove_prefix(kBefore.size());
  if (name.size() <= kBehind.size()) return std::nullopt;
  name.remove_suffix(kBehind.size());
  int place = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return place;
}

/// The places of the convolutions in torchvision's sequence of layers.
std::vector<int> places_of(const weights::StoredTensors& tensors) {
  std::vector<int> places;
  for (const auto& [name, stored] : tensors.tensors) {
    const auto place = place_of(name);
    if (place && stored.shape.size() == 4) places.push_back(*place);
  }
  std::ranges::sort(places);
  return places;
}

Convolution convolution_at(int place, bool normed) {
  Convolution convolution{.name = fmt::format("features.{}", place),
                          .biased = true,
                          .kernel = 3,
                          .activation = Activation::relu};
  if (normed) convolution.norm_name = fmt::format("features.{}", place + 1);
  return convolution;
}

}  // namespace

std::optional<Cnn> vgg_of(const weights::StoredTensors& tensors) {
  const std::vector<int> places = places_of(tensors);
  if (places.empty() || places.front() != 0) return std::nullopt;
  const bool normed = tensors.tensors.contains("features.1.running_mean");
  // Convolution, batch norm, ReLU: a max-pool shows by the place that it takes itself.
  const int layers = normed ? 3 : 2;
  Cnn network{.name = fmt::format("vgg{}{}", places.size() + 3, normed ? "_bn" : "")};
  network.blocks.emplace_back();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int apart = i == 0 ? layers : places[i] - places[i - 1];
    if (apart != layers && apart != layers + 1) {
      throw std::invalid_argument(fmt::format(
          "'features.{}.weight' follows 'features.{}.weight': a VGG of torchvision "
          "would have its next convolution at {}, or at {} behind a max-pool",
          places[i], places[i - 1], places[i - 1] + layers, places[i - 1] + layers + 1));
    }
    if (apart == layers + 1) network.blocks.push_back({.pool = 2});
    network.blocks.back().convolutions.push_back(convolution_at(places[i], normed));
  }
  return network;
}

}  // namespace vitascope::caption

#include "tests/app/report/sample_report.h"

#include <array>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <stdexcept>

#include "tests/golden.h"

namespace vitascope::tests {
namespace {

using app::report::Layer;
using app::report::Report;

constexpr int kLayers = 12, kHeads = 12, kSide = 14;

struct Place {
  double row, column;
};
// Eyes and nose of the cat, in cells.
constexpr std::array<Place, 3> kPlaces{{{4.4, 3.9}, {5.9, 11.3}, {10.8, 8.4}}};

double bump(int row, int column, Place centre, double width) {
  return std::exp(-(std::pow(row - centre.row, 2) + std::pow(column - centre.column, 2)) /
                  (2 * width * width));
}

/// Attention of one query: weights that sum to one, largest at `centre`.
void append_map(std::vector<float>& maps, Place centre, double width, double even,
                std::mt19937& random) {
  std::vector<double> map;
  double sum = 0;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const double noise = random() / 4294967296.0;
      map.push_back(bump(row, column, centre, width) + even * (0.2 + noise));
      sum += map.back();
    }
  }
  for (const double value : map) maps.push_back(static_cast<float>(value / sum));
}

Layer layer(int number, std::mt19937& random) {
  Layer result;
  result.index = number;
  const double depth = static_cast<double>(number) / kLayers;
  for (int head = 0; head < kHeads; ++head) {
    const Place& place = kPlaces[static_cast<std::size_t>((head + number) % 3)];
    const double width = 0.9 + 0.25 * head * (1.2 - depth);
    append_map(result.heads, place, width, 0.6 * (1.1 - depth), random);
  }
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const Place own{static_cast<double>(row), static_cast<double>(column)};
      append_map(result.patches, own, 0.8 + 2 * depth, 0.15, random);
    }
  }
  return result;
}

std::vector<float> method(std::size_t place, double width, double sign, std::mt19937& random) {
  std::vector<float> values;
  append_map(values, kPlaces[place], width, 0.1, random);
  for (float& value : values) value = static_cast<float>(sign * value * 20 - (sign < 0 ? 0.1 : 0));
  return values;
}

}  // namespace

std::string sample_jpeg() {
  const std::string path = golden("../../datasets/samples/chelsea-answer.png");
  const cv::Mat picture = cv::imread(path);
  if (picture.empty()) throw std::runtime_error(path + " can't be read");
  std::vector<unsigned char> bytes;
  cv::imencode(".jpg", picture.colRange(0, 451), bytes, {cv::IMWRITE_JPEG_QUALITY, 90});
  return {bytes.begin(), bytes.end()};
}

Report sample_report() {
  std::mt19937 random(5);
  Report report;
  report.title = "Where everyday looked in chelsea.png";
  report.model = "everyday (ViT-B/16)";
  report.photo = "chelsea.png";
  report.jpeg = sample_jpeg();
  report.size = {451, 300};
  report.input = "shortest edge to 248, centre crop of 224";
  report.rows = report.columns = kSide;
  report.seen = {90.5, 15, 360.5, 285};
  report.cell = {90.5, 15, 90.5 + 270.0 / kSide, 15 + 270.0 / kSide};
  report.predictions = {{3, "cat", 0.877},
                        {4, "dog", 0.039},
                        {9, "other mammal", 0.029},
                        {11, "clothing", 0.025},
                        {20, "household object", 0.017}};
  for (int number = 1; number <= kLayers; ++number) report.layers.push_back(layer(number, random));
  report.methods = {
      {"Rollout", "Attention multiplied through all layers, with the residual connections.",
       "Abnar and Zuidema, Quantifying Attention Flow in Transformers, ACL 2020", "",
       method(2, 3, 1, random)},
      {"Relevance", "Attention weighted by its gradient, gathered over all layers.",
       "Chefer, Gur and Wolf, Generic Attention-model Explainability, ICCV 2021", "cat",
       method(0, 1.6, 1, random)},
      {"Occlusion", "How far the probability falls when a patch is covered.",
       "Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, ECCV 2014", "cat",
       method(1, 1.2, -1, random)},
      {"Random", "Numbers that know nothing of the model: what every other map must beat.", "", "",
       method(1, 30, 1, random)}};
  report.audit = {
      {"Deletion, area under the curve", "0.31 (random 0.52)",
       "Taking away the patches that the map names first lowers the probability of cat faster."},
      {"Permuted weights, total variation", "0.02",
       "Shuffling the attention weights hardly changes the prediction."},
      {"Kendall tau with leave-one-patch-out", "0.18 ± 0.06",
       "The map orders the patches only weakly as the prediction needs them."}};
  report.verdict =
      "For this photo the map beats random on deletion by 0.21, but permuting the weights changes "
      "the prediction by only 0.02: read it as where information could flow, not why.";
  report.notes = {"The photo is a sample and all maps and numbers on this page are made up.",
                  "Colours run from the least to the greatest value of each map."};
  return report;
}

Report hostile_report() {
  Report report;
  report.title = "</title><script>alert(2)</script>";
  report.model = "\"></script><script>alert(3)</script>";
  report.photo = "caf\xE9 <img src=x onerror=alert(4)>.jpg";
  report.jpeg = sample_jpeg();
  report.size = {451, 300};
  report.rows = 2;
  report.columns = 3;
  report.seen = {0, 0, 451, 300};
  report.cell = {0, 0, 451.0 / 3, 150};
  report.source = "all patches, averaged";
  report.predictions = {{0, "<script>alert(1)</script>", 0.75},
                        {1, "\"></script>", 0.125},
                        {2, "<!--<script>", 0.0625},
                        {3, "a\u2028b & c", 0.03125}};
  report.layers = {{0, {1, 2, 3, 4, 5, 9, 7, 7, 7, 7, 7, 7}, {}}};
  report.methods = {{"<b>Bold</b>", "&lt;", "", "<script>alert(1)</script>", {0, 1, 2, 3, 4, -5}}};
  report.verdict = "<svg onload=alert(5)>";
  report.notes = {"]]>", "<style>*{display:none}</style>"};
  return report;
}

}  // namespace vitascope::tests

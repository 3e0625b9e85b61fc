#include "vit/classifier.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

#include "vit/error.h"
#include "vit/image/decode.h"
#include "vit/image/preprocess.h"
#include "vit/weights/model_directory.h"

namespace vitascope {

struct Classifier::Parts {
  weights::Model model;
};

Classifier Classifier::open(const std::string& model) {
  weights::OpenOptions options;
  options.pack = true;
  auto parts = std::make_unique<Parts>(Parts{weights::open_model(model, options)});
  if (parts->model.network.config().classes == 0) {
    throw InputError(model, "is a backbone without a head: expected a classifier");
  }
  if (!parts->model.specification) throw UsageError(parts->model.specification_missing);
  return Classifier(std::move(parts));
}

std::vector<Prediction> Classifier::classify(const std::string& photo, int top) const {
  const c10::InferenceMode inference;
  const weights::Model& model = parts_->model;
  const image::Prepared prepared = image::prepare(image::decode(photo), *model.specification);
  at::Tensor logits;
  try {
    logits = model.network.forward(prepared.pixels.unsqueeze(0)).logits;
  } catch (const std::invalid_argument& error) {
    throw InputError(photo, error.what());
  }
  const at::Tensor probabilities = model.network.probabilities(logits)[0];
  const std::int64_t count = std::clamp<std::int64_t>(top, 0, probabilities.numel());
  const auto [values, indices] = probabilities.topk(count);
  std::vector<Prediction> predictions;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = indices[i].item<std::int64_t>();
    predictions.push_back({static_cast<int>(index), model.labels[static_cast<std::size_t>(index)],
                           values[i].item<double>()});
  }
  return predictions;
}

const std::vector<std::string>& Classifier::labels() const { return parts_->model.labels; }

Classifier::Classifier(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

}  // namespace vitascope

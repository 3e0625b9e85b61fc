#include "vit/caption/decoder_weights.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "vit/error.h"

namespace vitascope::caption {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DecoderConfig small() {
  return {.vocabulary = 30,
          .width = 16,
          .embedding = 12,
          .alignment = {.annotation_width = 20, .width = 8}};
}

std::string refusal(const DecoderConfig& config, const std::map<std::string, at::Tensor>& tensors) {
  try {
    decoder_of(config, tensors, "model.safetensors");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DecoderOf, TensorsThatDoNotFitAreNamed) {
  RandomNumbers random(1);
  const std::map<std::string, at::Tensor> sound = tensors_of(initial_decoder(small(), random));
  EXPECT_EQ(refusal(small(), sound), "accepted");
  DecoderConfig larger = small();
  larger.vocabulary = 31;
  EXPECT_THAT(refusal(larger, sound),
              AllOf(HasSubstr("model.safetensors"), HasSubstr("[30, 12]"), HasSubstr("[31, 12]")));
  auto tensors = sound;
  tensors.erase("gate.w");
  EXPECT_THAT(refusal(small(), tensors), HasSubstr("'gate.w' is missing"));
  tensors = sound;
  tensors["att.W_a"] = at::zeros({1});
  EXPECT_THAT(refusal(small(), tensors), HasSubstr("'att.W_a' belongs to no decoder"));
}

TEST(InitialDecoder, HasTheSpreadThatItsLayersWant) {
  RandomNumbers random(1);
  DecoderConfig config = small();
  config.width = 128;
  auto tensors = tensors_of(initial_decoder(config, random));
  const at::Tensor product = tensors.at("lstm.weight_hh");
  EXPECT_NEAR(product.std().item<double>(), std::sqrt(2.0 / (128 + 4 * 128)), 1e-3);
  EXPECT_NEAR(product.mean().item<double>(), 0, 1e-3);
  const auto gates = tensors.at("lstm.bias_ih").chunk(4);
  EXPECT_EQ(gates[1].min().item<float>(), 1);
  EXPECT_EQ(gates[0].abs().max().item<float>(), 0);
  EXPECT_GT(tensors.at("att.v").abs().min().item<float>(), 0);
  EXPECT_EQ(tensors.at("gate.b").item<float>(), 0);
}

}  // namespace
}  // namespace vitascope::caption

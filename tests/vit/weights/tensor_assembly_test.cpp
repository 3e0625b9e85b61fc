#include "vit/weights/tensor_assembly.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cstring>

#include "tests/vit/weights/made_tensors.h"
#include "vit/model/architectures.h"
#include "vit/weights/safetensors.h"

namespace vitascope::weights {
namespace {

/// A float32 tensor 0, 1, 2, ... of some shape, `shift` bytes off alignment.
StoredTensor counting(const Shape& shape, std::size_t shift = 0) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  const auto bytes = std::make_shared<std::vector<std::byte>>(count * sizeof(float) + shift);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i);
    std::memcpy(bytes->data() + shift + i * sizeof(float), &value, sizeof(float));
  }
  StoredTensor tensor;
  tensor.shape = shape;
  tensor.bytes = Bytes(*bytes).subspan(shift);
  tensor.owner = bytes;
  return tensor;
}

at::Tensor counted(const Shape& shape) {
  return at::arange(element_count(shape), at::kFloat).view(shape);
}

TEST(ViewOf, SharesTheBytesAndKeepsThemAlive) {
  StoredTensor stored = counting({2, 3});
  const at::Tensor view = view_of(stored);
  EXPECT_EQ(view.const_data_ptr(), static_cast<const void*>(stored.bytes.data()));
  const std::weak_ptr<const void> owner = stored.owner;
  stored = {};
  EXPECT_FALSE(owner.expired());
  EXPECT_TRUE(view.equal(counted({2, 3})));
}

TEST(ViewOf, CopiesWhatIsNotAligned) {
  EXPECT_TRUE(view_of(counting({2, 3}, 1)).equal(counted({2, 3})));
}

TEST(ViewOf, HonoursStrides) {
  StoredTensor stored = counting({2, 3});
  stored.shape = {3, 2};
  stored.strides = {1, 3};
  EXPECT_TRUE(view_of(stored).equal(counted({2, 3}).t()));
  StoredTensor unaligned = counting({2, 3}, 2);
  unaligned.shape = {3, 2};
  unaligned.strides = {1, 3};
  EXPECT_TRUE(view_of(unaligned).equal(counted({2, 3}).t()));
}

/// A network of two parameters that matter here, each put together in its own way.
class Assemble : public testing::Test {
 protected:
  Assemble() {
    config.width = 4;
    config.depth = 1;
    config.heads = 2;
    config.mlp_width = 6;
    config.patch = 2;
    config.position_grid = config.native_grid = {1, 1};
    for (const auto& [name, shape] : model::parameter_shapes(config)) {
      tensors.tensors[name] = counting(shape);
      assignments[name] = {name, shape, {name}, Assignment::How::as_is};
    }
  }

  std::map<std::string, at::Tensor> assembled(at::ScalarType precision = at::kFloat,
                                              bool pack = false) {
    std::vector<Assignment> list;
    for (const auto& [name, assignment] : assignments) list.push_back(assignment);
    model::VisionTransformer network(config);
    assemble(tensors, list, precision, pack, network);
    std::map<std::string, at::Tensor> all;
    for (const auto& [name, slot] : network.parameters()) all[name] = *slot;
    return all;
  }

  model::Config config;
  StoredTensors tensors;
  std::map<std::string, Assignment> assignments;
};

TEST_F(Assemble, LeavesInPlaceWhatNeedsNoChange) {
  const auto all = assembled();
  for (const auto& [name, tensor] : all) {
    EXPECT_EQ(tensor.const_data_ptr(),
              static_cast<const void*>(tensors.tensors.at(name).bytes.data()))
        << name;
  }
}

TEST_F(Assemble, ConvertsToThePrecisionThatIsAsked) {
  const auto all = assembled(at::kBFloat16);
  for (const auto& [name, tensor] : all) {
    EXPECT_EQ(tensor.scalar_type(), at::kBFloat16) << name;
    EXPECT_TRUE(tensor.equal(counted(tensor.sizes().vec()).to(at::kBFloat16))) << name;
  }
}

TEST_F(Assemble, PacksTheWeightsOfProductsAndNothingElse) {
  const auto all = assembled(at::kFloat, /*pack=*/true);
  int packed = 0;
  for (const auto& [name, tensor] : all) {
    packed += tensor.is_mkldnn();
    const at::Tensor plain = tensor.is_mkldnn() ? tensor.to_dense() : tensor;
    EXPECT_TRUE(plain.equal(counted(tensor.sizes().vec()))) << name;
  }
  EXPECT_EQ(packed, 4);
}

TEST_F(Assemble, PutsSourcesBelowEachOther) {
  const std::string name = "blocks.0.attn.qkv.weight";
  for (const char* part : {"q", "k", "v"}) tensors.tensors[part] = counting({4, 4});
  assignments[name] = {name, {12, 4}, {"q", "k", "v"}, Assignment::How::concatenate};
  const at::Tensor one = counted({4, 4});
  EXPECT_TRUE(assembled().at(name).equal(at::cat({one, one, one})));
}

TEST_F(Assemble, TurnsDenseKernelsWithAndWithoutHeads) {
  const std::string fc1 = "blocks.0.mlp.fc1.weight";
  tensors.tensors["kernel"] = counting({4, 6});
  assignments[fc1] = {fc1, {6, 4}, {"kernel"}, Assignment::How::transpose};
  const std::string qkv = "blocks.0.attn.qkv.weight";
  tensors.tensors["heads"] = counting({4, 2, 2});  // [in, heads, head width]
  assignments[qkv] = {qkv, {12, 4}, {"heads", "heads", "heads"}, Assignment::How::transpose};
  const std::string proj = "blocks.0.attn.proj.weight";
  tensors.tensors["out"] = counting({2, 2, 4});  // [heads, head width, out]
  assignments[proj] = {proj, {4, 4}, {"out"}, Assignment::How::transpose};
  const auto all = assembled();
  EXPECT_TRUE(all.at(fc1).equal(counted({4, 6}).t()));
  const at::Tensor turned = counted({4, 4}).t();
  EXPECT_TRUE(all.at(qkv).equal(at::cat({turned, turned, turned})));
  EXPECT_TRUE(all.at(proj).equal(turned));
  EXPECT_TRUE(all.at(fc1).is_contiguous());
}

TEST_F(Assemble, TurnsConvolutionKernels) {
  const std::string name = "patch_embed.proj.weight";
  tensors.tensors["kernel"] = counting({2, 2, 3, 4});
  assignments[name] = {name, {4, 3, 2, 2}, {"kernel"}, Assignment::How::hwio};
  EXPECT_TRUE(assembled().at(name).equal(counted({2, 2, 3, 4}).permute({3, 2, 0, 1})));
}

TEST(AssembleRandom, IsRepeatableAndOfTheSizeOfTrainedWeights) {
  const auto weights = [] {
    model::VisionTransformer network(*model::architecture("vit_tiny_patch16_224"));
    assemble_random(at::kFloat, false, network);
    std::map<std::string, at::Tensor> all;
    for (const auto& [name, slot] : network.parameters()) all[name] = *slot;
    return all;
  };
  const auto first = weights();
  const auto second = weights();
  for (const auto& [name, tensor] : first) EXPECT_TRUE(tensor.equal(second.at(name))) << name;
  EXPECT_NEAR(first.at("blocks.5.mlp.fc1.weight").std().item<double>(), 0.02, 0.001);
  EXPECT_EQ(first.at("norm.weight").min().item<double>(), 1.0);
  EXPECT_FALSE(first.at("blocks.0.mlp.fc1.weight").equal(first.at("blocks.1.mlp.fc1.weight")));
}

}  // namespace
}  // namespace vitascope::weights

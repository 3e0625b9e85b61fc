#include <gmock/gmock.h>

#include "tests/vit/weights/made_tensors.h"
#include "vit/weights/config_reader.h"
#include "vit/weights/npz.h"

namespace vitascope::weights {
namespace {

using testing::HasSubstr;

StoredTensors golden_tensors() { return read_npz(tests::golden("models/augreg-npz/model.npz")); }

std::string complaint(const StoredTensors& tensors) {
  return input_error([&] { describe_npz(tensors, "model.npz"); });
}

TEST(DescribeNpz, ReadsEverythingOffTheShapes) {
  model::Config expected;
  expected.width = 48;
  expected.depth = 2;
  expected.heads = 4;
  expected.mlp_width = 64;
  expected.patch = 8;
  expected.position_grid = expected.native_grid = {4, 4};
  expected.interpolation = model::PositionInterpolation::bicubic_antialias;
  expected.norm_epsilon = 1e-6;
  expected.classes = 5;
  const Description description = describe_npz(golden_tensors(), "model.npz");
  EXPECT_EQ(description.config, expected);
  EXPECT_TRUE(description.imagenet);
}

TEST(DescribeNpz, ReadsABackboneAndAnOptimisersPrefix) {
  StoredTensors tensors;
  for (auto& [name, tensor] : golden_tensors().tensors) {
    if (!name.starts_with("head/")) tensors.tensors["opt/target/" + name] = tensor;
  }
  EXPECT_EQ(describe_npz(tensors, "model.npz").config.classes, 0);
}

TEST(DescribeNpz, NamesWhatIsMissingOrImpossible) {
  StoredTensors tensors = golden_tensors();
  tensors.tensors.erase("cls");
  EXPECT_EQ(complaint(tensors),
            "model.npz: holds no 'cls': expected a vision transformer of the AugReg collection");
  tensors = golden_tensors();
  tensors.tensors["Transformer/posembed_input/pos_embedding"].shape = {1, 16, 48};
  EXPECT_THAT(complaint(tensors), HasSubstr("has 16 positions: expected one and a square grid"));
  tensors.tensors["Transformer/posembed_input/pos_embedding"].shape = {17, 48};
  EXPECT_THAT(complaint(tensors), HasSubstr("is [17, 48]: expected 3 dimensions"));
  tensors = golden_tensors();
  tensors.tensors["embedding/kernel"].shape = {8, 4, 3, 48};
  EXPECT_THAT(complaint(tensors), HasSubstr("has patches of 8 x 4: expected a square"));
  tensors = golden_tensors();
  tensors.tensors["embedding/kernel"].shape = {8, 8, 3, 1ll << 40};
  EXPECT_THAT(complaint(tensors), HasSubstr("'embedding/kernel'"));
  tensors = golden_tensors();
  tensors.tensors["Transformer/encoderblock_0/MultiHeadDotProductAttention_1/query/kernel"]
      .shape = {48, 5, 12};
  EXPECT_THAT(complaint(tensors), HasSubstr("number of heads is 5"));
}

}  // namespace
}  // namespace vitascope::weights

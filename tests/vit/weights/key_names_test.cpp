#include "vit/weights/key_names.h"

#include <gmock/gmock.h>

namespace vitascope::weights {
namespace {

using testing::ElementsAre;

TEST(CanonicalName, LosesThePrefixOfItsStyle) {
  EXPECT_EQ(canonical_name("vit.layernorm.weight", KeyStyle::transformers4), "layernorm.weight");
  EXPECT_EQ(canonical_name("dinov2_with_registers.layernorm.bias", KeyStyle::transformers5),
            "layernorm.bias");
  EXPECT_EQ(canonical_name("classifier.bias", KeyStyle::transformers4), "classifier.bias");
  EXPECT_EQ(canonical_name("opt/target/cls", KeyStyle::augreg), "cls");
  EXPECT_EQ(canonical_name("norm.weight", KeyStyle::timm), "norm.weight");
}

TEST(CanonicalName, FacebooksNamesBecomeTimms) {
  EXPECT_EQ(canonical_name("register_tokens", KeyStyle::timm), "reg_token");
  EXPECT_EQ(canonical_name("blocks.7.mlp.w12.weight", KeyStyle::timm), "blocks.7.mlp.fc1.weight");
  EXPECT_EQ(canonical_name("blocks.7.mlp.w3.bias", KeyStyle::timm), "blocks.7.mlp.fc2.bias");
  EXPECT_EQ(canonical_name("blocks.7.gamma_1", KeyStyle::timm), "blocks.7.ls1.gamma");
}

TEST(IsKnownUnused, KnowsWhatNoClassifierReads) {
  for (const char* name : {"embeddings.mask_token", "pooler.dense.weight", "mask_token",
                           "decoder.decoder_layers.0.mlp.fc1.weight", "pre_logits/kernel"}) {
    EXPECT_TRUE(is_known_unused(name)) << name;
  }
  for (const char* name : {"classifier.weight", "norm.weight", "blocks.0.decoder.weight"}) {
    EXPECT_FALSE(is_known_unused(name)) << name;
  }
}

TEST(TransformersNames, AreThoseOfSavePretrained) {
  model::Config config;
  config.family = "vit";
  config.classes = 5;
  EXPECT_THAT(transformers_names("blocks.3.attn.qkv.bias", config),
              ElementsAre("vit.encoder.layer.3.attention.attention.query.bias",
                          "vit.encoder.layer.3.attention.attention.key.bias",
                          "vit.encoder.layer.3.attention.attention.value.bias"));
  EXPECT_THAT(transformers_names("blocks.3.mlp.fc1.weight", config),
              ElementsAre("vit.encoder.layer.3.intermediate.dense.weight"));
  EXPECT_THAT(transformers_names("blocks.3.norm2.weight", config),
              ElementsAre("vit.encoder.layer.3.layernorm_after.weight"));
  EXPECT_THAT(transformers_names("patch_embed.proj.weight", config),
              ElementsAre("vit.embeddings.patch_embeddings.projection.weight"));
  EXPECT_THAT(transformers_names("head.weight", config), ElementsAre("classifier.weight"));
}

TEST(TransformersNames, DependOnTheFamily) {
  model::Config config;
  config.family = "dinov2";
  config.classes = 5;
  EXPECT_THAT(transformers_names("blocks.0.norm1.bias", config),
              ElementsAre("dinov2.encoder.layer.0.norm1.bias"));
  EXPECT_THAT(transformers_names("blocks.0.ls2.gamma", config),
              ElementsAre("dinov2.encoder.layer.0.layer_scale2.lambda1"));
  EXPECT_THAT(transformers_names("blocks.0.mlp.fc2.bias", config),
              ElementsAre("dinov2.encoder.layer.0.mlp.fc2.bias"));
  config.swiglu = true;
  EXPECT_THAT(transformers_names("blocks.0.mlp.fc2.bias", config),
              ElementsAre("dinov2.encoder.layer.0.mlp.weights_out.bias"));
  config.family = "deit";
  config.pooling = model::Pooling::first_two;
  EXPECT_THAT(transformers_names("head.weight", config), ElementsAre("cls_classifier.weight"));
  EXPECT_THAT(transformers_names("head_dist.bias", config),
              ElementsAre("distillation_classifier.bias"));
}

TEST(TransformersNames, ABackboneHasNoPrefix) {
  model::Config config;
  config.classes = 0;
  EXPECT_THAT(transformers_names("norm.weight", config), ElementsAre("layernorm.weight"));
}

TEST(NamesOnDisk, HaveEachVersionOfTransformers) {
  model::Config config;
  config.swiglu = true;
  config.family = "dinov2";
  EXPECT_THAT(
      names_on_disk("blocks.1.mlp.fc1.weight", config, KeyStyle::transformers5).front(),
      ElementsAre("encoder.layer.1.mlp.gate_proj.weight", "encoder.layer.1.mlp.up_proj.weight"));
  EXPECT_THAT(names_on_disk("blocks.1.mlp.fc1.weight", config, KeyStyle::transformers4).front(),
              ElementsAre("encoder.layer.1.mlp.weights_in.weight"));
  config = {};
  EXPECT_THAT(names_on_disk("blocks.1.attn.proj.bias", config, KeyStyle::transformers5).front(),
              ElementsAre("layers.1.attention.o_proj.bias"));
}

TEST(NamesOnDisk, HaveJaxsKernelsAndScales) {
  const model::Config config;
  const auto name = [&](const char* parameter) {
    return names_on_disk(parameter, config, KeyStyle::augreg).front();
  };
  EXPECT_THAT(name("blocks.2.attn.proj.weight"),
              ElementsAre("Transformer/encoderblock_2/MultiHeadDotProductAttention_1/out/kernel"));
  EXPECT_THAT(name("blocks.2.norm2.weight"),
              ElementsAre("Transformer/encoderblock_2/LayerNorm_2/scale"));
  EXPECT_THAT(name("norm.bias"), ElementsAre("Transformer/encoder_norm/bias"));
  EXPECT_THAT(name("pos_embed"), ElementsAre("Transformer/posembed_input/pos_embedding"));
}

}  // namespace
}  // namespace vitascope::weights

#pragma once

#include "vit/model/config.h"

/// \file
/// Keys and words of our own config.json that its reader and its writer have in common. What stands
/// at the default of model::Config may be left out.
namespace vitascope::weights {

/// A part that is there or not.
struct SwitchKey {
  const char* key;
  bool model::Config::*member;
};

inline constexpr SwitchKey kSwitchKeys[] = {
    {"train_positions", &model::Config::learned_positions},
    {"class_token", &model::Config::class_token},
    {"distillation_token", &model::Config::distillation_token},
    {"patch_bias", &model::Config::patch_bias},
    {"qkv_bias", &model::Config::qkv_bias},
    {"projection_bias", &model::Config::projection_bias},
    {"qk_norm", &model::Config::qk_norm},
    {"layer_scale", &model::Config::layer_scale},
    {"swiglu", &model::Config::swiglu},
    {"pre_norm", &model::Config::pre_norm},
    {"final_norm", &model::Config::final_norm},
    {"fc_norm", &model::Config::fc_norm},
    {"head_bias", &model::Config::head_bias}};

/// A word of the file and what it means.
template <typename Value>
struct Word {
  const char* text;
  Value value;
};

inline constexpr Word<model::Pooling> kPoolings[] = {
    {"class_token", model::Pooling::class_token},
    {"mean_patches", model::Pooling::mean_patches},
    {"class_and_mean", model::Pooling::class_and_mean},
    {"first_two", model::Pooling::first_two}};

inline constexpr Word<model::Activation> kActivations[] = {
    {"gelu", model::Activation::gelu},
    {"gelu_pytorch_tanh", model::Activation::gelu_tanh},
    {"quick_gelu", model::Activation::quick_gelu},
    {"relu", model::Activation::relu},
    {"silu", model::Activation::silu}};

inline constexpr Word<model::PositionInterpolation> kInterpolations[] = {
    {"bicubic", model::PositionInterpolation::bicubic},
    {"bicubic_antialias", model::PositionInterpolation::bicubic_antialias}};

}  // namespace vitascope::weights

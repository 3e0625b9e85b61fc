#include "vit/train/named_tensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <stdexcept>

namespace vitascope::train {
namespace {

TEST(NamedTensors, RestoredValuesAreCopied) {
  const at::Tensor slot = at::zeros({2});
  const at::Tensor saved = at::tensor({1.F, 2.F});
  restore_values({{"a", saved}}, {{"a", slot}});
  EXPECT_TRUE(at::equal(slot, saved));
  saved[0] = 5;
  EXPECT_EQ(slot[0].item<float>(), 1);
}

TEST(NamedTensors, WhatDoesNotFitIsNamedAndNothingIsCopied) {
  const at::Tensor a = at::zeros({2});
  const at::Tensor b = at::zeros({2});
  const at::Tensor one = at::ones({2});
  const std::pair<NamedTensors, std::string> wrong[] = {
      {{{"a", one}}, "lacks b"},
      {{{"a", one}, {"b", at::ones({3})}}, "b of the saved state is Float [3]: expected Float [2]"},
      {{{"a", one}, {"b", one.to(at::kDouble)}}, "Double [2]: expected Float [2]"},
      {{{"a", one}, {"b", one}, {"c", one}}, "holds c"}};
  for (const auto& [saved, message] : wrong) {
    try {
      restore_values(saved, {{"a", a}, {"b", b}});
      ADD_FAILURE() << message;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
    EXPECT_EQ(a.sum().item<float>(), 0);
  }
}

}  // namespace
}  // namespace vitascope::train

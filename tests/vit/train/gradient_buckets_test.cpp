#include "vit/train/gradient_buckets.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/train/together.h"

namespace vitascope::train {
namespace {

using tests::together;

std::vector<Parameter> leaves(at::ScalarType type = at::kFloat) {
  std::vector<Parameter> parameters;
  for (const std::int64_t size : {3, 5, 4, 2}) {
    const at::Tensor leaf = at::ones({size}, type).requires_grad_();
    parameters.push_back({.name = std::to_string(size), .tensor = leaf});
  }
  return parameters;
}

/// factor * (1 * p0 + 2 * p1 + ...), but for the last parameter, which nobody uses.
at::Tensor objective(const std::vector<Parameter>& parameters, double factor) {
  at::Tensor sum = at::zeros({});
  for (std::size_t i = 0; i + 1 < parameters.size(); ++i) {
    sum = sum + parameters[i].tensor.sum() * (factor * static_cast<double>(i + 1));
  }
  return sum;
}

void expect_gradients(const std::vector<Parameter>& parameters, double factor) {
  for (std::size_t i = 0; i + 1 < parameters.size(); ++i) {
    const at::Tensor& tensor = parameters[i].tensor;
    ASSERT_TRUE(tensor.grad().defined());
    EXPECT_EQ(tensor.grad().scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(
        at::equal(tensor.grad(), at::full_like(tensor, factor * static_cast<double>(i + 1))))
        << i << tensor.grad();
  }
  EXPECT_FALSE(parameters.back().tensor.grad().defined()) << "nobody had a gradient";
}

TEST(GradientBuckets, SumOverProcesses) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const std::int64_t bytes : {1, 32, 1 << 20}) {
      together(2, [&](ProcessGroup& group) {
        const std::vector<Parameter> parameters = leaves(type);
        GradientBuckets buckets(parameters, group, bytes);
        EXPECT_EQ(buckets.count(), bytes == 1 ? 4 : bytes == 32 ? 2 : 1);
        for (int step = 0; step < 2; ++step) {
          buckets.begin();
          objective(parameters, group.first() ? 1 : 10).backward();
          buckets.finish();
          expect_gradients(parameters, 11);
          for (const Parameter& parameter : parameters) {
            at::Tensor(parameter.tensor).mutable_grad().reset();
          }
        }
      });
    }
  }
}

/// Of several batches to a step the last one completes the gradients.
TEST(GradientBuckets, AccumulatedGradientsCountOnce) {
  together(2, [](ProcessGroup& group) {
    const std::vector<Parameter> parameters = leaves();
    GradientBuckets buckets(parameters, group, 32);
    objective(parameters, group.first() ? 1 : 10).backward();
    buckets.begin();
    objective(parameters, group.first() ? 100 : 1000).backward();
    buckets.finish();
    expect_gradients(parameters, 1111);
  });
}

TEST(GradientBuckets, AProcessWithoutPhotosTakesPart) {
  together(3, [](ProcessGroup& group) {
    const std::vector<Parameter> parameters = leaves();
    GradientBuckets buckets(parameters, group, 32);
    if (group.first()) {
      buckets.begin();
      objective(parameters, 4).backward();
    }
    buckets.finish();
    expect_gradients(parameters, 4);
  });
}

}  // namespace
}  // namespace vitascope::train

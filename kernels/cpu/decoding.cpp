#include "kernels/cpu/decoding.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace vitascope::kernels::cpu {
namespace {

const DecodingKernels& kernels_of(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx2:
      return avx2::decoding_kernels();
    case Isa::avx512:
    case Isa::avx512_bf16:
      return avx512::decoding_kernels();
#endif
    default:
      return baseline::decoding_kernels();
  }
}

/// Calls `work(begin, end)` for parts of `count` pieces of so much work each; less than `least` in
/// all is not worth waking a thread for.
template <typename Work>
void for_each_part(std::int64_t count, std::int64_t each, std::int64_t least, const Work& work) {
  at::parallel_for(0, count, std::max<std::int64_t>(1, least / std::max<std::int64_t>(1, each)),
                   work);
}

}  // namespace

void additive_scores(const AdditiveProblem& problem, Isa isa) {
  constexpr std::int64_t kLeastTerms = 1 << 14;
  for_each_part(problem.batch * problem.keys, problem.queries * problem.width, kLeastTerms,
                [&](std::int64_t begin, std::int64_t end) {
                  kernels_of(isa).additive_scores(problem, begin, end);
                });
}

void thin_product(const ThinProduct& product, Isa isa) {
  constexpr std::int64_t kLeastWeights = 1 << 16;
  for_each_part(product.outputs, product.inputs, kLeastWeights,
                [&](std::int64_t begin, std::int64_t end) {
                  kernels_of(isa).thin_product(product, begin, end);
                });
}

}  // namespace vitascope::kernels::cpu

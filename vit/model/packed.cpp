#include "vit/model/packed.h"

namespace vitascope::model {

void pack_products(VisionTransformer& network) {
  for (const auto& [name, product] : network.products()) {
    at::Tensor& weight = product->weight;
    if (weight.is_cpu() && !weight.is_mkldnn()) weight = kernels::pack(weight);
  }
}

}  // namespace vitascope::model

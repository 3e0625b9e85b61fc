#include "vit/weights/tensor_assembly.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "kernels/linear.h"
#include "vit/error.h"

namespace vitascope::weights {
namespace {

using How = Assignment::How;

/// Whether every element begins at a multiple of its size, as the processor's loads want it.
bool is_aligned(const StoredTensor& stored) {
  return reinterpret_cast<std::uintptr_t>(stored.bytes.data()) % element_size(stored.dtype) == 0;
}

void release_pages(const StoredTensor& stored) {
  if (stored.file != nullptr) stored.file->release(stored.bytes);
}

/// A source in the order and shape of our rows: [rows, ...].
at::Tensor in_our_order(const at::Tensor& source, const Assignment& assignment) {
  switch (assignment.how) {
    case How::as_is:
    case How::concatenate: {
      std::vector<std::int64_t> shape = assignment.shape;
      shape[0] /= static_cast<std::int64_t>(assignment.sources.size());
      return source.reshape(shape);
    }
    case How::transpose: {
      // [in..., out...], however the inputs or outputs are split into heads.
      const std::int64_t inputs = assignment.shape[1];
      return source.reshape({inputs, source.numel() / inputs}).t();
    }
    case How::hwio:
      return source.permute({3, 2, 0, 1});
  }
  throw InternalError("in_our_order: not a way");
}

at::Tensor assemble_one(const StoredTensors& tensors, const Assignment& assignment,
                        at::ScalarType precision) {
  if (assignment.sources.size() == 1) {
    const at::Tensor ours =
        in_our_order(view_of(tensors.tensors.at(assignment.sources[0])), assignment);
    if (ours.scalar_type() == precision && ours.is_contiguous()) return ours;
  }
  at::Tensor result = at::empty(assignment.shape, at::TensorOptions(precision));
  const std::int64_t rows =
      assignment.shape[0] / static_cast<std::int64_t>(assignment.sources.size());
  for (std::size_t i = 0; i < assignment.sources.size(); ++i) {
    const StoredTensor& stored = tensors.tensors.at(assignment.sources[i]);
    result.narrow(0, static_cast<std::int64_t>(i) * rows, rows)
        .copy_(in_our_order(view_of(stored), assignment));
    release_pages(stored);
  }
  return result;
}

/// Photos that a head has kept stay exact: bfloat16 is coarse beside what sets cosines apart.
at::ScalarType precision_of(const std::string& parameter, at::ScalarType asked) {
  return parameter == "head.features" ? at::kFloat : asked;
}

std::set<at::Tensor*> slots_to_pack(bool pack, model::VisionTransformer& network) {
  if (!pack) return {};
  std::set<at::Tensor*> slots;
  for (const auto& [name, product] : network.products()) slots.insert(&product->weight);
  return slots;
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return at::kDouble;
    case DType::f32:
      return at::kFloat;
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
    case DType::i64:
      return at::kLong;
    case DType::i32:
      return at::kInt;
    case DType::i16:
      return at::kShort;
    case DType::i8:
      return at::kChar;
    case DType::u8:
      return at::kByte;
    case DType::boolean:
      return at::kBool;
  }
  throw InternalError("scalar_type: not a dtype");
}

at::Tensor view_of(const StoredTensor& stored) {
  const at::TensorOptions options(scalar_type(stored.dtype));
  if (!is_aligned(stored)) {
    const auto elements =
        static_cast<std::int64_t>(stored.bytes.size() / element_size(stored.dtype));
    const at::Tensor copy = at::empty({elements}, options);
    std::memcpy(copy.data_ptr(), stored.bytes.data(),
                static_cast<std::size_t>(elements) * element_size(stored.dtype));
    return stored.strides.empty() ? copy.view(stored.shape)
                                  : copy.as_strided(stored.shape, stored.strides);
  }
  void* data = const_cast<std::byte*>(stored.bytes.data());
  // The lambda is what keeps the file mapped while the tensor lives.
  const auto keep = [owner = stored.owner](void*) {};
  return stored.strides.empty() ? at::from_blob(data, stored.shape, keep, options)
                                : at::from_blob(data, stored.shape, stored.strides, keep, options);
}

void assemble(const StoredTensors& tensors, const std::vector<Assignment>& assignments,
              at::ScalarType precision, bool pack, model::VisionTransformer& network) {
  std::map<std::string, const Assignment*> by_name;
  for (const Assignment& assignment : assignments) by_name[assignment.parameter] = &assignment;
  const std::set<at::Tensor*> packed = slots_to_pack(pack, network);
  for (auto& [name, slot] : network.parameters()) {
    const Assignment& assignment = *by_name.at(name);
    *slot = assemble_one(tensors, assignment, precision_of(name, precision));
    if (!packed.contains(slot)) continue;
    *slot = kernels::pack(*slot);
    if (!slot->is_mkldnn()) continue;
    for (const std::string& source : assignment.sources) release_pages(tensors.tensors.at(source));
  }
}

void assemble_random(at::ScalarType precision, bool pack, model::VisionTransformer& network) {
  constexpr std::int64_t kPool = 1 << 20;
  const at::Generator generator = at::detail::createCPUGenerator(/*seed=*/20210622);
  const at::Tensor pool = at::empty({kPool}, at::kFloat).normal_(0, 0.02, generator).to(precision);
  std::int64_t offset = 0;
  const auto shapes = model::parameter_shapes(network.config());
  auto parameters = network.parameters();
  const std::set<at::Tensor*> packed = slots_to_pack(pack, network);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& [name, slot] = parameters[i];
    *slot = at::empty(shapes[i].shape, at::TensorOptions(precision));
    const bool scales = name.find("norm") != std::string::npos && name.ends_with(".weight");
    if (scales) {
      slot->fill_(1);
      continue;
    }
    at::Tensor flat = slot->view({-1});
    for (std::int64_t done = 0; done < flat.numel();) {
      const std::int64_t count = std::min(kPool - offset, flat.numel() - done);
      flat.narrow(0, done, count).copy_(pool.narrow(0, offset, count));
      done += count;
      offset = (offset + count) % kPool;
    }
    if (packed.contains(slot)) *slot = kernels::pack(*slot);
  }
}

}  // namespace vitascope::weights

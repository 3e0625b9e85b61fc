#include "kernels/attention_arguments.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

namespace vitascope::kernels {
namespace {

/// The tensor with its last dimension side by side in memory.
at::Tensor with_rows(const at::Tensor& tensor) {
  return tensor.stride(-1) == 1 || tensor.size(-1) <= 1 ? tensor : tensor.contiguous();
}

GridWindow grid_of(const std::vector<std::int64_t>& grid) {
  if (grid.empty()) return {};
  TORCH_CHECK(grid.size() == 5,
              "attention: a grid is prefix, rows, columns, row radius, column radius");
  const auto number = [&](std::size_t i) { return static_cast<std::int32_t>(grid[i]); };
  return {number(0), number(1), number(2), number(3), number(4)};
}

void check_grid(const GridWindow& grid, std::int64_t queries, std::int64_t keys) {
  if (grid.rows == 0) return;
  const std::int64_t tokens = grid.prefix + std::int64_t(grid.rows) * grid.columns;
  TORCH_CHECK(grid.prefix >= 0 && grid.rows > 0 && grid.columns > 0 && grid.row_radius >= 0 &&
                  grid.column_radius >= 0 && tokens == queries && tokens == keys,
              "attention: a grid of ", grid.rows, " x ", grid.columns, " behind ", grid.prefix,
              " prefix tokens has ", tokens, " tokens, but there are ", queries, " queries and ",
              keys, " keys");
}

Strides strides_of(const at::Tensor& tensor) {
  return {tensor.stride(0), tensor.stride(1), tensor.stride(2)};
}

/// A mask or bias as a view of [B, H, Nq, Nk].
at::Tensor broadcast_to_scores(const at::Tensor& tensor, const at::Tensor& q, const at::Tensor& k,
                               const char* name) {
  const std::int64_t shape[] = {q.size(0), q.size(1), q.size(2), k.size(2)};
  bool fits = tensor.dim() == 4;
  for (int i = 0; fits && i < 4; ++i) fits = tensor.size(i) == 1 || tensor.size(i) == shape[i];
  TORCH_CHECK(fits, "attention: a ", name, " of shape ", tensor.sizes(),
              " does not fit scores of shape ", at::IntArrayRef(shape));
  TORCH_CHECK(tensor.device() == q.device(), "attention: the ", name, " is on another device");
  return tensor.expand(shape);
}

void push_options(torch::jit::Stack& stack, const OperatorOptions& options) {
  for (c10::IValue value :
       {c10::IValue(options.scale), c10::IValue(options.causal), c10::IValue(options.window),
        c10::IValue(options.grid), c10::IValue(options.key_lengths), c10::IValue(options.mask),
        c10::IValue(options.bias), c10::IValue(options.dropout), c10::IValue(options.seed)}) {
    stack.push_back(std::move(value));
  }
}

/// Who sees whom.
void set_visibility(AttentionProblem& problem, std::vector<at::Tensor>& kept, const at::Tensor& q,
                    const at::Tensor& k, const OperatorOptions& options) {
  Visibility& visible = problem.visible;
  visible.causal = options.causal;
  visible.window = options.window;
  visible.grid = grid_of(options.grid);
  check_grid(visible.grid, problem.queries, problem.keys);
  if (options.key_lengths) {
    const at::Tensor& lengths = kept.emplace_back(options.key_lengths->contiguous());
    TORCH_CHECK(lengths.scalar_type() == at::kLong && lengths.dim() == 1 &&
                    lengths.size(0) == problem.batch && lengths.device() == q.device(),
                "attention: key_lengths are one int64 a batch entry, got ", lengths.sizes(), " of ",
                lengths.scalar_type());
    visible.key_lengths = lengths.const_data_ptr<std::int64_t>();
  }
  if (options.mask) {
    TORCH_CHECK(options.mask->scalar_type() == at::kBool, "attention: a mask is of type bool, got ",
                options.mask->scalar_type());
    const at::Tensor& mask = kept.emplace_back(broadcast_to_scores(*options.mask, q, k, "mask"));
    visible.mask = mask.const_data_ptr<bool>();
    visible.mask_strides = strides_of(mask);
    visible.mask_key_stride = mask.stride(3);
  }
}

/// q, k and v, and all that the options say.
void set_operands(AttentionProblem& problem, std::vector<at::Tensor>& kept, const at::Tensor& q,
                  const at::Tensor& k, const at::Tensor& v, const OperatorOptions& options) {
  check_operands(q, k, v);
  const auto element = element_of(q.scalar_type());
  TORCH_CHECK(element, "attention: the kernels take float32, bfloat16 and float16, got ",
              q.scalar_type());
  problem.batch = q.size(0);
  problem.heads = q.size(1);
  problem.queries = q.size(2);
  problem.keys = k.size(2);
  problem.width = q.size(3);
  problem.scale = static_cast<float>(options.scale);
  problem.element = *element;
  const auto set = [&](const at::Tensor& tensor, const void*& data, Strides& strides) {
    const at::Tensor rows = kept.emplace_back(with_rows(tensor));
    data = rows.const_data_ptr();
    strides = strides_of(rows);
  };
  set(q, problem.q, problem.q_strides);
  set(k, problem.k, problem.k_strides);
  set(v, problem.v, problem.v_strides);

  set_visibility(problem, kept, q, k, options);
  if (options.bias) {
    const at::Tensor& bias =
        kept.emplace_back(broadcast_to_scores(options.bias->to(at::kFloat), q, k, "bias"));
    problem.bias = bias.const_data_ptr<float>();
    problem.bias_strides = strides_of(bias);
    problem.bias_key_stride = bias.stride(3);
  }
  problem.dropout = {static_cast<float>(options.dropout), static_cast<std::uint64_t>(options.seed)};
}

/// [B, N, H * D] of a call as heads that a kernel reads.
void set_heads(const at::Tensor& joined, std::int64_t heads, std::vector<at::Tensor>& kept,
               const void*& data, Strides& strides) {
  const at::Tensor& rows = kept.emplace_back(heads_of(joined, heads));
  data = rows.const_data_ptr();
  strides = strides_of(rows);
}

const float* lse_of(const at::Tensor& lse, std::vector<at::Tensor>& kept) {
  return kept.emplace_back(lse.contiguous()).const_data_ptr<float>();
}

at::Tensor empty_floats(at::IntArrayRef shape, const at::Tensor& like) {
  return at::empty(shape, like.options().dtype(at::kFloat));
}

/// A gradient of [B, H, N, D] that lies in memory as [B, N, H, D], as the projections want it.
at::Tensor empty_gradient(const at::Tensor& of) {
  return at::empty({of.size(0), of.size(2), of.size(1), of.size(3)}, of.options()).transpose(1, 2);
}

/// Sets which rows are wanted. They are checked on the CPU, which waits for a GPU's.
template <typename Problem>
void set_rows(Problem& problem, std::vector<at::Tensor>& kept, const c10::IValue& rows,
              at::Device device) {
  problem.row_count = problem.queries;
  if (rows.isNone()) return;
  const at::Tensor list = rows.toTensor().to(at::kCPU, at::kLong).contiguous();
  TORCH_CHECK(list.dim() == 1, "attention_map: rows are a list, got shape ", list.sizes());
  problem.row_count = list.size(0);
  for (std::int64_t i = 0; i < problem.row_count; ++i) {
    const std::int64_t row = list.const_data_ptr<std::int64_t>()[i];
    TORCH_CHECK(row >= 0 && row < problem.queries, "attention_map: row ", row, " of ",
                problem.queries);
  }
  problem.rows = kept.emplace_back(list.to(device)).const_data_ptr<std::int64_t>();
}

}  // namespace

Call::Call(const c10::OperatorHandle& handle, torch::jit::Stack& stack)
    : stack_(stack), first_(stack.size() - handle.schema().arguments().size()) {}

OperatorOptions Call::options(std::size_t first) const {
  const auto at = [&](std::size_t i) -> const c10::IValue& { return value(first + i); };
  return {at(0).toDouble(),
          at(1).toBool(),
          at(2).toInt(),
          at(3).toIntVector(),
          at(4).toOptional<at::Tensor>(),
          at(5).toOptional<at::Tensor>(),
          at(6).toOptional<at::Tensor>(),
          at(7).toDouble(),
          at(8).toInt()};
}

void Call::give(const std::vector<at::Tensor>& results) const {
  stack_.resize(first_);
  for (const at::Tensor& result : results) stack_.emplace_back(result);
}

std::vector<at::Tensor> call_operator(const char* name, const std::vector<at::Tensor>& tensors,
                                      const OperatorOptions& options,
                                      const std::vector<c10::IValue>& more) {
  torch::jit::Stack stack;
  stack.reserve(tensors.size() + kOptionsCount + more.size());
  for (const at::Tensor& tensor : tensors) stack.emplace_back(tensor);
  push_options(stack, options);
  stack.insert(stack.end(), more.begin(), more.end());
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
  std::vector<at::Tensor> results;
  results.reserve(stack.size());
  for (const c10::IValue& result : stack) results.push_back(result.toTensor());
  return results;
}

void check_operands(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  TORCH_CHECK(q.dim() == 4 && k.dim() == 4 && v.dim() == 4,
              "attention expects [B, H, N, D] for q, k and v, got ", q.sizes(), ", ", k.sizes(),
              ", ", v.sizes());
  TORCH_CHECK(k.sizes() == v.sizes() && q.size(0) == k.size(0) && q.size(1) == k.size(1) &&
                  q.size(3) == k.size(3) && q.size(3) > 0,
              "attention: q, k and v do not fit: ", q.sizes(), ", ", k.sizes(), ", ", v.sizes());
  TORCH_CHECK(q.scalar_type() == k.scalar_type() && q.scalar_type() == v.scalar_type() &&
                  q.device() == k.device() && q.device() == v.device(),
              "attention: q, k and v are of different types or on different devices");
}

std::optional<Element> element_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return Element::f32;
    case at::kBFloat16:
      return Element::bf16;
    case at::kHalf:
      return Element::f16;
    default:
      return std::nullopt;
  }
}

at::Tensor heads_of(const at::Tensor& tensor, std::int64_t heads) {
  return with_rows(tensor)
      .view({tensor.size(0), tensor.size(1), heads, tensor.size(2) / heads})
      .transpose(1, 2);
}

std::vector<at::Tensor> forward_results(const at::Tensor& q) {
  return {at::empty({q.size(0), q.size(2), q.size(1) * q.size(3)}, q.options()),
          empty_floats({q.size(0), q.size(1), q.size(2)}, q)};
}

std::vector<at::Tensor> backward_results(const at::Tensor& q, const at::Tensor& k) {
  return {empty_gradient(q), empty_gradient(k), empty_gradient(k)};
}

// attention(q, k, v, options...) -> (out, lse)
Prepared<ForwardProblem> prepare_forward(const Call& call) {
  Prepared<ForwardProblem> prepared;
  auto& [problem, results, kept] = prepared;
  const at::Tensor q = call.tensor(0);
  set_operands(problem, kept, q, call.tensor(1), call.tensor(2), call.options(3));
  results = forward_results(q);
  problem.out = results[0].mutable_data_ptr();
  problem.out_strides = strides_of(heads_of(results[0], problem.heads));
  problem.lse = results[1].mutable_data_ptr<float>();
  return prepared;
}

// attention_backward(dout, q, k, v, out, lse, options...) -> (dq, dk, dv)
Prepared<BackwardProblem> prepare_backward(const Call& call) {
  Prepared<BackwardProblem> prepared;
  auto& [problem, results, kept] = prepared;
  const at::Tensor q = call.tensor(1), k = call.tensor(2);
  set_operands(problem, kept, q, k, call.tensor(3), call.options(6));
  set_heads(call.tensor(0), problem.heads, kept, problem.dout, problem.dout_strides);
  set_heads(call.tensor(4), problem.heads, kept, problem.out, problem.out_strides);
  problem.lse = lse_of(call.tensor(5), kept);
  results = backward_results(q, k);
  const auto set = [](const at::Tensor& gradient, void*& data, Strides& strides) {
    data = gradient.mutable_data_ptr();
    strides = strides_of(gradient);
  };
  set(results[0], problem.dq, problem.dq_strides);
  set(results[1], problem.dk, problem.dk_strides);
  set(results[2], problem.dv, problem.dv_strides);
  return prepared;
}

// attention_map(q, k, lse, options..., rows, head_mean) -> map
Prepared<MapProblem> prepare_map(const Call& call) {
  Prepared<MapProblem> prepared;
  auto& [problem, results, kept] = prepared;
  const at::Tensor q = call.tensor(0), k = call.tensor(1);
  set_operands(problem, kept, q, k, k, call.options(3));
  problem.lse = lse_of(call.tensor(2), kept);
  set_rows(problem, kept, call.value(3 + kOptionsCount), q.device());
  problem.head_mean = call.value(4 + kOptionsCount).toBool();
  results = {empty_floats(
      {problem.batch, problem.head_mean ? 1 : problem.heads, problem.row_count, problem.keys}, q)};
  problem.map = results[0].mutable_data_ptr<float>();
  return prepared;
}

// attention_map_gradient(q, k, v, dout, options..., rows) -> gradient
Prepared<MapGradientProblem> prepare_map_gradient(const Call& call) {
  Prepared<MapGradientProblem> prepared;
  auto& [problem, results, kept] = prepared;
  const at::Tensor q = call.tensor(0);
  set_operands(problem, kept, q, call.tensor(1), call.tensor(2), call.options(4));
  set_heads(call.tensor(3), problem.heads, kept, problem.dout, problem.dout_strides);
  set_rows(problem, kept, call.value(4 + kOptionsCount), q.device());
  results = {empty_floats({problem.batch, problem.heads, problem.row_count, problem.keys}, q)};
  problem.gradient = results[0].mutable_data_ptr<float>();
  return prepared;
}

}  // namespace vitascope::kernels

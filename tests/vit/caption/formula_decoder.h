#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "vit/caption/decoder_weights.h"

/// \file
/// Decoders as the papers' formulas have them, in double, word by word and with weights that can be
/// changed before anything is read with them.
namespace vitascope::caption::tests {

/// Weights [..., L] become others.
using WeightChange = std::function<at::Tensor(const at::Tensor& weights)>;

/// A decoder's parameters, and one photo.
struct FormulaDecoder {
  FormulaDecoder(const Decoder& decoder, const at::Tensor& annotations, const at::Tensor& visible)
      : config(decoder.config()), photo(annotations.to(at::kDouble)), seen(visible) {
    for (const auto& [name, tensor] : tensors_of(decoder)) {
      parameters[name] = tensor.to(at::kDouble);
    }
  }

  /// Logits [T, V] of the words after `tokens`.
  at::Tensor logits(const std::vector<std::int64_t>& tokens, const WeightChange& change) const {
    return config.kind == DecoderKind::lstm ? lstm(tokens, change) : transformer(tokens, change);
  }

  const at::Tensor& operator[](const std::string& name) const { return parameters.at(name); }

  at::Tensor affine(const std::string& weight, const std::string& bias, const at::Tensor& x) const {
    return at::matmul(x, (*this)[weight].t()) + (*this)[bias];
  }
  at::Tensor affine(const std::string& name, const at::Tensor& x) const {
    return affine(name + ".weight", name + ".bias", x);
  }

  at::Tensor masked(const at::Tensor& scores) const {
    return seen.defined() ? scores.masked_fill(seen.logical_not(), -1e300) : scores;
  }

  /// [N, W] -> [H, N, D]
  static at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
    return x.view({x.size(0), heads, -1}).transpose(0, 1);
  }
  static at::Tensor joined(const at::Tensor& x) { return x.transpose(0, 1).flatten(1); }

  /// W_O concat_h change(softmax(q k^T / sqrt(D))) v
  at::Tensor multi_head(const std::string& prefix, const at::Tensor& queries,
                        const WeightChange& change) const {
    const auto projected = [&](const std::string& name, const at::Tensor& x) {
      return by_head(affine(prefix + "W_" + name, prefix + "b_" + name, x), config.alignment.heads);
    };
    const at::Tensor q = projected("Q", queries), k = projected("K", photo),
                     v = projected("V", photo);
    const double scale = std::sqrt(static_cast<double>(q.size(-1)));
    const at::Tensor weights = masked(at::matmul(q, k.transpose(1, 2)) / scale).softmax(-1);
    return affine(prefix + "W_O", prefix + "b_O", joined(at::matmul(change(weights), v)));
  }

  /// sum_i alpha_i a_i with alpha = change(softmax(v^T tanh(W_h h + W_f a + b))); of hard attention
  /// alpha is 1 at its largest.
  at::Tensor additive(const at::Tensor& h, const WeightChange& change) const {
    const at::Tensor inner = at::matmul(photo, (*this)["att.W_f"].t()) +
                             at::matmul((*this)["att.W_h"], h) + (*this)["att.b"];
    at::Tensor weights = masked(at::matmul(inner.tanh(), (*this)["att.v"])).softmax(-1);
    if (config.attention == Attention::hard) {
      weights = at::one_hot(weights.argmax(-1), weights.size(-1)).to(at::kDouble);
    }
    return at::matmul(change(weights), photo);
  }

  /// Xu et al. 2015, section 3.1.2, with the gate of 4.2.1.
  at::Tensor lstm(const std::vector<std::int64_t>& tokens, const WeightChange& change) const {
    const at::Tensor visible = seen.defined() ? photo.index({seen}) : photo;
    at::Tensor h = affine("init_h", visible.mean(0)).tanh();
    at::Tensor c = affine("init_c", visible.mean(0)).tanh();
    std::vector<at::Tensor> logits;
    for (const std::int64_t token : tokens) {
      const at::Tensor word = (*this)["embedding.weight"][token];
      at::Tensor z = config.alignment.score == Score::multi_head
                         ? multi_head("att.", h.unsqueeze(0), change)[0]
                         : additive(h, change);
      z = z * (at::dot((*this)["gate.w"], h) + (*this)["gate.b"]).sigmoid();
      const at::Tensor gates = affine("lstm.weight_ih", "lstm.bias_ih", at::cat({word, z})) +
                               affine("lstm.weight_hh", "lstm.bias_hh", h);
      const auto parts = gates.chunk(4);
      c = parts[1].sigmoid() * c + parts[0].sigmoid() * parts[2].tanh();
      h = parts[3].sigmoid() * c.tanh();
      const at::Tensor deep =
          word + at::matmul((*this)["out.L_h"], h) + at::matmul((*this)["out.L_z"], z);
      logits.push_back(affine("out.L_o", "out.b", deep));
    }
    return at::stack(logits);
  }

  at::Tensor norm(const std::string& name, const at::Tensor& x) const {
    return at::layer_norm(x, {x.size(-1)}, (*this)[name + ".weight"], (*this)[name + ".bias"],
                          1e-6);
  }

  at::Tensor self_attention(const std::string& prefix, const at::Tensor& x) const {
    const auto parts = affine(prefix + "self_attn.qkv", x).chunk(3, -1);
    const at::Tensor q = by_head(parts[0], config.alignment.heads);
    const at::Tensor k = by_head(parts[1], config.alignment.heads);
    const at::Tensor v = by_head(parts[2], config.alignment.heads);
    const at::Tensor later = at::ones({x.size(0), x.size(0)}, at::kBool).triu(1);
    const at::Tensor scores =
        at::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(-1)));
    const at::Tensor weights = scores.masked_fill(later, -1e300).softmax(-1);
    return affine(prefix + "self_attn.proj", joined(at::matmul(weights, v)));
  }

  /// Vaswani et al. 2017, norms first.
  at::Tensor transformer(const std::vector<std::int64_t>& tokens,
                         const WeightChange& change) const {
    std::vector<at::Tensor> words;
    const auto width = static_cast<double>(config.width);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const at::Tensor angle =
          static_cast<double>(t) *
          at::pow(10000, -2 * at::arange(config.width / 2, at::kDouble) / width);
      words.push_back((*this)["embedding.weight"][tokens[t]] * std::sqrt(width) +
                      at::stack({angle.sin(), angle.cos()}, 1).flatten());
    }
    at::Tensor x = at::stack(words);
    for (std::int64_t i = 0; i < config.layers; ++i) {
      const std::string prefix = "layers." + std::to_string(i) + ".";
      x = x + self_attention(prefix, norm(prefix + "norm1", x));
      x = x + multi_head(prefix + "cross_attn.", norm(prefix + "norm2", x), change);
      x = x +
          affine(prefix + "mlp.fc2", affine(prefix + "mlp.fc1", norm(prefix + "norm3", x)).relu());
    }
    return affine("out", norm("norm", x));
  }

  DecoderConfig config;
  at::Tensor photo;  ///< [L, D]
  at::Tensor seen;   ///< bool [L], or undefined
  std::map<std::string, at::Tensor> parameters{};
};

}  // namespace vitascope::caption::tests

#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "vit/caption/sentences.h"

/// \file
/// Decoders that look up what comes next.
namespace vitascope::caption::tests {

inline constexpr float kNever = -std::numeric_limits<float>::infinity();

/// Log-probabilities by step and previous token, [T, V, V], one table a photo. It remembers which
/// photo each row belongs to and the sentences that it was asked to continue.
class TableDecoder {
 public:
  explicit TableDecoder(std::vector<at::Tensor> tables) : tables_(std::move(tables)) {}

  using Sentences = std::vector<std::vector<std::int64_t>>;
  /// For each call the rows' tokens up to then, without the start.
  const std::vector<Sentences>& calls() const { return calls_; }

  at::Tensor operator()(at::IntArrayRef tokens, at::IntArrayRef parents) {
    const auto step = static_cast<std::int64_t>(calls_.size());
    std::vector<std::size_t> photos;
    Sentences sentences;
    std::vector<at::Tensor> rows;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto parent = static_cast<std::size_t>(parents.at(i));
      photos.push_back(step == 0 ? parent : photos_.at(parent));
      sentences.push_back(step == 0 ? std::vector<std::int64_t>{} : calls_.back().at(parent));
      if (step > 0) sentences.back().push_back(tokens.at(i));
      rows.push_back(tables_.at(photos.back())[step][tokens.at(i)]);
    }
    photos_ = photos;
    calls_.push_back(sentences);
    return at::stack(rows);
  }

  NextToken next() {
    return [this](at::IntArrayRef tokens, at::IntArrayRef parents) {
      return (*this)(tokens, parents);
    };
  }

 private:
  std::vector<at::Tensor> tables_;
  std::vector<std::size_t> photos_;
  std::vector<Sentences> calls_;
};

/// Log-probabilities of what may follow each token, the same at every step; what is not named
/// can't.
using Following = std::map<std::int64_t, std::map<std::int64_t, double>>;

/// A table with probabilities as they are given.
inline at::Tensor table_of(const Following& following, std::int64_t vocabulary,
                           std::int64_t steps = 30) {
  at::Tensor table = at::full({vocabulary, vocabulary}, kNever);
  for (const auto& [before, tokens] : following) {
    for (const auto& [token, probability] : tokens) {
      table[before][token] = static_cast<float>(std::log(probability));
    }
  }
  return table.expand({steps, vocabulary, vocabulary});
}

}  // namespace vitascope::caption::tests

#include "tests/simt/formula.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/simt/instructions.h"

namespace simt {
namespace {

/// Rows of numbers.
struct Matrix {
  std::int64_t rows, columns;
  std::vector<double> values = std::vector<double>(rows * columns);

  double* operator[](std::int64_t row) { return values.data() + row * columns; }
  const double* operator[](std::int64_t row) const { return values.data() + row * columns; }
};

struct Inputs {
  Matrix q, k, v, dout;
  Matrix keep;  ///< [Nq, Nk]: what dropout multiplies a probability by
  double scale;
};

struct Answers {
  Matrix p, out, dq, dk, dv;
  std::vector<double> lse;
};

/// a b^T.
Matrix times_transposed(const Matrix& a, const Matrix& b) {
  Matrix product{a.rows, b.rows};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < b.rows; ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < a.columns; ++d) sum += a[i][d] * b[j][d];
      product[i][j] = sum;
    }
  }
  return product;
}

/// a b.
Matrix times(const Matrix& a, const Matrix& b) {
  Matrix product{a.rows, b.columns};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      for (std::int64_t d = 0; d < b.columns; ++d) product[i][d] += a[i][j] * b[j][d];
    }
  }
  return product;
}

/// a^T b.
Matrix transposed_times(const Matrix& a, const Matrix& b) {
  Matrix product{a.columns, b.columns};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      for (std::int64_t d = 0; d < b.columns; ++d) product[j][d] += a[i][j] * b[i][d];
    }
  }
  return product;
}

template <class Change>
Matrix changed(Matrix matrix, const Change& change) {
  for (double& x : matrix.values) x = change(x);
  return matrix;
}

/// The formula; `f` rounds what a kernel has in float32, `r` what it has in the inputs' type.
template <class Single, class Half>
Answers attend(const Inputs& in, const Single& f, const Half& r) {
  const std::int64_t queries = in.q.rows, keys = in.k.rows;
  const Matrix s = changed(times_transposed(in.q, in.k), [&](double x) { return f(in.scale * x); });
  Answers result{{queries, keys}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {}};
  Matrix weights{queries, keys};
  std::vector<double> sums;
  for (std::int64_t i = 0; i < queries; ++i) {
    const double maximum = *std::max_element(s[i], s[i] + keys);
    double sum = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
      const double e = f(std::exp(f(s[i][j] - maximum)));
      weights[i][j] = in.keep[i][j] == 0 ? 0 : r(e);
      sum += e;
    }
    sums.push_back(f(sum));
    result.lse.push_back(f(maximum + std::log(sums[i])));
    for (std::int64_t j = 0; j < keys; ++j) {
      result.p[i][j] = f(std::exp(f(s[i][j] - result.lse[i])));
    }
  }
  const double factor = *std::max_element(in.keep.values.begin(), in.keep.values.end());
  result.out = times(weights, in.v);
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t d = 0; d < in.v.columns; ++d) {
      result.out[i][d] = r(f(result.out[i][d]) * factor / sums[i]);
    }
  }
  const Matrix dp = times_transposed(in.dout, in.v);
  Matrix dropped{queries, keys}, ds{queries, keys};
  for (std::int64_t i = 0; i < queries; ++i) {
    double delta = 0;
    for (std::int64_t d = 0; d < in.v.columns; ++d) delta += in.dout[i][d] * result.out[i][d];
    for (std::int64_t j = 0; j < keys; ++j) {
      dropped[i][j] = r(result.p[i][j] * in.keep[i][j]);
      ds[i][j] = r(f(result.p[i][j] * f(in.keep[i][j] * dp[i][j] - f(delta))));
    }
  }
  result.dv = changed(transposed_times(dropped, in.dout), r);
  result.dq = changed(times(ds, in.k), [&](double x) { return r(in.scale * x); });
  result.dk = changed(transposed_times(ds, in.q), [&](double x) { return r(in.scale * x); });
  return result;
}

/// Normal numbers in steps of 1/32 below 4, which bfloat16 and float16 hold exactly.
Matrix random_matrix(std::int64_t rows, std::int64_t columns, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  return changed(Matrix{rows, columns}, [&](double) {
    return std::clamp(std::round(normal(generator) * 32), -127.0, 127.0) / 32;
  });
}

double largest_error(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

nlohmann::json errors_of(const Answers& model, const Answers& exact) {
  const std::vector<double> first(model.p[0], model.p[0] + model.p.columns);
  const std::vector<double> exact_first(exact.p[0], exact.p[0] + exact.p.columns);
  return {{"out", largest_error(model.out.values, exact.out.values)},
          {"lse", largest_error(model.lse, exact.lse)},
          {"cls_probs", largest_error(first, exact_first)},
          {"dq", largest_error(model.dq.values, exact.dq.values)},
          {"dk", largest_error(model.dk.values, exact.dk.values)},
          {"dv", largest_error(model.dv.values, exact.dv.values)}};
}

Tensor tensor_of(const Matrix& matrix) {
  return {{1, 1, matrix.rows, matrix.columns}, {matrix.values.begin(), matrix.values.end()}};
}

Inputs make_inputs(const FormulaProblem& problem) {
  std::mt19937_64 generator(problem.seed);
  Inputs in{random_matrix(problem.queries, problem.width, generator),
            random_matrix(problem.keys, problem.width, generator),
            random_matrix(problem.keys, problem.width, generator),
            random_matrix(problem.queries, problem.width, generator),
            {problem.queries, problem.keys},
            static_cast<float>(1 / std::sqrt(static_cast<double>(problem.width)))};
  const vitascope::kernels::Dropout dropout{problem.dropout, problem.seed};
  for (std::int64_t i = 0; i < problem.queries; ++i) {
    for (std::int64_t j = 0; j < problem.keys; ++j) {
      in.keep[i][j] = dropout.keeps(0, i, j) ? 1 / (1 - double{problem.dropout}) : 0;
    }
  }
  return in;
}

GoldenCase case_of(const FormulaProblem& problem, const Inputs& in) {
  GoldenCase result;
  result.info = {{"B", 1},
                 {"H", 1},
                 {"Nq", problem.queries},
                 {"Nk", problem.keys},
                 {"D", problem.width},
                 {"scale", in.scale}};
  if (problem.dropout > 0) {
    result.info["dropout"] = {{"probability", problem.dropout}, {"seed", problem.seed}};
  }
  result.tensors = {{"q", tensor_of(in.q)},
                    {"k", tensor_of(in.k)},
                    {"v", tensor_of(in.v)},
                    {"dout", tensor_of(in.dout)}};
  return result;
}

}  // namespace

GoldenCase formula_inputs(const FormulaProblem& problem) {
  return case_of(problem, make_inputs(problem));
}

GoldenCase formula_case(const FormulaProblem& problem) {
  const Inputs in = make_inputs(problem);
  GoldenCase result = case_of(problem, in);
  const auto exactly = [](double x) { return x; };
  const auto single = [](double x) { return double{static_cast<float>(x)}; };
  const auto half = [](auto from, auto to) {
    return [=](double x) { return double{from(to(static_cast<float>(x)))}; };
  };
  const Answers exact = attend(in, exactly, exactly);
  auto& table = result.info["kernel_model_max_abs_error"];
  table["bfloat16"] = errors_of(attend(in, single, half(from_bf16, to_bf16)), exact);
  table["float16"] = errors_of(attend(in, single, half(from_f16, to_f16)), exact);
  result.tensors["out"] = tensor_of(exact.out);
  result.tensors["dq"] = tensor_of(exact.dq);
  result.tensors["dk"] = tensor_of(exact.dk);
  result.tensors["dv"] = tensor_of(exact.dv);
  result.tensors["lse"] = {{1, 1, problem.queries}, {exact.lse.begin(), exact.lse.end()}};
  result.tensors["cls_probs"] = {{1, 1, problem.keys}, {exact.p[0], exact.p[0] + problem.keys}};
  return result;
}

}  // namespace simt

#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

/// \file
/// The limits of tests/golden/attention (its README has the rule), for the kernels of every device.
namespace vitascope::tests {

/// The error that a table of a case's entry in cases.json names; 0 where the table is not there or
/// lacks it.
inline double attention_error(const nlohmann::json& info, const char* table,
                              const std::string& precision, const std::string& tensor) {
  const auto pointer = nlohmann::json::json_pointer("") / table / precision / tensor;
  return info.contains(pointer) && info[pointer].is_number() ? info[pointer].get<double>() : 0;
}

/// The largest error that a kernel may have.
/// \param info      the case's entry in cases.json
/// \param tensor    "out", "lse", "dq", ..., "cls_probs", "probs_headmean"
/// \param precision "float32", "bfloat16" or "float16"
/// \param largest     the largest finite number of the right answer, without its sign
/// \param largest_lse the same of the case's lse
inline double attention_limit(const nlohmann::json& info, const std::string& tensor,
                              const std::string& precision, double largest, double largest_lse) {
  const bool gradient = tensor.front() == 'd', map = tensor.find("probs") != std::string::npos;
  const bool huge = info.contains("huge");
  if (huge && tensor == "lse") return 0.008;
  // The tables are of query 0. Of the others it is known that lse is off by half a step of float32,
  // which moves a probability by as much of itself: 0.4 % at 1e5.
  if (huge && tensor == "probs_headmean") {
    return std::ldexp(1.0, std::ilogb(largest_lse) - 24) + 1e-5;
  }
  // The tables have one entry for all kinds of map.
  const std::string entry = map ? "cls_probs" : tensor;
  const double model = attention_error(info, "kernel_model_max_abs_error", precision, entry);
  const double factor = gradient ? 3 : 2;
  if (huge && (gradient || map)) return factor * model + 1e-5;
  if (precision == "float32") {
    if (!gradient) return 1e-5 * largest;
    return (info.contains("gain") ? 5e-5 : 2e-5) * largest + 1e-6;
  }
  const double reference =
      huge ? 0 : attention_error(info, "fa_reference_max_abs_error", precision, entry);
  return factor * std::max(model, reference) + 1e-5;
}

}  // namespace vitascope::tests

#pragma once

#include "vit/random_numbers.h"

/// \file
/// How a decoder goes through captions that it is told.
namespace vitascope::caption {

/// Options of a pass with known captions.
struct TeachOptions {
  /// Scheduled sampling (Bengio et al. 2015, arXiv:1506.03099): probability with which a word is
  /// replaced by one that the decoder draws itself.
  double own_words = 0;
  double dropout = 0;
  /// Hard attention: probability with which a caption takes the expectation instead of samples
  /// (Xu et al. 2015, section 4.1).
  double half_expected = 0.5;
  bool weights = true;              ///< a transformer's cross attention weights are wanted
  RandomNumbers* random = nullptr;  ///< needed where anything is drawn; hard attention without it
                                    ///< takes the likeliest place
};

}  // namespace vitascope::caption

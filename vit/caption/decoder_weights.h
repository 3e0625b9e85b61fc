#pragma once

#include <map>
#include <string>

#include "vit/caption/decoder.h"
#include "vit/random_numbers.h"

/// \file
/// A decoder's weights: at the beginning, and from a file.
namespace vitascope::caption {

/// Numbers of the normal distribution: deviation sqrt(2 / (inputs + outputs)) for products (Glorot
/// and Bengio 2010), sqrt(1 / width) for words and single vectors. Norms are 1 and biases 0, that
/// of an LSTM's forget gate 1 (Jozefowicz et al. 2015).
/// \throws UsageError as completed(config) does
Decoder initial_decoder(const DecoderConfig& config, RandomNumbers& random);

/// A decoder whose parameters are these tensors, by name; they are shared.
/// \param path the file they come from, for messages
/// \throws InputError naming a tensor that is missing, of another shape, or not known; UsageError
///         as completed(config) does
Decoder decoder_of(const DecoderConfig& config, const std::map<std::string, at::Tensor>& tensors,
                   const std::string& path);

/// The parameters by name, e.g. for weights::write_tensors; shared.
std::map<std::string, at::Tensor> tensors_of(Decoder decoder);

}  // namespace vitascope::caption

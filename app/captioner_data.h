#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/captioner_options.h"
#include "datasets/captioned_images.h"
#include "datasets/training_loader.h"
#include "vit/caption/captioner.h"
#include "vit/metrics/caption_tokens.h"

/// \file
/// Captioned photos as `train-captioner` wants them: seen through an encoder once, then in batches.
namespace vitascope::app {

/// What an encoder sees of photos.
struct PhotoFeatures {
  at::Tensor values{};  ///< float32 [N, L, D], of a file when they are kept
  std::int64_t rows = 0, columns = 0;
  std::vector<std::size_t> photos{};   ///< [P] ascending indices into the set
  std::vector<std::int64_t> places{};  ///< [P] where their features are among the values
  bool interrupted = false;            ///< the rest was not looked at
};

/// Encodes every photo once; photos that can't be decoded are named on stderr and left out. With
/// CaptionerOptions::cache disk what was seen is kept in the run's folder.
PhotoFeatures photo_features(const caption::Encoder& encoder,
                             const caption::EncoderReference& reference,
                             const datasets::CaptionedImages& images,
                             const CaptionerOptions& options);

/// The words of the captions that are for training.
caption::Vocabulary vocabulary_of(const datasets::CaptionedImages& images, int min_count);

/// A number for the photos, their captions and their splits.
std::string data_fingerprint(const datasets::CaptionedImages& images);

/// Captions in batches, and what a decoder is worth on those held out. For self-critical training
/// batches are of photos, whose targets are their numbers among PhotoFeatures::photos.
class CaptionerData {
 public:
  /// \throws UsageError when nothing is left to learn from or to validate with
  CaptionerData(const datasets::CaptionedImages& images, PhotoFeatures features,
                const caption::Vocabulary& vocabulary, const CaptionerOptions& options);

  /// The next batch; nothing at the end of an epoch.
  std::optional<train::Batch> next();
  /// Batches of an epoch.
  std::int64_t batches() const;
  /// Captions to learn from, or photos where it is self-critical, and photos to validate with.
  std::int64_t samples() const { return std::ssize(samples_); }
  std::int64_t held_out() const { return std::ssize(held_out_); }

  /// `loss` of a caption, `accuracy` of its words when those before are told; of the decoder's own
  /// captions `bleu4`, `rouge_l` and, of enough photos, `cider_d`; `attention`, the entropy of its
  /// weights as a share of what looking everywhere alike has.
  train::Metrics validate(const caption::Decoder& decoder) const;

  datasets::LoaderState state() const;
  /// \throws UsageError when it is none
  void restore(const datasets::LoaderState& state);

 private:
  /// A caption to learn.
  struct Told {
    std::int64_t photo = 0;            ///< number among the photos that have features
    std::vector<std::int64_t> tokens;  ///< from <start> to <end>; self-critical: that number
    std::size_t image = 0;             ///< index into the set
  };
  /// A photo to validate with.
  struct HeldOut {
    std::int64_t photo = 0;
    std::vector<metrics::Sentence> references{};
    std::vector<Told> captions{};
  };

  train::Batch batch_of(const std::vector<const Told*>& captions) const;
  caption::Annotations annotations(const std::vector<std::int64_t>& photos) const;
  void tell(const caption::Decoder& decoder, train::Metrics& figures) const;
  void write(const caption::Decoder& decoder, train::Metrics& figures) const;

  const datasets::CaptionedImages& images_;
  PhotoFeatures features_;
  const caption::Vocabulary& vocabulary_;
  const CaptionerOptions& options_;
  std::vector<Told> samples_;
  std::vector<HeldOut> held_out_;
  mutable metrics::WordNumbers words_;
  std::uint64_t epoch_ = 0;
  std::size_t position_ = 0;          ///< in the epoch
  std::vector<std::size_t> order_{};  ///< of the epoch; empty: not asked for yet
};

}  // namespace vitascope::app

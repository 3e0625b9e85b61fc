#pragma once

#include <memory>
#include <string>
#include <vector>

/// \file
/// The whole of classification for other programs: five lines of C++, no LibTorch header needed.
///
///     auto classifier = vitascope::Classifier::open("build/models/everyday");
///     for (const auto& p : classifier.classify("cat.png", 5))
///       std::cout << p.label << ' ' << p.probability << '\n';
namespace vitascope {

/// One line of an answer.
struct Prediction {
  int index = 0;  ///< class number, as the head orders them
  std::string label;
  double probability = 0.0;  ///< softmax, or sigmoid for multi-label models
};

/// A model with its image pipeline. Not thread-safe; LibTorch uses its own threads inside.
class Classifier {
 public:
  /// \param model a directory, a weight file or org/name, as `vitascope classify --model` takes it
  /// \throws InputError when it can't be opened or has no head
  static Classifier open(const std::string& model);

  /// The `top` likeliest classes of a photo, likeliest first.
  /// \throws InputError when the photo can't be decoded
  std::vector<Prediction> classify(const std::string& photo, int top = 5) const;

  const std::vector<std::string>& labels() const;

  ~Classifier();
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;

 private:
  struct Parts;
  explicit Classifier(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vitascope

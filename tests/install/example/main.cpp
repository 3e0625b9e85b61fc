// Classifies a photo: example MODEL PHOTO
#include <iostream>

#include "vit/classifier.h"

int main(int, char** argv) {
  const auto classifier = vitascope::Classifier::open(argv[1]);
  for (const auto& p : classifier.classify(argv[2], 3)) {
    std::cout << p.index << ' ' << p.label << ' ' << p.probability << '\n';
  }
}

#include "datasets/split.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "vit/error.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// `counts[c]` photos of class c below `root`.
LabelledImages photos(const std::vector<int>& counts, const std::string& root = "/data") {
  LabelledImages images;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    images.classes.push_back(fmt::format("class {}", c));
    for (int i = 0; i < counts[c]; ++i) {
      Sample sample;
      sample.path = fmt::format("{}/class {}/{}.jpg", root, c, i);
      sample.labels = {static_cast<int>(c)};
      images.samples.push_back(sample);
    }
  }
  return images;
}

std::set<std::string> validation_names(const LabelledImages& images) {
  std::set<std::string> names;
  for (const Sample& sample : images.samples)
    if (sample.split == Split::validation)
      names.insert(sample.path.substr(sample.path.find("class")));
  return names;
}

TEST(SplitValidation, EveryClassGivesItsShare) {
  LabelledImages images = photos({100, 40, 7, 2, 1});
  split_validation(images, 0.1, 1);
  const auto counts = count_classes(images);
  EXPECT_EQ(counts[0], (SplitCounts{0, 90, 10, 0}));
  EXPECT_EQ(counts[1], (SplitCounts{0, 36, 4, 0}));
  EXPECT_EQ(counts[2], (SplitCounts{0, 6, 1, 0}));
  EXPECT_EQ(counts[3], (SplitCounts{0, 1, 1, 0}));
  EXPECT_EQ(counts[4], (SplitCounts{0, 1, 0, 0}));
}

TEST(SplitValidation, NeverAllOfAClass) {
  LabelledImages images = photos({3});
  split_validation(images, 0.99, 1);
  EXPECT_EQ(count_splits(images), (SplitCounts{0, 1, 2, 0}));
}

TEST(SplitValidation, DependsOnTheSeedAndNotOnWhereTheDataLies) {
  LabelledImages here = photos({50, 50}), there = photos({50, 50}, "/mnt/x"),
                 other = photos({50, 50});
  split_validation(here, 0.2, 7);
  split_validation(there, 0.2, 7);
  split_validation(other, 0.2, 8);
  EXPECT_EQ(validation_names(here), validation_names(there));
  EXPECT_NE(validation_names(here), validation_names(other));
}

TEST(SplitValidation, NewPhotosLeaveTheChoiceOfOthersNearlyAsItWas) {
  LabelledImages before = photos({100}), after = photos({110});
  split_validation(before, 0.2, 7);
  split_validation(after, 0.2, 7);
  const auto old_names = validation_names(before), new_names = validation_names(after);
  std::size_t kept = 0;
  for (const std::string& name : old_names) kept += new_names.count(name);
  EXPECT_GE(kept, old_names.size() - 4);
}

TEST(SplitValidation, TestStaysTest) {
  LabelledImages images = photos({10});
  for (int i = 0; i < 5; ++i) images.samples[i].split = Split::test;
  split_validation(images, 0.4, 1);
  EXPECT_EQ(count_splits(images), (SplitCounts{0, 3, 2, 5}));
}

TEST(SplitValidation, TheRarestOfSeveralLabelsIsInBothParts) {
  LabelledImages images;
  images.classes = {"everywhere", "rare"};
  images.multi_label = true;
  for (int i = 0; i < 100; ++i) {
    Sample sample;
    sample.path = fmt::format("d/{}.jpg", i);
    sample.labels = i < 4 ? std::vector<int>{0, 1} : std::vector<int>{0};
    images.samples.push_back(sample);
  }
  split_validation(images, 0.25, 3);
  EXPECT_EQ(count_classes(images)[1], (SplitCounts{0, 3, 1, 0}));
  EXPECT_EQ(count_classes(images)[0], (SplitCounts{0, 75, 25, 0}));
}

TEST(SplitValidation, WhatCannotWorkIsRefused) {
  LabelledImages images = photos({1, 1});
  EXPECT_THROW(split_validation(images, 0.5, 1), UsageError);
  images = photos({10});
  for (const double fraction : {0.0, 1.0, -1.0, double(NAN)})
    EXPECT_THROW(split_validation(images, fraction, 1), UsageError) << fraction;
}

TEST(UnevenClasses, AreNamedBothWays) {
  LabelledImages images = photos({2, 2, 2});
  EXPECT_THAT(uneven_classes(images), IsEmpty()) << "nothing is split yet";
  for (std::size_t i = 0; i < 6; ++i) images.samples[i].split = Split::train;
  images.samples[1].split = Split::validation;
  images.samples[4].split = images.samples[5].split = Split::validation;
  EXPECT_THAT(uneven_classes(images),
              ElementsAre(HasSubstr("'class 1' has 2 pictures in train and none in validation"),
                          HasSubstr("'class 2' has 2 pictures in validation and none in train")));
}

}  // namespace
}  // namespace vitascope::datasets

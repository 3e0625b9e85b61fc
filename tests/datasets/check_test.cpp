#include "datasets/check.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/cli/run_program.h"
#include "tests/golden.h"

namespace vitascope::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::golden;

LabelledImages of_files(const std::vector<std::string>& paths) {
  LabelledImages images;
  for (const std::string& path : paths) {
    images.samples.emplace_back();
    images.samples.back().path = path;
  }
  return images;
}

CheckReport check_all(const LabelledImages& images, int threads) {
  CheckOptions options;
  options.threads = threads;
  return check(images, options, [](std::size_t) { return true; });
}

std::vector<std::size_t> samples(const std::vector<Finding>& findings) {
  std::vector<std::size_t> result;
  for (const Finding& finding : findings) result.push_back(finding.sample);
  return result;
}

class CheckThreads : public testing::TestWithParam<int> {};

TEST_P(CheckThreads, EveryFaultIsFound) {
  const tests::TemporaryFolder folder;
  const std::string misnamed = folder / "photo.jpg";
  std::filesystem::copy(golden("images/rgb.png"), misnamed);
  const CheckReport report =
      check_all(of_files({golden("images/rgb.png"), golden("images/bad/truncated.jpg"),
                          golden("images/odd_7x300.jpg"), misnamed, golden("images/none.jpg"),
                          golden("images/UPPER CASE.JPG")}),
                GetParam());
  EXPECT_EQ(report.checked, 6u);
  EXPECT_FALSE(report.interrupted);
  EXPECT_THAT(samples(report.broken), ElementsAre(1, 4));
  EXPECT_THAT(report.broken[0].message, HasSubstr("JPEG"));
  EXPECT_THAT(report.broken[0].message, testing::Not(HasSubstr("truncated.jpg")));
  EXPECT_THAT(samples(report.tiny), ElementsAre(2));
  EXPECT_EQ(report.tiny[0].message, "7 x 300 pixels");
  EXPECT_THAT(samples(report.misnamed), ElementsAre(3));
  EXPECT_EQ(report.misnamed[0].message, "is PNG inside, named .jpg");
  EXPECT_THAT(report.duplicates, ElementsAre(ElementsAre(0, 3)));
}

INSTANTIATE_TEST_SUITE_P(Counts, CheckThreads, testing::Values(1, 3, 16));

TEST(Check, ForgivenDamageIsToldApart) {
  CheckOptions options;
  options.decode.allow_truncated = true;
  const CheckReport report = check(of_files({golden("images/bad/truncated.jpg")}), options,
                                   [](std::size_t) { return true; });
  EXPECT_THAT(report.broken, IsEmpty());
  EXPECT_THAT(samples(report.damaged), ElementsAre(0));
}

TEST(Check, StopsWhenAsked) {
  const LabelledImages images = of_files(std::vector<std::string>(20000, golden("images/rgb.png")));
  const CheckReport report = check(images, CheckOptions{}, [](std::size_t) { return false; });
  EXPECT_TRUE(report.interrupted);
  EXPECT_LT(report.checked, 20000u);
}

TEST(Check, NoPicturesAndStoredOnes) {
  EXPECT_EQ(check_all({}, 2).checked, 0u);
  LabelledImages images = of_files({"b#0", "b#1"});
  images.stored = std::make_shared<StoredPictures>(StoredPictures{{1, 1}, 1, {5, 5}});
  images.samples[0].stored = 0;
  images.samples[1].stored = 1;
  const CheckReport report = check_all(images, 2);
  EXPECT_THAT(report.tiny, IsEmpty()) << "benchmarks are small on purpose";
  EXPECT_THAT(report.duplicates, ElementsAre(ElementsAre(0, 1)));
}

TEST(ExtensionFault, InAnyCaseAndOnlyWhereBothAreKnown) {
  const std::string png = "\x89PNG\r\n\x1a\n";
  const auto fault = [&](const char* name) {
    return extension_fault(std::as_bytes(std::span(png)), name);
  };
  EXPECT_EQ(fault("a.PNG"), "");
  EXPECT_EQ(fault("a.JPEG"), "is PNG inside, named .JPEG");
  EXPECT_EQ(fault("a.dat"), "");
  EXPECT_EQ(extension_fault({}, "a.jpg"), "");
}

}  // namespace
}  // namespace vitascope::datasets

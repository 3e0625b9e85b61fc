#include "vit/explain/audit.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "tests/vit/explain/golden_vit.h"
#include "tests/vit/model/tiny_model.h"
#include "vit/explain/answers.h"
#include "vit/explain/audit_figures.h"

namespace vitascope::explain {
namespace {

using tests::GoldenVit;

/// The golden model's photo as it stands, seen whole.
AuditedPhoto photo_of(const GoldenVit& vit) {
  const at::Tensor pixels = vit["image"];
  image::Specification specification;
  const image::Size size{static_cast<int>(pixels.size(3)), static_cast<int>(pixels.size(2))};
  specification.size = size;
  return {
      pixels, image::View(image::geometry(specification, size), size, size, 1), {}, vit.classes()};
}

AuditedMap audited(const GoldenVit& vit, const char* name, std::int64_t of_class) {
  const Method& method = find_method(name);
  MapOptions options;
  options.rise_masks = 30;
  return {&method, options, map_of(method, vit.network, vit["image"], of_class, options)};
}

AuditOptions quick() {
  AuditOptions options;
  options.steps = 4;
  options.permutations = 10;
  options.adversary = {.steps = 30, .starts = 1};
  return options;
}

TEST(Auditor, MeasuresEveryPart) {
  const GoldenVit vit("vit_4x4_reg4");
  const std::int64_t first = vit.classes()[0];
  const std::int64_t second = vit.classes()[1];
  std::vector<std::string> reported;
  const Auditor auditor(vit.network, probabilities_of(vit.network), {}, quick(),
                        kernels::Backend::automatic, 8,
                        [&](const std::string& what, std::int64_t done, std::int64_t all) {
                          EXPECT_LE(done, all);
                          reported.push_back(what);
                        });
  AuditedPhoto photo = photo_of(vit);
  photo.object = at::zeros({photo.pixels.size(2), photo.pixels.size(3)}, at::kBool);
  photo.object.slice(1, 0, 8).fill_(true);
  const PhotoAudit found =
      auditor.audit(photo, {audited(vit, "raw", first), audited(vit, "relevance", second),
                            audited(vit, "occlusion", first)});

  ASSERT_EQ(found.maps.size(), 3u);
  for (const MapAudit& map : found.maps) {
    ASSERT_TRUE(map.faithfulness.has_value());
    EXPECT_GE(map.faithfulness->deletion_most_first.patches.size(), 5u);
    EXPECT_TRUE(map.pointing.has_value());
  }
  EXPECT_EQ(found.maps[0].of_class, first);     // raw attention is put on the predicted class
  EXPECT_EQ(found.maps[1].of_class, second);    // its own
  EXPECT_EQ(found.maps[0].cascade.size(), 5u);  // head, three blocks, embedding
  EXPECT_EQ(found.maps[1].cascade.size(), 5u);
  EXPECT_TRUE(found.maps[2].cascade.empty());  // many passes each
  EXPECT_FALSE(found.maps[0].other_class.has_value());
  EXPECT_TRUE(found.maps[1].other_class.has_value());

  EXPECT_EQ(found.controls.size(), 2u);
  for (const auto& [of_class, controls] : found.controls) EXPECT_EQ(controls.size(), 3u);
  ASSERT_TRUE(found.weights.has_value());
  EXPECT_EQ(found.weights->permutations.distances.size(), 10u);
  EXPECT_LE(found.weights->adversary.distance, 0.05);
  EXPECT_TRUE(found.weights->tau_gradient.has_value());
  EXPECT_TRUE(found.weights->tau_leave_one_out.has_value());
  EXPECT_THAT(reported,
              testing::IsSupersetOf({"raw on trial", "random on trial",
                                     "relevance of shuffled weights", "each patch left out"}));
}

/// What hiding each patch costs is the best that a map of single patches can know of deletion.
TEST(Auditor, AMapOfWhatIsLostBeatsItsOppositeAndRandom) {
  const GoldenVit vit("vit_4x4");
  AuditOptions options = quick();
  options.parts = {.faithfulness = true, .weights = false, .model = false};
  options.steps = 0;
  options.random_maps = 8;
  const Auditor auditor(vit.network, probabilities_of(vit.network), {}, options,
                        kernels::Backend::automatic, 16);
  AuditedMap good = audited(vit, "occlusion", vit.classes()[0]);
  AuditedMap bad = good;
  bad.map.values = -good.map.values;
  const PhotoAudit found = auditor.audit(photo_of(vit), {good, bad});
  const auto& controls = found.controls.begin()->second;
  const Figures of_good = figures_of(found.maps[0], controls);
  const Figures of_bad = figures_of(found.maps[1], controls);
  EXPECT_GT(of_good.at("deletion_over_random").value, 0);
  EXPECT_GT(of_good.at("deletion_over_random").interval->low, 0);
  EXPECT_LT(of_bad.at("deletion_over_random").value, 0);
  // The opposite order gives the opposite gain.
  EXPECT_NEAR(of_good.at("symmetric_gain").value, -of_bad.at("symmetric_gain").value, 1e-6);
  EXPECT_FALSE(found.weights.has_value());
}

TEST(Auditor, OfABackboneMeasuresWhatNeedsNoClass) {
  model::Config config = model::tests::tiny_config();
  config.classes = 0;
  const model::VisionTransformer network = model::tests::random_weights(config);
  const Auditor auditor(network, {}, {}, quick(), kernels::Backend::automatic, 8);
  AuditedPhoto photo;
  photo.pixels = at::randn({1, 3, 8, 12});
  const Method& rollout = find_method("rollout");
  const PhotoAudit found =
      auditor.audit(photo, {{&rollout, {}, map_of(rollout, network, photo.pixels, 0, {})}});
  EXPECT_FALSE(found.maps[0].faithfulness.has_value());
  EXPECT_EQ(found.maps[0].cascade.size(), 3u);
  EXPECT_FALSE(found.weights.has_value());
}

TEST(Auditor, IsTheSameAgain) {
  const GoldenVit vit("vit_3x5");
  const Auditor auditor(vit.network, probabilities_of(vit.network), {}, quick(),
                        kernels::Backend::automatic, 8);
  const auto run = [&] {
    return figures_of(auditor.audit(photo_of(vit), {audited(vit, "raw", 0)}).weights.value());
  };
  const Figures one = run(), other = run();
  ASSERT_EQ(one.size(), weight_figure_kinds().size());
  for (const auto& [key, figure] : one) EXPECT_EQ(figure.value, other.at(key).value) << key;
}

TEST(Auditor, EndsWhereProgressThrows) {
  const GoldenVit vit("vit_4x4");
  struct Enough {};
  const Auditor auditor(vit.network, probabilities_of(vit.network), {}, quick(),
                        kernels::Backend::automatic, 8,
                        [](const std::string&, std::int64_t, std::int64_t) { throw Enough(); });
  EXPECT_THROW(auditor.audit(photo_of(vit), {audited(vit, "raw", 0)}), Enough);
}

Faithfulness areas(double deletion, double insertion) {
  Faithfulness faithful;
  faithful.deletion = deletion;
  faithful.insertion = insertion;
  return faithful;
}

TEST(AuditFigures, CompareAMapWithTheRandomOnes) {
  MapAudit map, low, high;
  map.faithfulness = areas(.2, .7);
  low.faithfulness = areas(.5, .5);
  high.faithfulness = areas(.7, .3);
  map.other_class = .4;
  map.cascade = {{"head", .9}, {"embedding", .1}};
  map.pointing = Pointing{true, std::nullopt, .3};
  const Figures figures = figures_of(map, {low, high});
  EXPECT_DOUBLE_EQ(figures.at("deletion_over_random").value, .4);
  EXPECT_DOUBLE_EQ(figures.at("insertion_over_random").value, .3);
  EXPECT_GE(figures.at("deletion_over_random").interval->low, .3 - 1e-12);
  EXPECT_LE(figures.at("deletion_over_random").interval->high, .5 + 1e-12);
  EXPECT_DOUBLE_EQ(figures.at("untrained").value, .1);
  EXPECT_DOUBLE_EQ(figures.at("pointing").value, 1);
  EXPECT_FALSE(figures.contains("energy"));
  EXPECT_DOUBLE_EQ(figures_of(std::vector{low, high}).at("deletion").value, .6);
  EXPECT_FALSE(figures_of(map, {}).contains("deletion_over_random"));
}

TEST(AuditFigures, MeansCountThePhotosThatHaveTheNumber) {
  const std::vector<Figures> photos{{{"deletion", {.1}}, {"energy", {.5}}},
                                    {{"deletion", {.3}}},
                                    {{"deletion", {.2}}, {"uniform_distance", {.9}}}};
  const Figures means = mean_figures(photos);
  EXPECT_DOUBLE_EQ(means.at("deletion").value, .2);
  EXPECT_EQ(means.at("deletion").photos, 3);
  EXPECT_GE(means.at("deletion").interval->low, .1 - 1e-12);
  EXPECT_LT(means.at("deletion").interval->low, means.at("deletion").interval->high);
  EXPECT_EQ(means.at("energy").photos, 1);
  EXPECT_FALSE(means.at("energy").interval.has_value());
  EXPECT_DOUBLE_EQ(means.at("uniform_distance").value, .9);
}

TEST(AuditFigures, HaveKeysOfTheirOwn) {
  std::set<std::string_view> keys;
  for (const auto* kinds : {&map_figure_kinds(), &weight_figure_kinds()}) {
    for (const FigureKind& kind : *kinds) EXPECT_TRUE(keys.insert(kind.key).second) << kind.key;
  }
}

}  // namespace
}  // namespace vitascope::explain

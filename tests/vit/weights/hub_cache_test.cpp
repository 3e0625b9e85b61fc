#include "vit/weights/hub_cache.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/vit/weights/made_tensors.h"
#include "tests/vit/weights/model_folder.h"

namespace vitascope::weights {
namespace {

namespace fs = std::filesystem;

/// Nothing of the person's own environment decides.
class HubCache : public testing::Test {
 protected:
  HubCache() {
    for (const char* name :
         {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "TORCH_HOME", "XDG_CACHE_HOME"}) {
      unsetenv(name);
    }
    setenv("HOME", folder.path().c_str(), 1);
  }
  ModelFolder folder{"hub"};
};

TEST(ParseRepository, TakesOrgNameAndRevision) {
  const auto plain = parse_repository("google/vit-base-patch16-224");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->id, "google/vit-base-patch16-224");
  EXPECT_EQ(plain->revision, "main");
  const auto revised = parse_repository("timm/vit_base_patch16_224.augreg_in21k@refs/pr/3");
  ASSERT_TRUE(revised);
  EXPECT_EQ(revised->id, "timm/vit_base_patch16_224.augreg_in21k");
  EXPECT_EQ(revised->revision, "refs/pr/3");
}

TEST(ParseRepository, LeavesPathsAlone) {
  for (const char* text : {"model", "./model", "../model", "/models/vit", "a/b/c", "a/", "/a",
                           "a/..", "a/b@", "a/b@../c", "a b/c", "a/b@x//y", ""}) {
    EXPECT_FALSE(parse_repository(text)) << text;
  }
}

TEST_F(HubCache, LiesWhereTheEnvironmentSays) {
  EXPECT_EQ(hugging_face_cache(), folder / ".cache/huggingface/hub");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(hugging_face_cache(), "/xdg/huggingface/hub");
  setenv("HF_HOME", "/home/hf", 1);
  EXPECT_EQ(hugging_face_cache(), "/home/hf/hub");
  setenv("HF_HUB_CACHE", "/cache", 1);
  EXPECT_EQ(hugging_face_cache(), "/cache");
}

TEST_F(HubCache, FollowsTheBranchToItsSnapshot) {
  const std::string base = ".cache/huggingface/hub/models--org--name/";
  folder.write(base + "refs/main", "0123abc\n");
  fs::create_directories(folder / (base + "snapshots/0123abc"));
  fs::create_directories(folder / (base + "snapshots/fedcba9"));
  EXPECT_EQ(cached_snapshot({"org/name", "main"}), folder / (base + "snapshots/0123abc"));
  EXPECT_EQ(cached_snapshot({"org/name", "fedcba9"}), folder / (base + "snapshots/fedcba9"));
  EXPECT_FALSE(cached_snapshot({"org/name", "other"}));
  EXPECT_FALSE(cached_snapshot({"org/absent", "main"}));
}

TEST_F(HubCache, ABranchThatPointsOutsideIsRefused) {
  folder.write(".cache/huggingface/hub/models--org--name/refs/main", "../../../elsewhere");
  EXPECT_THAT(input_error([] {
                cached_snapshot({"org/name", "main"});
              }),
              testing::HasSubstr("holds no commit"));
}

TEST_F(HubCache, FindsFilesOfTorch) {
  folder.write(".cache/torch/hub/checkpoints/deit.pth", "x");
  EXPECT_EQ(cached_checkpoint("deit.pth"), folder / ".cache/torch/hub/checkpoints/deit.pth");
  EXPECT_FALSE(cached_checkpoint("other.pth"));
  EXPECT_FALSE(cached_checkpoint("../checkpoints/deit.pth"));
  setenv("TORCH_HOME", (folder / "elsewhere").c_str(), 1);
  EXPECT_FALSE(cached_checkpoint("deit.pth"));
}

TEST(DownloadCommand, NamesTheRevisionWhereItIsNotTheUsual) {
  EXPECT_EQ(download_command({"org/name", "main"}), "hf download org/name");
  EXPECT_EQ(download_command({"org/name", "v2"}), "hf download org/name --revision v2");
}

}  // namespace
}  // namespace vitascope::weights
